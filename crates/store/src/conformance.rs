//! The suite that every implementation of [`Store`] runs.
//!
//! [`run`] has the checks of a store that works. [`run_faults`] has those of a store behind a connection
//! that breaks, and [`Journal`] those of a store whose process was killed. [`SimulatedLink`] gives a
//! connection to a store that has none.
//!
//! A failed check panics with its expectation. Put a time-out around [`run`], because a store that
//! never reports a change makes the suite wait forever.
//!
//! ```
//! use std::sync::Arc;
//!
//! use pintle_store::conformance::{self, Opening, Subject};
//! use pintle_store::{MemoryStore, Store, StoreLimits};
//!
//! struct Memory;
//!
//! impl Subject for Memory {
//!     fn open(&self, limits: StoreLimits) -> Opening<'_> {
//!         let store: Arc<dyn Store> = Arc::new(MemoryStore::new(limits));
//!         Box::pin(std::future::ready(store))
//!     }
//! }
//!
//! # async fn example() {
//! conformance::run(&Memory).await;
//! # }
//! ```

mod batches;
mod bed;
mod blocking;
mod changes;
mod counters;
mod crash;
mod faults;
mod groups;
mod identity;
mod layer;
mod limits;
mod logs;
mod pages;
mod races;
mod records;
mod reopened;
mod rotating;
mod simulated_link;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::{Store, StoreLimits};

pub use blocking::Blocking;
pub use crash::Journal;
pub use faults::{Breakable, CutAt, FarAndNear, Fault, Survival, Waiting, run_faults};
pub use layer::{Layer, Layered};
pub use reopened::Reopen;
pub use rotating::Rotating;
pub use simulated_link::{SimulatedLink, Together, WaitAtMost};

/// An implementation, and how to run it.
pub trait Subject: Sync {
    /// Opens a store that is empty, keeps these limits, and is used for one check.
    fn open(&self, limits: StoreLimits) -> Opening<'_>;

    /// Returns the number of openings of the store. Each opening has watchers of its own.
    fn openings(&self) -> usize {
        1
    }

    /// Whether the store lists and watches prefixes that cover several groups. A store without an order
    /// of keys returns false: it must refuse them, or list them as others do.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Runs parts at the same time, until all have ended.
    ///
    /// By default they take turns on one thread. That finds races in a store that waits for
    /// another machine; for one that does not, spread them over threads.
    fn together(&self, parts: Vec<Part>) -> Part {
        Box::pin(Turns { parts })
    }
}

/// Future that [`Subject::open`] returns.
pub type Opening<'a> = Pin<Box<dyn Future<Output = Arc<dyn Store>> + Send + 'a>>;

/// One of several things that happen at the same time.
pub type Part = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs every check.
///
/// # Panics
///
/// If one does not hold.
pub async fn run(subject: &dyn Subject) {
    records::run(subject).await;
    pages::run(subject).await;
    groups::run(subject).await;
    logs::run(subject).await;
    batches::run(subject).await;
    counters::run(subject).await;
    identity::run(subject).await;
    limits::run(subject).await;
    changes::run(subject).await;
    races::run(subject).await;
}

/// Polls each part in turn.
struct Turns {
    parts: Vec<Part>,
}

impl Future for Turns {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.parts
            .retain_mut(|part| part.as_mut().poll(cx).is_pending());
        if self.parts.is_empty() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
