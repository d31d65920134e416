//! This replica, and the others that share the store of tasks.

use std::fmt;
use std::time::SystemTime;

use pintle_runtime::{BoxFuture, random_bytes};
use pintle_store::{StoreError, StoreTime};
use tokio::time::Instant;

use super::id::{RANDOM_BYTES, hex};

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
    fn gone(&self) -> BoxFuture<'_, String>;

    /// Ends the presence of this replica.
    fn leave(&self) -> BoxFuture<'_, ()>;
}

/// The only process with the store.
#[derive(Debug)]
pub(crate) struct Alone {
    name: String,
    /// Which opening of the store this is, if the store outlives the process.
    opening: Option<u64>,
    began: SystemTime,
    since: Instant,
}

impl Alone {
    pub(super) fn new(opening: Option<u64>) -> Self {
        let random = hex(&random_bytes::<RANDOM_BYTES>().unwrap_or_default());
        Self {
            name: format!("{}{random}", opening_prefix(opening)),
            opening,
            began: SystemTime::now(),
            since: Instant::now(),
        }
    }
}

impl Replicas for Alone {
    fn name(&self) -> &str {
        &self.name
    }

    // A wall clock that is set moves nothing, because it is read once.
    fn now(&self) -> StoreTime {
        let counted = self.began.checked_add(self.since.elapsed());
        counted.map_or(StoreTime::default(), StoreTime::from)
    }

    fn term(&self) -> Option<u64> {
        Some(0)
    }

    fn is_present<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        // A holder of an earlier opening has ended.
        let is_present = name.starts_with(&opening_prefix(self.opening));
        Box::pin(async move { Ok(is_present) })
    }

    fn gone(&self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// The beginning of the names of replicas in one opening of a store.
fn opening_prefix(opening: Option<u64>) -> String {
    opening.map_or_else(String::new, |number| format!("{number:x}-"))
}
