//! A store of tasks without other replicas.

use std::time::SystemTime;

use pintle_runtime::{BoxFuture, random_bytes};
use pintle_store::{StoreError, StoreTime};
use tokio::time::Instant;

use super::id::{RANDOM_BYTES, hex};
use crate::replica::Replicas;

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

    #[cfg(feature = "replicas")]
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
