//! The bytes of a rendered result.

use std::borrow::Cow;

use bytes::Bytes;

use pintle_model::write::{WriteError, write_around};

use super::ResultBody;

/// Room that is kept in front of a result for its envelope, in bytes; a longer envelope becomes a
/// part of its own.
pub(crate) const HEADROOM: usize = 320;

/// The bytes of a result.
#[derive(Debug, Clone)]
pub(crate) enum Json {
    /// For one response: the envelope goes into the [`HEADROOM`] in front.
    Own(Vec<u8>),
    /// For many responses: never copied.
    Shared(Bytes),
    /// For one response, with a base64 that is never copied.
    Around(Box<Around>),
}

/// The bytes of a result with a large base64.
#[derive(Debug, Clone)]
pub(crate) struct Around {
    /// The bytes before the base64, with [`HEADROOM`] in front.
    pub(crate) before: Vec<u8>,
    /// The base64 with its quotes.
    pub(crate) base64: Bytes,
    /// The bytes after the base64.
    pub(crate) after: Vec<u8>,
}

impl Json {
    /// Writes a result, which has its own metadata apart.
    pub(super) fn of<R: ResultBody>(result: &mut R) -> Result<Self, WriteError> {
        let mut before = Vec::with_capacity(HEADROOM + 192);
        before.resize(HEADROOM, 0);
        let around = write_around(&mut before, result, R::large_base64, R::write)?;
        Ok(match around {
            None => Self::Own(before),
            Some((base64, after)) => Self::Around(Box::new(Around {
                before,
                base64,
                after,
            })),
        })
    }

    /// The bytes in one piece that is cheap to clone.
    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            Self::Own(mut json) => json.split_off(HEADROOM).into(),
            Self::Shared(json) => json,
            Self::Around(around) => around.joined(&around.base64).into(),
        }
    }

    /// The bytes in one piece.
    pub(super) fn get(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Own(json) => without_headroom(json).into(),
            Self::Shared(json) => (&**json).into(),
            Self::Around(around) => around.joined(&around.base64).into(),
        }
    }

    /// The bytes with an empty text instead of the large base64.
    pub(super) fn outline(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Around(around) => around.joined(b"\"\"").into(),
            _ => self.get(),
        }
    }

    /// Returns true if the object has no members.
    pub(crate) fn is_bare(&self) -> bool {
        match self {
            Self::Own(json) => without_headroom(json).len() <= 2,
            Self::Shared(json) => json.len() <= 2,
            Self::Around(_) => false,
        }
    }
}

impl Around {
    fn joined(&self, base64: &[u8]) -> Vec<u8> {
        [without_headroom(&self.before), base64, &self.after].concat()
    }
}

fn without_headroom(json: &[u8]) -> &[u8] {
    json.get(HEADROOM..).unwrap_or_default()
}
