//! Why a typed value could not be read or written.

use std::error::Error;
use std::fmt;

use crate::error::StoreError;
use crate::key::{Key, KeyError};

/// What a value's own format says against it.
pub type DecodeError = Box<dyn Error + Send + Sync>;

/// Why an operation of a [`TypedStore`](crate::TypedStore) gave no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum TypedStoreError {
    /// The name is none.
    Name(KeyError),
    /// The value cannot be written down.
    Encode(DecodeError),
    /// The record is there, but nobody here can read it.
    Unreadable(RecordError),
    /// The store could not, or somebody else was first.
    Store(StoreError),
}

impl fmt::Display for TypedStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(_) => f.write_str("the value has no proper name"),
            Self::Encode(_) => f.write_str("the value cannot be written down"),
            Self::Unreadable(unreadable) => unreadable.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl Error for TypedStoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Name(error) => Some(error),
            Self::Encode(error) => Some(&**error),
            Self::Unreadable(unreadable) => unreadable.source(),
            Self::Store(error) => error.source(),
        }
    }
}

impl From<StoreError> for TypedStoreError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<RecordError> for TypedStoreError {
    fn from(unreadable: RecordError) -> Self {
        Self::Unreadable(unreadable)
    }
}

/// A record that cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordError {
    /// Where it was.
    pub key: Key,
    /// Where it is now; `None` when it could not be moved, or has changed meanwhile.
    pub aside: Option<Key>,
    /// Why.
    pub reason: RecordErrorKind,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a record of {} cannot be read: ", self.key.namespace())?;
        match &self.reason {
            RecordErrorKind::Damaged => f.write_str("it is damaged"),
            RecordErrorKind::Future { schema, known } => {
                write!(
                    f,
                    "it has schema {schema}, and {known} is the newest known here"
                )
            }
            RecordErrorKind::Undecodable(_) => f.write_str("it is not what it should be"),
        }
    }
}

impl Error for RecordError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            RecordErrorKind::Damaged | RecordErrorKind::Future { .. } => None,
            RecordErrorKind::Undecodable(error) => Some(&**error),
        }
    }
}

/// Why a record cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum RecordErrorKind {
    /// Its checksum is wrong.
    Damaged,
    /// A newer program wrote it.
    Future {
        /// The schema it has.
        schema: u16,
        /// The newest schema known here.
        known: u16,
    },
    /// Its checksum is right, and its type rejects it.
    Undecodable(DecodeError),
}
