//! A store that a check closes and opens again, behind one handle.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use bytes::Bytes;

use crate::sync::Mutex;
use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Retry, Store, StoreError, StoreFuture, StoreTime, Tail, Version,
};

/// Opens one store. A call that follows the end of the last opening finds the same content.
pub type Reopen = Box<dyn Fn() -> Arc<dyn Store> + Send + Sync>;

/// The handle. While the store is closed, each operation fails and has not happened.
pub(super) struct Reopened {
    // Ends before the directory that `open` may have.
    opening: Mutex<Option<Arc<OpenStore>>>,
    capacity: Capacity,
    open: Reopen,
}

impl Reopened {
    pub(super) fn new(open: Reopen) -> Self {
        let store = open();
        let capacity = store.capacity();
        let opening = Mutex::new(Some(Arc::new(OpenStore::new(store))));
        Self {
            opening,
            capacity,
            open,
        }
    }

    /// Closes the store after the operations that run, and opens it again.
    pub(super) async fn restart(&self) {
        let closing = self.opening.lock().take().map(|it| Arc::clone(&it.closing));
        if let Some(closing) = closing {
            closed(&closing).await;
        }
        let store = (self.open)();
        *self.opening.lock() = Some(Arc::new(OpenStore::new(store)));
    }

    fn opened(&self) -> Result<Arc<OpenStore>, StoreError> {
        let closed = || StoreError::backend(Retry::Later, "the store starts again");
        self.opening.lock().clone().ok_or_else(closed)
    }
}

/// A store that its last operation closes.
struct OpenStore {
    /// `None` only while the value is dropped.
    store: Option<Arc<dyn Store>>,
    closing: Arc<Mutex<Closing>>,
}

/// The end of a store, and the task that waits for it.
#[derive(Default)]
struct Closing {
    is_closed: bool,
    waiting: Option<Waker>,
}

async fn closed(closing: &Mutex<Closing>) {
    poll_fn(|cx| {
        let mut closing = closing.lock();
        if closing.is_closed {
            return Poll::Ready(());
        }
        closing.waiting = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}

impl OpenStore {
    fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store: Some(store),
            closing: Arc::default(),
        }
    }

    fn store(&self) -> &dyn Store {
        self.store.as_deref().expect("there until the drop")
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        drop(self.store.take());
        let mut closing = self.closing.lock();
        closing.is_closed = true;
        if let Some(waiting) = closing.waiting.take() {
            waiting.wake();
        }
    }
}

impl Store for Reopened {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(async move { self.opened()?.store().get(now, key).await })
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        Box::pin(async move {
            let opened = self.opened()?;
            opened.store().put(now, key, value, condition, expiry).await
        })
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.opened()?.store().remove(now, key, condition).await })
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        Box::pin(async move { self.opened()?.store().list(now, prefix, page).await })
    }

    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        Box::pin(async move {
            let opened = self.opened()?;
            let append = opened
                .store()
                .append(now, log, events, tail, retention, expiry);
            append.await
        })
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        Box::pin(async move { self.opened()?.store().add(now, key, amount, expiry).await })
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        Box::pin(async move { self.opened()?.store().read(now, log, after, most).await })
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.opened()?.store().forget(now, log).await })
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(async move { self.opened()?.store().changed(prefix).await })
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        Box::pin(async move { self.opened()?.store().time().await })
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        Box::pin(async move { self.opened()?.store().epoch(fresh).await })
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }
}
