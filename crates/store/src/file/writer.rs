//! Writes on a thread of the store's own, because a disk may take seconds: no other thread waits.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use super::answer::{Promise, answer};
use crate::error::{Retry, StoreError};
use crate::limits::StoreLimits;
use crate::local::{Journal, LocalStore};
use crate::sync::{Condvar, Mutex};

/// One write, with the promise to its caller.
type Job<J> = Box<dyn FnOnce(&LocalStore<J>) + Send>;

/// Carries out the writes of one store, one after the other.
#[derive(Debug)]
pub(super) struct Writer<J> {
    queue: Arc<Queue<J>>,
    thread: Option<JoinHandle<()>>,
}

/// The writes that wait for the thread.
struct Queue<J> {
    waiting: Mutex<Waiting<J>>,
    changed: Condvar,
    max_writes: usize,
    max_bytes: usize,
}

struct Waiting<J> {
    jobs: VecDeque<(usize, Job<J>)>,
    bytes: usize,
    is_closed: bool,
}

impl<J: Journal> Writer<J> {
    /// Starts the thread.
    pub(super) fn start(local: Arc<LocalStore<J>>, limits: &StoreLimits) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(limits));
        let jobs = Arc::clone(&queue);
        let thread = thread::Builder::new().name("pintle-store".to_owned());
        let thread = thread.spawn(move || {
            while let Some(job) = jobs.next() {
                // A panic drops the promise of the write, which is how its caller learns of it.
                drop(catch_unwind(AssertUnwindSafe(|| job(&local))));
            }
        })?;
        Ok(Self {
            queue,
            thread: Some(thread),
        })
    }

    /// Carries out a write of so many bytes.
    ///
    /// # Errors
    ///
    /// The errors of the write; [`StoreError::Backend`] if too many writes wait ([`Retry::Later`]).
    pub(super) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        write: impl FnOnce(&LocalStore<J>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (promise, answer) = answer();
        let job = move |local: &LocalStore<J>| Promise::keep(promise, write(local));
        self.queue.push(bytes, Box::new(job))?;
        answer.await.unwrap_or_else(|| {
            let source = "the write panicked, or the store is closed";
            Err(StoreError::backend(Retry::Never, source))
        })
    }
}

impl<J> Drop for Writer<J> {
    /// Waits for the write at work. The others were never acknowledged, and their callers are gone.
    fn drop(&mut self) {
        let mut waiting = self.queue.waiting.lock();
        waiting.is_closed = true;
        let dropped = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        drop(dropped);
        self.queue.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread catches the panics of its writes, so it ends in good order.
            let _ = thread.join();
        }
    }
}

impl<J> Queue<J> {
    fn new(limits: &StoreLimits) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                jobs: VecDeque::new(),
                bytes: 0,
                is_closed: false,
            }),
            changed: Condvar::default(),
            max_writes: limits.max_queued_writes,
            max_bytes: limits.max_queued_bytes,
        }
    }

    /// Queues a write. The first one always fits.
    fn push(&self, bytes: usize, job: Job<J>) -> Result<(), StoreError> {
        let mut waiting = self.waiting.lock();
        let is_full = waiting.jobs.len() >= self.max_writes.max(1)
            || (!waiting.jobs.is_empty() && bytes > self.max_bytes.saturating_sub(waiting.bytes));
        if is_full {
            let source = "too many writes wait for the disk";
            return Err(StoreError::backend(Retry::Later, source));
        }
        waiting.bytes += bytes;
        waiting.jobs.push_back((bytes, job));
        drop(waiting);
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next write; none once the store is closed.
    fn next(&self) -> Option<Job<J>> {
        let mut waiting = self.waiting.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some((bytes, job)) = waiting.jobs.pop_front() {
                waiting.bytes -= bytes;
                return Some(job);
            }
            waiting = self.changed.wait(waiting);
        }
    }
}

impl<J> std::fmt::Debug for Queue<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
