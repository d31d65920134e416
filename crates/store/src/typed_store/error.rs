//! Errors of typed values.

use std::error::Error;
use std::fmt;

use crate::error::StoreError;
use crate::key::{Key, KeyError};

/// Error of a value's own format.
pub type DecodeError = Box<dyn Error + Send + Sync>;

/// Reason why an operation of a [`TypedStore`](crate::TypedStore) failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum TypedStoreError {
    /// The name is not valid.
    Name(KeyError),
    /// The value cannot be encoded.
    Encode(DecodeError),
    /// The record exists, but this program cannot read it.
    Unreadable(RecordError),
    /// The store failed, or another writer was first.
    Store(StoreError),
}

impl fmt::Display for TypedStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(_) => f.write_str("the value has an invalid name"),
            Self::Encode(_) => f.write_str("the value cannot be encoded"),
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
    /// Key of the unreadable record.
    pub key: Key,
    /// Key after the move; `None` if the record could not be moved, or has changed since.
    pub aside: Option<Key>,
    /// Reason why the record is unreadable.
    pub reason: RecordErrorKind,
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid record in {}: ", self.key.namespace())?;
        match &self.reason {
            RecordErrorKind::Damaged => f.write_str("the record is damaged"),
            RecordErrorKind::Future { schema, known } => {
                write!(
                    f,
                    "its schema {schema} is newer than {known}, the newest supported one"
                )
            }
            RecordErrorKind::Undecodable(_) => f.write_str("the value has an invalid format"),
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
