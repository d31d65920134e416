//! This replica, for the parts that every server has.

use std::error::Error as StdError;
use std::fmt;
use std::time::SystemTime;

use pintle_model::{Error, ErrorCode};
use pintle_runtime::BoxFuture;
use pintle_store::{StoreError, StoreTime};

/// This replica. A trait, because a server without a store must not refer to the code of fleets.
pub(crate) trait Replica: Send + Sync {
    /// Checks the store before the first request.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if this server cannot use the store.
    fn start(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the time of the clock of the store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the clock is not known yet, and the store does not answer.
    fn now(&self) -> BoxFuture<'_, Result<StoreTime, StoreError>>;

    /// Joins the replicas that share the store of tasks. `None` if one process has the store.
    ///
    /// # Errors
    ///
    /// -32603 if the store cannot be reached. The text asks for a retry if the store is away.
    fn join(&self) -> BoxFuture<'_, Result<Option<Box<dyn Replicas>>, Error>>;

    /// Ends the presence of this replica, if it has joined.
    fn leave(&self) -> BoxFuture<'_, ()>;
}

/// The replicas that share a store. Presence decides only when a task is taken over; a compare in the
/// store decides which replica takes it.
pub(crate) trait Replicas: fmt::Debug + Send + Sync {
    /// Name of this replica: no other one has it, before or after.
    fn name(&self) -> &str;

    /// The time by which tasks begin and expire: that of the store, if replicas share it.
    fn now(&self) -> StoreTime;

    /// Number of the current presence of this replica, or `None` if it has expired. While the number
    /// stays the same, the presence has no gap.
    fn term(&self) -> Option<u64>;

    /// Returns true if a replica is present.
    fn is_present<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Waits for the next replica whose presence ends.
    #[cfg(feature = "replicas")]
    fn gone(&self) -> BoxFuture<'_, String>;

    /// Ends the presence of this replica.
    fn leave(&self) -> BoxFuture<'_, ()>;
}

/// Returns the time of the clock of a store, or that of this process without a replica.
///
/// # Errors
///
/// As [`Replica::now`].
pub(crate) async fn now_of(replica: Option<&dyn Replica>) -> Result<StoreTime, StoreError> {
    match replica {
        Some(replica) => replica.now().await,
        None => Ok(SystemTime::now().into()),
    }
}

/// Logs the reason why tasks have no store, and returns the error of [`Replica::join`].
pub(crate) fn without_store(error: &dyn StdError, is_away: bool) -> Error {
    tracing::error!(%error, source = ?error.source(), "tasks have no store");
    match is_away {
        true => asks_for_a_retry(),
        false => Error::internal(),
    }
}

/// Whether the same operation may succeed when the store is back.
pub(crate) fn asks_for_a_retry() -> Error {
    let text = "the store of tasks does not answer; send the request again later";
    Error::new(ErrorCode::INTERNAL_ERROR, text)
}
