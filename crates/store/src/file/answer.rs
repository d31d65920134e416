//! The outcome of a write, on its way from the thread of the store to the caller.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The end of the thread that carries out the write. Dropped without a value, the answer is none.
pub(super) struct Promise<T>(Arc<Mutex<Slot<T>>>);

/// The end of the caller: ready with the outcome, or with none if the promise was dropped.
pub(super) struct Answer<T>(Arc<Mutex<Slot<T>>>);

struct Slot<T> {
    value: Option<T>,
    is_settled: bool,
    waker: Option<Waker>,
}

/// A promise and its answer.
pub(super) fn answer<T>() -> (Promise<T>, Answer<T>) {
    let slot = Arc::new(Mutex::new(Slot {
        value: None,
        is_settled: false,
        waker: None,
    }));
    (Promise(Arc::clone(&slot)), Answer(slot))
}

impl<T> Promise<T> {
    pub(super) fn keep(promise: Self, value: T) {
        lock(&promise.0).value = Some(value);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut slot = lock(&self.0);
        slot.is_settled = true;
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Answer<T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = lock(&self.0);
        if slot.is_settled {
            return Poll::Ready(slot.value.take());
        }
        slot.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}

// No panic leaves a change half done, so the contents of a poisoned lock are whole.
fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}
