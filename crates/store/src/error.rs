//! Why an operation of a store did not happen: somebody else was first, or the store could not.

use std::error::Error;
use std::fmt;

use crate::version::Version;

/// Why an operation gave no result.
// Closed: a third case would be one that no caller knows what to do with.
#[derive(Debug)]
pub enum StoreError {
    /// The record was not as the caller expected. Nothing happened.
    Conflict {
        /// The version that is there; `None` when there is no record.
        found: Option<Version>,
    },
    /// The store could not. Whether the operation happened is unknown, except for a
    /// [`LimitError`], where nothing happened.
    Backend(BackendError),
}

impl StoreError {
    /// An error of the store behind the trait.
    pub fn backend(retry: Retry, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = source.into();
        Self::Backend(BackendError { retry, source })
    }

    /// Whether somebody else was first.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }

    /// Whether the same operation may succeed later, without a change to it.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Backend(error) if error.retry == Retry::Later)
    }

    /// The bound that was reached, if that is the reason.
    pub fn limit(&self) -> Option<&LimitError> {
        match self {
            Self::Conflict { .. } => None,
            Self::Backend(error) => error.source.downcast_ref(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { found: None } => f.write_str("the record is not there"),
            Self::Conflict { found: Some(_) } => {
                f.write_str("the record is there in another version")
            }
            Self::Backend(_) => f.write_str("the store could not carry out the operation"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Conflict { .. } => None,
            Self::Backend(error) => Some(error),
        }
    }
}

impl From<LimitError> for StoreError {
    fn from(limit: LimitError) -> Self {
        let retry = match limit.bound {
            LimitKind::ValueBytes => Retry::Never,
            LimitKind::Entries | LimitKind::Bytes | LimitKind::Watchers => Retry::Later,
        };
        Self::backend(retry, limit)
    }
}

/// What went wrong in the store.
#[derive(Debug)]
pub struct BackendError {
    retry: Retry,
    source: Box<dyn Error + Send + Sync>,
}

impl BackendError {
    /// Whether it is worth another try.
    pub fn retry(&self) -> Retry {
        self.retry
    }
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Error for BackendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

/// Whether another try may help.
// Closed: it does, or it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Later, and after a pause: the store is full, busy or away.
    Later,
    /// Not before something else is done about it.
    Never,
}

/// A bound of [`StoreLimits`](crate::StoreLimits) that a write would have crossed. Nothing
/// happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitError {
    /// Which one.
    pub bound: LimitKind,
    /// How much it allows.
    pub limit: usize,
}

impl LimitError {
    /// The bound and what it allows, for those who write a store.
    pub fn new(bound: LimitKind, most: usize) -> Self {
        Self { bound, limit: most }
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.limit;
        match self.bound {
            LimitKind::Entries => write!(f, "the store holds {most} entries already"),
            LimitKind::Bytes => write!(f, "the store has room for {most} bytes only"),
            LimitKind::ValueBytes => write!(f, "a value has {most} bytes at most"),
            LimitKind::Watchers => write!(f, "{most} wait for changes already"),
        }
    }
}

impl Error for LimitError {}

/// A bound that refuses. The others shorten what is read, or drop the oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// [`StoreLimits::max_entries`](crate::StoreLimits::max_entries).
    Entries,
    /// [`StoreLimits::max_bytes`](crate::StoreLimits::max_bytes).
    Bytes,
    /// [`StoreLimits::max_value_bytes`](crate::StoreLimits::max_value_bytes).
    ValueBytes,
    /// [`StoreLimits::max_watchers`](crate::StoreLimits::max_watchers).
    Watchers,
}
