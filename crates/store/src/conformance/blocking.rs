//! A store for tests whose clock stands still.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;

use crate::sync::{Condvar, Mutex};
use crate::{
    Capacity, Changes, Epoch, ExpectedTail, Expiry, Key, Listing, Page, Position, Precondition,
    Prefix, Record, Retention, Store, StoreFuture, StoreTime, Tail, Version,
};

/// A store whose operations end at their first poll: they block the thread instead.
///
/// The paused clock of a test runs on while a thread that it does not know is at work. With this
/// store the clock waits.
#[derive(Debug)]
pub struct Blocking<S>(pub S);

impl<S: Store> Store for Blocking<S> {
    fn get<'a>(&'a self, now: StoreTime, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        blocking(self.0.get(now, key))
    }

    fn put<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        value: Bytes,
        condition: Precondition,
        expiry: Expiry,
    ) -> StoreFuture<'a, Version> {
        blocking(self.0.put(now, key, value, condition, expiry))
    }

    fn remove<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        condition: Precondition,
    ) -> StoreFuture<'a, bool> {
        blocking(self.0.remove(now, key, condition))
    }

    fn list<'a>(
        &'a self,
        now: StoreTime,
        prefix: &'a Prefix,
        page: Page,
    ) -> StoreFuture<'a, Listing> {
        blocking(self.0.list(now, prefix, page))
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
        blocking(self.0.append(now, log, events, tail, retention, expiry))
    }

    fn read<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        after: Position,
        most: usize,
    ) -> StoreFuture<'a, Tail> {
        blocking(self.0.read(now, log, after, most))
    }

    fn forget<'a>(&'a self, now: StoreTime, log: &'a Key) -> StoreFuture<'a, bool> {
        blocking(self.0.forget(now, log))
    }

    fn add<'a>(
        &'a self,
        now: StoreTime,
        key: &'a Key,
        amount: i64,
        expiry: Expiry,
    ) -> StoreFuture<'a, i64> {
        blocking(self.0.add(now, key, amount, expiry))
    }

    fn time(&self) -> StoreFuture<'_, Option<StoreTime>> {
        blocking(self.0.time())
    }

    fn epoch(&self, fresh: Epoch) -> StoreFuture<'_, Epoch> {
        blocking(self.0.epoch(fresh))
    }

    fn capacity(&self) -> Capacity {
        self.0.capacity()
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        blocking(self.0.changed(prefix))
    }

    fn opening(&self) -> Option<u64> {
        self.0.opening()
    }
}

fn blocking<T: 'static>(mut operation: StoreFuture<'_, T>) -> StoreFuture<'_, T> {
    Box::pin(async move { wait(operation.as_mut()) })
}

/// Waits for a future on this thread.
fn wait<T>(mut future: Pin<&mut (dyn Future<Output = T> + Send + '_)>) -> T {
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        bell.wait();
    }
}

/// Rings when the future is to be polled again.
#[derive(Default)]
struct Bell {
    has_rung: Mutex<bool>,
    rings: Condvar,
}

impl Bell {
    fn wait(&self) {
        let mut has_rung = self.has_rung.lock();
        while !*has_rung {
            has_rung = self.rings.wait(has_rung);
        }
        *has_rung = false;
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        *self.has_rung.lock() = true;
        self.rings.notify_one();
    }
}
