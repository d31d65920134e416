//! A store in a fault, and the outcome of its operations.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::{Breakable, Fault};
use crate::conformance::bed::{Bed, at, must};
use crate::{Retry, Store, StoreError};

/// Pause between two tries of an operation.
const PAUSE: Duration = Duration::from_millis(20);

/// More connections than a store has by default.
const CONNECTIONS: usize = 16;

/// A store whose engine is beyond reach for some time.
pub(super) struct Trial<'s> {
    pub(super) subject: &'s dyn Breakable,
    /// The opening that meets the fault.
    pub(super) far: Bed,
    /// The opening that reads the outcome.
    pub(super) near: Bed,
    unknown: AtomicUsize,
}

impl<'s> Trial<'s> {
    pub(super) async fn open(subject: &'s dyn Breakable) -> Self {
        let both = subject.open().await;
        Self {
            subject,
            far: Bed::of(both.far),
            near: Bed::of(both.near),
            unknown: AtomicUsize::new(0),
        }
    }

    pub(super) fn far_store(&self) -> Arc<dyn Store> {
        self.far.store()
    }

    /// Returns the number of writes so far whose outcome the store did not know.
    pub(super) fn unknown(&self) -> usize {
        self.unknown.load(Ordering::SeqCst)
    }

    /// Carries out one operation in a fault. `None` means that it may have happened or not.
    pub(super) async fn during<T: Send>(
        &self,
        fault: Fault,
        operation: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Option<T> {
        self.subject.begin(fault).await;
        let result = self.in_time(operation).await;
        self.subject.end().await;
        let outcome = outcome(result);
        self.unknown
            .fetch_add(usize::from(outcome.is_none()), Ordering::SeqCst);
        outcome
    }

    /// Carries out one operation, which must end within the limit.
    pub(super) async fn in_time<T: Send>(&self, operation: impl Future<Output = T> + Send) -> T {
        let limit = self.subject.operation_limit();
        self.within(limit, operation)
            .await
            .unwrap_or_else(|| panic!("an operation takes longer than {limit:?}"))
    }

    /// Waits for work, but not longer than `limit`.
    pub(super) async fn within<T: Send>(
        &self,
        limit: Duration,
        work: impl Future<Output = T> + Send,
    ) -> Option<T> {
        let mut output = None;
        let set = async { output = Some(work.await) };
        self.subject.within(limit, Box::pin(set)).await;
        output
    }

    /// Repeats an operation until it succeeds. The store must recover within the limit.
    pub(super) async fn again<T: Send, F>(&self, operation: impl Fn() -> F + Send + Sync) -> T
    where
        F: Future<Output = Result<T, StoreError>> + Send,
    {
        let limit = self.subject.recovery_limit();
        let tries = async {
            loop {
                if let Some(value) = outcome(operation().await) {
                    return value;
                }
                self.pause().await;
            }
        };
        self.within(limit, tries)
            .await
            .unwrap_or_else(|| panic!("the store does not work {limit:?} after the fault"))
    }

    pub(super) async fn pause(&self) {
        let never = std::future::pending::<()>();
        self.subject.within(PAUSE, Box::pin(never)).await;
    }

    /// Checks that the store works again after a fault: it reads and writes.
    pub(super) async fn recover(&self) {
        let far = &self.far;
        self.again(|| far.try_get(0, "recovered")).await;
        let write = || far.remove(0, "recovered", crate::Precondition::Any);
        self.again(write).await;
    }

    /// Waits until the other opening works, too. Each of its connections may fail once.
    pub(super) async fn recover_near(&self) {
        for _ in 0..CONNECTIONS {
            self.again(|| self.near.try_get(0, "recovered")).await;
        }
    }

    /// Checks that the epoch is the one that the store had.
    pub(super) async fn epoch(&self) -> crate::Epoch {
        let store = self.far_store();
        self.again(|| store.epoch(crate::Epoch::new(7))).await
    }
}

/// Returns `None` if the store does not know whether the operation happened.
pub(super) fn outcome<T>(result: Result<T, StoreError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(StoreError::Backend(error)) => {
            let retry = error.retry();
            assert_eq!(retry, Retry::Later, "a fault may end: {error}");
            None
        }
        Err(error) => panic!("an operation without a competitor returns {error:?}"),
    }
}

/// Reads all events of a log, as text.
pub(super) async fn all_events(bed: &Bed, log: &str) -> Vec<String> {
    let (mut values, mut after) = (Vec::new(), crate::Position::START);
    loop {
        let read = bed.store();
        let tail = must("read", read.read(at(0), &bed.key(log), after, 1_000).await);
        let crate::Tail::Events { events, more } = tail else {
            panic!("log {log}: events are lost after {after:?}");
        };
        values.extend(
            events
                .iter()
                .map(|event| crate::conformance::bed::text(&event.value)),
        );
        match events.last() {
            Some(last) if more => after = last.position,
            _ => return values,
        }
    }
}
