//! The outcome of a write, on its way from the thread of the store to the caller.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::sync::Mutex;

/// The side of the thread that carries out the write. If it is dropped without a value, the answer
/// has no value.
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
        promise.0.lock().value = Some(value);
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        let mut slot = self.0.lock();
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
        let mut slot = self.0.lock();
        if slot.is_settled {
            return Poll::Ready(slot.value.take());
        }
        slot.waker = Some(cx.waker().clone());
        Poll::Pending
    }
}
