//! A store for tests that fails or hangs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_runtime::sync::Mutex;
use pintle_store::conformance::{Layer, Layered};
use pintle_store::{MemoryStore, Retry, Store, StoreError, StoreFuture, StoreTime};

/// How operations of the store end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// With an error.
    Fails,
    /// Not at all.
    Hangs,
}

/// A store in memory, and its fault.
pub(crate) struct FaultyStore {
    inner: MemoryStore,
    fault: Mutex<Option<Fault>>,
    operations: AtomicUsize,
}

/// A handle to the store.
struct Handle(Arc<FaultyStore>);

impl FaultyStore {
    pub(crate) fn new(inner: MemoryStore) -> Self {
        Self {
            inner,
            fault: Mutex::default(),
            operations: AtomicUsize::new(0),
        }
    }

    pub(crate) fn store(self: Arc<Self>) -> Arc<dyn Store> {
        Arc::new(Layered(Handle(self)))
    }

    pub(crate) fn set(&self, fault: Option<Fault>) {
        *self.fault.lock() = fault;
    }

    /// The number of operations that reached the store.
    pub(crate) fn operations(&self) -> usize {
        self.operations.load(Ordering::SeqCst)
    }
}

impl Layer for Handle {
    fn inner(&self) -> &dyn Store {
        &self.0.inner
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        self.pass(|| self.inner().time())
    }

    fn pass<'a, T: Send + 'a>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        self.0.operations.fetch_add(1, Ordering::SeqCst);
        let fault = *self.0.fault.lock();
        match fault {
            None => operation(),
            Some(Fault::Fails) => {
                Box::pin(async { Err(StoreError::backend(Retry::Later, "the store is away")) })
            }
            Some(Fault::Hangs) => Box::pin(std::future::pending()),
        }
    }
}
