//! Waiting without a runtime, on threads of the standard library.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use pintle_store::conformance::{Part, Waiting};

/// Waits for a future on this thread.
pub(crate) fn wait<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
        thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for work, but not longer than `limit`. Returns true if the work has ended.
pub(crate) fn wait_at_most(mut work: Waiting<'_, ()>, limit: Duration) -> Waiting<'_, bool> {
    let end = Instant::now() + limit;
    let mut has_timer = false;
    Box::pin(poll_fn(move |cx| {
        if work.as_mut().poll(cx).is_ready() {
            return Poll::Ready(true);
        }
        if Instant::now() >= end {
            return Poll::Ready(false);
        }
        if !std::mem::replace(&mut has_timer, true) {
            let waker = cx.waker().clone();
            thread::spawn(move || wake_at(end, &waker));
        }
        Poll::Pending
    }))
}

fn wake_at(end: Instant, waker: &Waker) {
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        thread::park_timeout(left);
    }
    waker.wake_by_ref();
}

/// Runs each part on a thread of its own, until all have ended.
pub(crate) fn on_threads(parts: Vec<Part>) -> Part {
    Box::pin(async move {
        let running = Arc::new(Running::new(parts.len()));
        let start = |part| start(part, Arc::clone(&running));
        let threads: Vec<_> = parts.into_iter().map(start).collect();
        poll_fn(|cx| running.poll(cx)).await;
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    })
}

fn start(part: Part, running: Arc<Running>) -> JoinHandle<()> {
    thread::spawn(move || {
        let _ended = Ended(running);
        wait(part);
    })
}

/// The parts that have not ended, and the task that waits for them.
struct Running {
    parts: AtomicUsize,
    waiting: Mutex<Waker>,
}

impl Running {
    fn new(parts: usize) -> Self {
        Self {
            parts: AtomicUsize::new(parts),
            waiting: Mutex::new(Waker::noop().clone()),
        }
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        self.waiting
            .lock()
            .expect("no panic")
            .clone_from(cx.waker());
        match self.parts.load(Ordering::SeqCst) {
            0 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

/// Reports the end of a part, which may be a panic.
struct Ended(Arc<Running>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.parts.fetch_sub(1, Ordering::SeqCst);
        self.0.waiting.lock().expect("no panic").wake_by_ref();
    }
}
