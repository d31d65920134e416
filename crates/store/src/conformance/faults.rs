//! The part of the suite for stores behind a connection: each operation in each fault.
//!
//! A fault must not lose acknowledged data. An operation that ended with [`StoreError::Backend`] has
//! happened as a whole or not at all, and at most once. After a fault the store works again.
//!
//! [`StoreError::Backend`]: crate::StoreError::Backend

mod crowd;
mod patient;
mod pause;
mod restart;
mod single;
mod trial;
mod watch;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::Part;
use crate::Store;

/// An implementation whose connections and engine a check can break.
pub trait Breakable: Sync {
    /// Opens an empty store twice: behind the connections that break, and beside them.
    fn open(&self) -> Waiting<'_, FarAndNear>;

    /// Returns the faults that the subject can have.
    fn faults(&self) -> Vec<Fault>;

    /// Begins a fault. A [`Fault::Restart`] ends when the engine has been killed and runs again.
    fn begin(&self, fault: Fault) -> Waiting<'_, ()>;

    /// Ends every fault.
    fn end(&self) -> Waiting<'_, ()>;

    /// Waits for work, but not longer than `limit`. Returns true if the work has ended.
    fn within<'a>(&'a self, limit: Duration, work: Waiting<'a, ()>) -> Waiting<'a, bool>;

    /// Runs parts at the same time, until all have ended.
    fn together(&self, parts: Vec<Part>) -> Part;

    /// Returns the content that a [`Fault::Restart`] leaves.
    fn survival(&self) -> Survival {
        Survival::Everything
    }

    /// Returns the longest time of an operation in a fault; default 2 s.
    fn operation_limit(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// Returns the longest time from the end of a fault until the store works again; default 10 s.
    fn recovery_limit(&self) -> Duration {
        Duration::from_secs(10)
    }
}

/// Future that a [`Breakable`] returns.
pub type Waiting<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Two openings of one store.
#[derive(Clone)]
pub struct FarAndNear {
    /// Opening behind the connections that break.
    pub far: Arc<dyn Store>,
    /// Opening beside them, through which the checks read the outcome.
    pub near: Arc<dyn Store>,
}

/// A fault between a store and its engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// One connection ends at a request: the next one if `skip` is 0.
    Cut {
        /// Point in the request or in its answer.
        at: CutAt,
        /// Number of requests that pass first.
        skip: usize,
    },
    /// Half of the answers are lost, each with its connection.
    LoseAnswers,
    /// Connections stay, and nothing passes through them.
    Pause,
    /// Connections end, and new ones are refused.
    Away,
    /// The engine is killed, and starts again.
    Restart,
}

/// Point at which a connection ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutAt {
    /// No byte of the request reaches the engine.
    BeforeRequest,
    /// Half of the request reaches the engine.
    InsideRequest,
    /// The engine has answered, and no byte of the answer arrives.
    BeforeAnswer,
    /// Half of the answer arrives.
    InsideAnswer,
}

impl Fault {
    /// Returns all faults of a store behind a socket. Each cut occurs at the first three requests of an
    /// operation, because an operation may send several.
    pub fn all() -> Vec<Self> {
        let points = [
            CutAt::BeforeRequest,
            CutAt::InsideRequest,
            CutAt::BeforeAnswer,
            CutAt::InsideAnswer,
        ];
        let cuts = (0..3).flat_map(|skip| points.map(|at| Self::Cut { at, skip }));
        let others = [Self::LoseAnswers, Self::Pause, Self::Away, Self::Restart];
        cuts.chain(others).collect()
    }
}

/// The content that a restart of an engine leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// Everything that was acknowledged.
    Everything,
    /// Records only. Logs and counters may be gone, and the epoch with them.
    Records,
    /// Nothing is certain, except that the store works.
    Nothing,
}

/// Runs every check in each fault of the subject.
///
/// # Panics
///
/// If a check fails, or if no fault reached a write.
pub async fn run_faults(subject: &dyn Breakable) {
    let mut unknown = 0;
    for fault in subject.faults() {
        unknown += match fault {
            Fault::Cut { .. } => single::run(subject, fault).await,
            Fault::LoseAnswers => {
                let single = single::run(subject, fault).await;
                patient::run(subject, fault).await;
                single + crowd::run(subject, fault).await
            }
            Fault::Pause => pause::run(subject).await,
            Fault::Away => single::run(subject, fault).await + watch::run(subject).await,
            Fault::Restart => {
                watch::run_restart(subject).await;
                restart::run(subject).await
            }
        };
    }
    assert!(unknown > 0, "no fault reached a write");
}
