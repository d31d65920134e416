//! The replicas that share a store, as the fleet of the runtime shows them.

use pintle_runtime::BoxFuture;
use pintle_runtime::fleet::{Fleet, FleetEvents, Presence};
use pintle_store::{StoreError, StoreTime};
use std::fmt;
use tokio::sync::Mutex;

use crate::replica::Replicas;

/// This replica, present among others.
pub(super) struct Joined {
    fleet: Fleet,
    name: String,
    events: Mutex<FleetEvents>,
}

impl Joined {
    pub(super) fn new(fleet: Fleet) -> Self {
        Self {
            name: fleet.replica().to_string(),
            events: Mutex::new(fleet.events()),
            fleet,
        }
    }
}

impl Replicas for Joined {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> StoreTime {
        self.fleet.now()
    }

    fn term(&self) -> Option<u64> {
        self.fleet.term()
    }

    fn is_present<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            // Servers of one process can share a store in memory: none of them has gone.
            if !self.fleet.is_shared() {
                return Ok(true);
            }
            match name.parse() {
                Ok(replica) => Ok(self.fleet.presence(replica).await? == Presence::Present),
                Err(_) => Ok(false),
            }
        })
    }

    fn gone(&self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            match self.events.lock().await.gone().await {
                Some(replica) => replica.to_string(),
                None => std::future::pending().await,
            }
        })
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.fleet.leave())
    }
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fleet.fmt(f)
    }
}
