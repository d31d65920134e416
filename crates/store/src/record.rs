//! One record, and what may be asked of it before it is written.

use std::fmt;

use bytes::Bytes;

use crate::error::StoreError;
use crate::store_time::StoreTime;
use crate::version::Version;

/// A value with its version and its expiry.
///
/// Its `Debug` does not show the value.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Record {
    /// Value of the last put.
    pub value: Bytes,
    /// Which put it was.
    pub version: Version,
    /// Until when it is there.
    pub expiry: Expiry,
}

impl Record {
    /// A record, for those who write a store.
    pub fn new(value: Bytes, version: Version, expiry: Expiry) -> Self {
        Self {
            value,
            version,
            expiry,
        }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("bytes", &self.value.len())
            .field("version", &self.version)
            .field("expiry", &self.expiry)
            .finish()
    }
}

/// Condition for writing or removing a record.
// Closed: every store handles every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing in particular.
    Any,
    /// There is no record.
    Absent,
    /// The record is there, in this version.
    Version(Version),
}

impl Precondition {
    /// Checks version `found`, or `None` for an absent record.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the condition does not hold.
    pub fn check(self, found: Option<Version>) -> Result<(), StoreError> {
        let holds = match self {
            Self::Any => true,
            Self::Absent => found.is_none(),
            Self::Version(version) => found == Some(version),
        };
        if holds {
            Ok(())
        } else {
            Err(StoreError::Conflict { found })
        }
    }
}

/// Until when something is there.
// Closed: every store handles every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// The entry stays until it is removed.
    Never,
    /// The entry is absent from this moment on.
    At(StoreTime),
}

impl Expiry {
    /// Returns true if the entry is absent at `now`.
    pub fn is_over(self, now: StoreTime) -> bool {
        matches!(self, Self::At(moment) if moment <= now)
    }

    /// The moment it is gone, if there is one.
    pub fn moment(self) -> Option<StoreTime> {
        match self {
            Self::Never => None,
            Self::At(moment) => Some(moment),
        }
    }
}
