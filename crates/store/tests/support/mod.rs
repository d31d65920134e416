//! What the tests of stores share: waiting, threads, directories.
#![allow(dead_code, reason = "every test binary uses a part of it")]

pub(crate) mod layer;
pub(crate) mod link;

use std::future::{Future, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use pintle_store::conformance::{Part, Waiting};
use pintle_store::{Key, Namespace, StoreTime};

/// The namespace of the tests.
pub(crate) const SPACE: Namespace = Namespace::fixed("tests");

pub(crate) fn key(name: &str) -> Key {
    Key::new(&SPACE, name).expect("a proper name")
}

pub(crate) fn at(millis: u64) -> StoreTime {
    StoreTime::from_millis(millis)
}

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

/// Waits for work, but not longer than `limit`. Returns true if it ended.
pub(crate) async fn wait_at_most(mut work: Waiting<'_, ()>, limit: Duration) -> bool {
    let end = Instant::now() + limit;
    let mut has_timer = false;
    poll_fn(|cx| {
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
    })
    .await
}

fn wake_at(end: Instant, waker: &Waker) {
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        thread::park_timeout(left);
    }
    waker.wake_by_ref();
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs each part on a thread of its own.
pub(crate) fn on_threads(parts: Vec<Part>) -> Part {
    Box::pin(async move {
        let threads: Vec<_> = parts
            .into_iter()
            .map(|part| thread::spawn(|| wait(part)))
            .collect();
        for thread in threads {
            thread.join().expect("the part holds");
        }
    })
}

/// A directory of its own that goes with the test.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "pintle-store-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        // What a test of another run with the same number left is not ours.
        std::fs::remove_dir_all(&path).ok();
        Self(path)
    }

    /// The only file with this ending.
    pub(crate) fn only(&self, extension: &str) -> PathBuf {
        let files = std::fs::read_dir(&self.0).expect("the directory is there");
        let mut found = files
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|it| it == extension));
        let only = found.next().expect("there is one");
        assert_eq!(found.next(), None, "there is one only");
        only
    }
}

impl std::ops::Deref for Directory {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Directory {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
