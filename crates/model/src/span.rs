//! Positions of values in the text of an object.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::RawJson;

/// A part of a text, as positions of bytes. The empty part stands for an absent member, because a
/// JSON value is never empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the part from `start` to `end`; `None` for a text above 4 GiB.
    #[inline]
    pub(crate) fn new(start: usize, end: usize) -> Option<Self> {
        Some(Self {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(end).ok()?,
        })
    }

    /// Returns the position of `part`, which is borrowed from `text`.
    pub(crate) fn of(part: &str, text: &str) -> Option<Self> {
        let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Self::new(start, start + part.len())
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.end == self.start
    }

    /// Returns the same part of a text that begins at `start`.
    #[inline]
    pub(crate) fn since(self, start: usize) -> Self {
        let start = start as u32;
        Self {
            start: self.start.wrapping_sub(start),
            end: self.end.wrapping_sub(start),
        }
    }

    /// Returns the value at this position of `text`; `None` if the member is absent.
    #[inline]
    pub(crate) fn value_in(self, text: &str) -> Option<RawJson<'_>> {
        if self.is_empty() {
            return None;
        }
        text.get(self.start as usize..self.end as usize)
            .map(RawJson::checked)
    }
}

/// Calls `each` with every member; returns false if the text is not an object.
pub(crate) fn read_object(text: &str, each: &mut dyn FnMut(&str, &RawValue)) -> bool {
    let mut decoder = serde_json::Deserializer::from_str(text);
    decoder.deserialize_map(Members(each)).is_ok()
}

struct Members<'e>(&'e mut dyn FnMut(&str, &RawValue));

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            (self.0)(&name, members.next_value::<&'de RawValue>()?);
        }
        Ok(())
    }
}
