//! The suite of faults passes with correct stores, and fails with each mistake.

use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_store::conformance::{
    Breakable, CutAt, FarAndNear, Fault, Layer, Layered, Part, Reopen, SimulatedLink, Survival,
    Waiting, run_faults,
};
use pintle_store::{
    Changes, ExpectedTail, Expiry, FileStore, Key, MemoryStore, Position, Prefix, Retention, Retry,
    Store, StoreError, StoreFuture, StoreLimits, StoreTime, Watchers,
};

use crate::support::Directory;
use crate::support::threads::{on_threads, wait, wait_at_most};

/// A store in memory, which keeps its content while the connection to it starts again.
fn memory() -> Reopen {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(StoreLimits::default()));
    Box::new(move || Arc::clone(&store))
}

/// A store in a directory, which a restart closes and reads again.
fn files() -> Reopen {
    let directory = Directory::new();
    Box::new(move || Arc::new(FileStore::open(&directory, StoreLimits::default()).expect("opens")))
}

/// A mistake of a store behind a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    /// Repeats an append of unknown outcome.
    RepeatsAppends,
    /// Repeats every write of unknown outcome.
    RepeatsWrites,
    /// Acknowledges an append before the engine has it.
    AcknowledgesEarly,
    /// Sends the events of a batch one by one.
    SplitsBatches,
    /// Waits without limit for an answer.
    WaitsWithoutLimit,
    /// Opens no second connection.
    NeverReconnects,
    /// A change in an outage wakes no watcher.
    LosesWakeUps,
    /// An error in a fault is final.
    GivesUp,
}

/// Stores in memory with a mistake.
struct Mistaken {
    link: SimulatedLink,
    mistake: Mistake,
    faults: Vec<Fault>,
    outage: Mutex<Arc<Outage>>,
}

/// The faults that a store has met.
#[derive(Default)]
struct Outage {
    is_paused: AtomicBool,
    was_away: AtomicBool,
}

impl Mistaken {
    fn new(mistake: Mistake) -> Self {
        Self {
            link: SimulatedLink::new(memory, wait_at_most, on_threads),
            mistake,
            faults: Fault::all(),
            outage: Mutex::default(),
        }
    }

    fn outage(&self) -> Arc<Outage> {
        Arc::clone(&self.outage.lock().expect("no panic"))
    }
}

impl Breakable for Mistaken {
    fn open(&self) -> Waiting<'_, FarAndNear> {
        let outage: Arc<Outage> = Arc::default();
        *self.outage.lock().expect("no panic") = Arc::clone(&outage);
        Box::pin(async move {
            let mut both = self.link.open().await;
            both.far = Arc::new(Layered(MistakenStore {
                store: both.far,
                mistake: self.mistake,
                outage,
                watchers: Arc::new(Watchers::new(&StoreLimits::default())),
            }));
            both
        })
    }

    fn faults(&self) -> Vec<Fault> {
        self.faults.clone()
    }

    fn begin(&self, fault: Fault) -> Waiting<'_, ()> {
        let outage = self.outage();
        let is_paused = fault == Fault::Pause;
        outage.is_paused.store(is_paused, Ordering::SeqCst);
        outage
            .was_away
            .fetch_or(fault == Fault::Away, Ordering::SeqCst);
        self.link.begin(fault)
    }

    fn end(&self) -> Waiting<'_, ()> {
        self.outage().is_paused.store(false, Ordering::SeqCst);
        self.link.end()
    }

    fn within<'a>(&'a self, limit: Duration, work: Waiting<'a, ()>) -> Waiting<'a, bool> {
        self.link.within(limit, work)
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        self.link.together(parts)
    }

    fn survival(&self) -> Survival {
        self.link.survival()
    }

    fn operation_limit(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn recovery_limit(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// The store behind the connection, with its mistake.
struct MistakenStore {
    store: Arc<dyn Store>,
    mistake: Mistake,
    outage: Arc<Outage>,
    /// Watchers that are not notified.
    watchers: Arc<Watchers>,
}

impl MistakenStore {
    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == mistake
    }

    async fn request<'a, T>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync,
    ) -> Result<T, StoreError> {
        let was_away = self.outage.was_away.load(Ordering::SeqCst);
        if was_away && self.has(Mistake::NeverReconnects) {
            return Err(StoreError::backend(Retry::Later, "no connection"));
        }
        let is_paused = self.outage.is_paused.load(Ordering::SeqCst);
        if is_paused && self.has(Mistake::WaitsWithoutLimit) {
            return pending().await;
        }
        let result = operation().await;
        match result {
            Err(StoreError::Backend(_)) if self.has(Mistake::GivesUp) => {
                Err(StoreError::backend(Retry::Never, "the connection ended"))
            }
            result => result,
        }
    }
}

impl Layer for MistakenStore {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    fn pass<'a, T: Send + 'a>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { self.request(operation).await })
    }

    fn pass_write<'a, T: Send + 'a>(
        &'a self,
        _key: &'a Key,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            match self.request(&operation).await {
                Err(StoreError::Backend(_)) if self.has(Mistake::RepeatsWrites) => {
                    self.request(operation).await
                }
                result => result,
            }
        })
    }

    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [bytes::Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        let append = move |events: &'a [bytes::Bytes], tail| {
            let append = move || self.store.append(now, log, events, tail, retention, expiry);
            self.pass_write(log, append)
        };
        if self.has(Mistake::SplitsBatches) && !events.is_empty() {
            return Box::pin(async move {
                let mut last = append(&events[..1], tail).await?;
                for event in &events[1..] {
                    last = append(std::slice::from_ref(event), ExpectedTail::Any).await?;
                }
                Ok(last)
            });
        }
        Box::pin(async move {
            match append(events, tail).await {
                Err(StoreError::Backend(_)) if self.has(Mistake::RepeatsAppends) => {
                    append(events, tail).await
                }
                Err(StoreError::Backend(_)) if self.has(Mistake::AcknowledgesEarly) => {
                    Ok(Position::new(1))
                }
                result => result,
            }
        })
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        if !self.has(Mistake::LosesWakeUps) {
            return self.store.changed(prefix);
        }
        let changes = self.watchers.changes(prefix).map_err(StoreError::from);
        Box::pin(std::future::ready(changes))
    }
}

/// Returns the message of the check that a mistake fails.
fn failure(mistake: Mistake) -> String {
    let run = move || wait(run_faults(&Mistaken::new(mistake)));
    let panic = std::panic::catch_unwind(run).expect_err("the suite fails");
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().expect("a message")).to_owned(),
    }
}

// hardening: H-187, H-189, H-191
#[test]
fn a_store_in_memory_passes_in_every_fault() {
    wait(run_faults(&SimulatedLink::new(
        memory,
        wait_at_most,
        on_threads,
    )));
}

// hardening: H-187, H-189, H-191
#[test]
fn a_store_in_a_directory_passes_in_every_fault() {
    wait(run_faults(&SimulatedLink::new(
        files,
        wait_at_most,
        on_threads,
    )));
}

#[test]
fn each_mistake_fails_a_check() {
    for (mistake, expected) in [
        (Mistake::RepeatsAppends, "an acknowledged batch occurs once"),
        (Mistake::RepeatsWrites, "an operation without a competitor"),
        (
            Mistake::AcknowledgesEarly,
            "an acknowledged batch occurs once",
        ),
        (
            Mistake::SplitsBatches,
            "a batch is there once or not at all",
        ),
        (
            Mistake::WaitsWithoutLimit,
            "an operation takes longer than 1s",
        ),
        (Mistake::NeverReconnects, "the store does not work 1s after"),
        (Mistake::LosesWakeUps, "wakes the watcher"),
        (Mistake::GivesUp, "a fault may end"),
    ] {
        let failure = failure(mistake);
        assert!(failure.contains(expected), "{mistake:?}: {failure}");
    }
}

#[test]
#[should_panic(expected = "no fault reached a write")]
fn a_connection_that_never_breaks_fails_the_suite() {
    let mut subject = Mistaken::new(Mistake::GivesUp);
    let (at, skip) = (CutAt::BeforeRequest, usize::MAX - 1);
    subject.faults = vec![Fault::Cut { at, skip }];
    wait(run_faults(&subject));
}
