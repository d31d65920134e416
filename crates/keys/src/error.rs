//! Errors of rings, and of sealed texts.

use std::error::Error;
use std::fmt;

use pintle_store::StoreError;

/// The system has no randomness, so nothing can be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealError;

impl fmt::Display for SealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the system has no randomness to give")
    }
}

impl Error for SealError {}

/// Reason why a text does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is too short, or has another form.
    NotSealed,
    /// No key of this process has the number in the text.
    UnknownKey,
    /// The text was changed, or was sealed for another purpose or with other associated data.
    Changed,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotSealed => "the text is not sealed",
            Self::UnknownKey => "the text is sealed with an unknown key",
            Self::Changed => "the text was changed, or belongs elsewhere",
        })
    }
}

impl Error for OpenError {}

/// Reason why there is no ring of keys. It never contains a key.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeysError {
    /// The environment variable is not set, or is not Unicode.
    NotSet {
        /// The name of the variable.
        name: String,
    },
    /// A key in the environment variable is not 32 bytes in base64.
    InvalidKey {
        /// The name of the variable.
        name: String,
        /// The position of the key, beginning at 1.
        position: usize,
    },
    /// The environment variable has more keys than a ring may have.
    TooManyKeys {
        /// The name of the variable.
        name: String,
        /// Largest number of keys.
        limit: usize,
    },
    /// The system has no randomness for a key.
    NoRandomness(SealError),
    /// The ring in the store is damaged, or a newer version wrote it.
    InvalidRing,
    /// The ring in the store is wrapped, and this process has no root key.
    Wrapped,
    /// The ring in the store is not wrapped, and this process has a root key.
    NotWrapped,
    /// The ring in the store is wrapped with a root key that this process does not have.
    OtherRootKey,
    /// The store failed.
    Store(StoreError),
    /// The store did not answer in time.
    TimedOut,
}

impl fmt::Display for KeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet { name } => write!(f, "the environment variable {name} is not set"),
            Self::InvalidKey { name, position } => write!(
                f,
                "invalid key {position} in the environment variable {name}: \
                 it is not 32 bytes in base64; `openssl rand -base64 32` prints one"
            ),
            Self::TooManyKeys { name, limit } => write!(
                f,
                "the environment variable {name} has too many keys; the limit is {limit}"
            ),
            Self::NoRandomness(error) => error.fmt(f),
            Self::InvalidRing => f.write_str(
                "invalid ring of keys in the store: the record system/keys is damaged or newer",
            ),
            Self::Wrapped => f.write_str(
                "the ring of keys in the store is wrapped, and this process has no root key",
            ),
            Self::NotWrapped => f.write_str(
                "the ring of keys in the store is not wrapped, and this process has a root key; \
                 use an empty store, or no root key",
            ),
            Self::OtherRootKey => {
                f.write_str("the ring of keys in the store is wrapped with another root key")
            }
            Self::TimedOut => {
                f.write_str("the store did not read or write the ring of keys in time")
            }
            Self::Store(_) => f.write_str("the store did not read or write the ring of keys"),
        }
    }
}

impl Error for KeysError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SealError> for KeysError {
    fn from(error: SealError) -> Self {
        Self::NoRandomness(error)
    }
}

impl From<StoreError> for KeysError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
