//! The ring as it is stored: a lasting key, and keys that follow each other.

use std::sync::Arc;
use std::time::Duration;

use pintle_store::StoreTime;

use crate::error::{KeysError, OpenError, SealError};
use crate::root_key::{KEY_BYTES, RootKey};
use crate::secret::{Secret, Usage};
use crate::text::{numbered, open, seal};

/// The form of a record in clear.
const CLEAR: u8 = 1;
/// The form of a record that is wrapped with a root key.
const WRAPPED: u8 = 2;
/// The data that a wrapped ring is bound to.
const BOUND: &[u8] = b"system/keys";
/// Largest number of keys of a ring. A key beyond it is an error, or drops the oldest one.
pub(crate) const MAX_KEYS: usize = 64;
/// Bytes of the time in front of a key.
const TIME_BYTES: usize = 8;

/// A ring of keys, oldest first, and never without a key.
#[derive(Clone)]
pub(crate) struct Ring {
    /// The key of values in stores. It is never rotated.
    pub(crate) lasting: RootKey,
    pub(crate) keys: Vec<RingKey>,
}

/// A key and the moment when a replica added it.
#[derive(Clone)]
pub(crate) struct RingKey {
    pub(crate) created: StoreTime,
    pub(crate) key: RootKey,
}

/// The root keys that wrap a ring.
pub(crate) struct Wrap {
    pub(crate) seals: Arc<Secret>,
    pub(crate) opens: Vec<Arc<Secret>>,
}

impl Ring {
    /// A ring of one key, which seals at once.
    pub(crate) fn random(now: StoreTime) -> Result<Self, SealError> {
        Ok(Self {
            lasting: RootKey::random()?,
            keys: vec![RingKey::random(now)?],
        })
    }

    /// Returns true if the newest key has been in use for the rotation interval.
    pub(crate) fn is_due(&self, now: StoreTime, interval: Duration) -> bool {
        let newest = self.keys.last();
        newest.is_none_or(|newest| newest.created + interval <= now)
    }

    /// Adds a key. Drops a key if its next one was created more than `unused` ago, because all its texts
    /// have expired. Drops the oldest keys beyond `max_keys`.
    pub(crate) fn rotate(
        &mut self,
        now: StoreTime,
        unused: Duration,
        max_keys: usize,
    ) -> Result<(), SealError> {
        let is_over = |next: &RingKey| next.created + unused <= now;
        let over = self.keys.iter().skip(1).take_while(|next| is_over(next));
        self.keys.drain(..over.count());
        self.keys.push(RingKey::random(now)?);
        let excess = self.keys.len().saturating_sub(max_keys.max(1));
        self.keys.drain(..excess);
        Ok(())
    }

    /// Returns true if both rings have a key in common, so one was made from the other.
    pub(crate) fn is_related(&self, other: &Self) -> bool {
        other.keys.iter().any(|key| self.has(key))
    }

    fn has(&self, key: &RingKey) -> bool {
        let bytes = key.key.bytes();
        self.keys.iter().any(|known| known.key.bytes() == bytes)
    }

    /// Adds the keys of another ring of the same server, which a store has lost. Drops the oldest keys beyond `max_keys`.
    /// The lasting key is that of the older ring, because more values depend on it. Returns true if something changed.
    pub(crate) fn merge(&mut self, other: &Self, max_keys: usize) -> bool {
        let age = |ring: &Self| ring.keys.first().map(|oldest| oldest.created);
        let takes_lasting = age(other) < age(self) && other.lasting.bytes() != self.lasting.bytes();
        if takes_lasting {
            self.lasting = other.lasting.clone();
        }
        let missing: Vec<_> = other.keys.iter().filter(|key| !self.has(key)).collect();
        let mut merged: Vec<_> = self.keys.iter().chain(missing).cloned().collect();
        merged.sort_by_key(|key| key.created);
        let excess = merged.len().saturating_sub(max_keys.max(1));
        merged.drain(..excess);
        let takes_keys = !merged.iter().all(|key| self.has(key));
        self.keys = merged;
        takes_lasting || takes_keys
    }

    /// Writes the ring, wrapped if there is a root key.
    pub(crate) fn encode(&self, wrap: Option<&Wrap>) -> Result<Vec<u8>, SealError> {
        let mut content = self.lasting.bytes().to_vec();
        for RingKey { created, key } in &self.keys {
            content.extend_from_slice(&created.as_millis().to_be_bytes());
            content.extend_from_slice(key.bytes());
        }
        let (form, body) = match wrap {
            None => (CLEAR, content),
            Some(wrap) => (WRAPPED, seal(&wrap.seals, Usage::Ring, BOUND, &content)?),
        };
        Ok([&[form], body.as_slice()].concat())
    }

    /// Reads a ring.
    pub(crate) fn decode(record: &[u8], wrap: Option<&Wrap>) -> Result<Self, KeysError> {
        match (record.split_first(), wrap) {
            (Some((&CLEAR, content)), None) => Self::from_content(content),
            (Some((&CLEAR, _)), Some(_)) => Err(KeysError::NotWrapped),
            (Some((&WRAPPED, _)), None) => Err(KeysError::Wrapped),
            (Some((&WRAPPED, sealed)), Some(wrap)) => Self::from_content(&unwrap(sealed, wrap)?),
            _ => Err(KeysError::InvalidRing),
        }
    }

    fn from_content(content: &[u8]) -> Result<Self, KeysError> {
        let (lasting, rest) = content.split_first_chunk().ok_or(KeysError::InvalidRing)?;
        let (entries, remainder) = rest.as_chunks::<{ TIME_BYTES + KEY_BYTES }>();
        if entries.is_empty() || !remainder.is_empty() {
            return Err(KeysError::InvalidRing);
        }
        Ok(Self {
            lasting: RootKey::new(*lasting),
            keys: entries.iter().map(RingKey::from_bytes).collect(),
        })
    }
}

impl RingKey {
    fn random(created: StoreTime) -> Result<Self, SealError> {
        let key = RootKey::random()?;
        Ok(Self { created, key })
    }

    fn from_bytes(bytes: &[u8; TIME_BYTES + KEY_BYTES]) -> Self {
        let (mut created, mut key) = ([0; TIME_BYTES], [0; KEY_BYTES]);
        created.copy_from_slice(&bytes[..TIME_BYTES]);
        key.copy_from_slice(&bytes[TIME_BYTES..]);
        Self {
            created: StoreTime::from_millis(u64::from_be_bytes(created)),
            key: RootKey::new(key),
        }
    }
}

fn unwrap(sealed: &[u8], wrap: &Wrap) -> Result<Vec<u8>, KeysError> {
    open(&wrap.opens, Usage::Ring, BOUND, sealed).map_err(|error| match error {
        OpenError::UnknownKey => KeysError::OtherRootKey,
        OpenError::NotSealed | OpenError::Changed => KeysError::InvalidRing,
    })
}

/// Returns true if the record is wrapped with a root key that is not the first one any more.
pub(crate) fn is_wrapped_with_older(record: &[u8], wrap: Option<&Wrap>) -> bool {
    let (Some(wrap), Some((_, sealed))) = (wrap, record.split_first()) else {
        return false;
    };
    numbered(sealed).is_some_and(|(number, _)| number != wrap.seals.number)
}
