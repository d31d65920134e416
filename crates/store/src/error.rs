//! Errors of a store: a conflict with another writer, or a failed operation.

use std::error::Error;
use std::fmt;

use crate::position::Position;
use crate::version::Version;

/// Why an operation gave no result.
// Closed: a caller must know what each case means for its operation.
#[derive(Debug)]
pub enum StoreError {
    /// The record was not as the caller expected. Nothing happened.
    Conflict {
        /// The version that is there; `None` when there is no record.
        found: Option<Version>,
    },
    /// The log does not end where the caller expected. Nothing happened.
    Moved {
        /// The position of its last event; [`Position::START`] when there is no log.
        tail: Position,
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

    /// Returns true if another writer was first.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. } | Self::Moved { .. })
    }

    /// Whether the same operation may succeed later, without a change to it.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Backend(error) if error.retry == Retry::Later)
    }

    /// The bound that was reached, if that is the reason.
    pub fn limit(&self) -> Option<&LimitError> {
        match self {
            Self::Conflict { .. } | Self::Moved { .. } => None,
            Self::Backend(error) => error.source.downcast_ref(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict { found: None } => f.write_str("the record does not exist"),
            Self::Conflict { found: Some(_) } => f.write_str("the record has another version"),
            Self::Moved { .. } => f.write_str("the log has another last event"),
            Self::Backend(_) => f.write_str("the store could not carry out the operation"),
        }
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Conflict { .. } | Self::Moved { .. } => None,
            Self::Backend(error) => Some(error),
        }
    }
}

impl From<LimitError> for StoreError {
    fn from(limit: LimitError) -> Self {
        let retry = match limit.bound {
            LimitKind::ValueBytes | LimitKind::BatchEvents | LimitKind::Counter => Retry::Never,
            LimitKind::Entries | LimitKind::Bytes | LimitKind::Watchers => Retry::Later,
        };
        Self::backend(retry, limit)
    }
}

/// Failure of the storage behind a [`Store`](crate::Store).
#[derive(Debug)]
pub struct BackendError {
    retry: Retry,
    source: Box<dyn Error + Send + Sync>,
}

impl BackendError {
    /// Returns whether a retry may succeed.
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

/// A limit of [`StoreLimits`](crate::StoreLimits) that a write would have crossed. Nothing
/// happened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitError {
    /// Bound that was reached.
    pub bound: LimitKind,
    /// Value of the bound.
    pub limit: usize,
}

impl LimitError {
    /// Creates the error from a bound and its value, for implementations of a store.
    pub fn new(bound: LimitKind, most: usize) -> Self {
        Self { bound, limit: most }
    }
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = self.limit;
        match self.bound {
            LimitKind::Entries => write!(f, "the store is full; the limit is {most} entries"),
            LimitKind::Bytes => write!(f, "the store is full; the limit is {most} bytes"),
            LimitKind::ValueBytes => write!(f, "the value is too large; the limit is {most} bytes"),
            LimitKind::BatchEvents => {
                write!(f, "the batch has too many events; the limit is {most}")
            }
            LimitKind::Counter => write!(f, "the sum is too large for a counter of {most} bits"),
            LimitKind::Watchers => {
                write!(f, "the store has too many watchers; the limit is {most}")
            }
        }
    }
}

impl Error for LimitError {}

/// A bound that causes an error. The other bounds shorten a read, or drop the oldest events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// Bound [`StoreLimits::max_entries`](crate::StoreLimits::max_entries) of the number of
    /// entries.
    Entries,
    /// Bound [`StoreLimits::max_bytes`](crate::StoreLimits::max_bytes) of all entries together.
    Bytes,
    /// Bound [`StoreLimits::max_value_bytes`](crate::StoreLimits::max_value_bytes) of one value.
    ValueBytes,
    /// Bound [`StoreLimits::max_batch_events`](crate::StoreLimits::max_batch_events) of the events
    /// of one append.
    BatchEvents,
    /// The 64 bits of a counter, with a sign.
    Counter,
    /// Bound [`StoreLimits::max_watchers`](crate::StoreLimits::max_watchers) of waiting readers.
    Watchers,
}
