//! A thread with a connection of its own. SQLite waits for the disk, and no thread of a runtime may.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pintle_store::{Retry, StoreError, Watchers};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::layout::{self, BUSY_TIMEOUT};
use crate::open_error::OpenError;
use crate::values::Failed;

/// The pause after which a store looks for changes of other processes: 100 ms.
pub const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// One operation, with the way back to its caller.
type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Carries out operations in order.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread. It holds at most `max_queued` operations that wait. If `watchers` are given, it
    /// wakes all of them after a change by another connection.
    pub(crate) fn start(
        path: &Path,
        max_queued: usize,
        watchers: Option<Arc<Watchers>>,
    ) -> Result<Self, OpenError> {
        let connection = layout::connect(path)?;
        let (jobs, queue) = sync_channel(max_queued.max(1));
        // Commits are seen from here on, and not from the first step of the thread.
        let poll = watchers.map(|watchers| Poll::new(&connection, watchers));
        let thread = thread::Builder::new().name("pintle-sqlite".to_owned());
        let thread = thread.spawn(move || match poll {
            Some(poll) => run_and_poll(connection, &queue, poll),
            None => run(connection, &queue),
        });
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread.map_err(OpenError::Thread)?),
        })
    }

    /// Carries out one operation.
    ///
    /// # Errors
    ///
    /// The errors of the operation; [`StoreError::Backend`] if too many operations wait, or if this one
    /// waits longer than [`BUSY_TIMEOUT`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&mut Connection) -> Result<T, Failed> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let end = Instant::now() + BUSY_TIMEOUT;
        let job = move |connection: &mut Connection| {
            let ended = wait_until(connection, end).and_then(|()| operation(connection));
            // A caller that is gone does not need the answer.
            let _ = answer.send(ended.map_err(|Failed(error)| error));
        };
        self.push(Box::new(job))?;
        answered.await.unwrap_or_else(|_| {
            let source = "the operation panicked, or the store is closed";
            Err(StoreError::backend(Retry::Never, source))
        })
    }

    fn push(&self, job: Job) -> Result<(), StoreError> {
        let jobs = self
            .jobs
            .as_ref()
            .expect("a worker has a queue until it is dropped");
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => {
                StoreError::backend(Retry::Later, "too many operations wait for the database")
            }
            TrySendError::Disconnected(_) => {
                StoreError::backend(Retry::Never, "the thread of the database has ended")
            }
        })
    }
}

impl Drop for Worker {
    /// Waits for the operations in the queue.
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was returned to the caller of its operation.
            let _ = thread.join();
        }
    }
}

/// Limits the wait for the lock of another process. The wait in the queue counts, because the operations
/// before this one may have waited for the same lock.
fn wait_until(connection: &Connection, end: Instant) -> Result<(), Failed> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() {
        let source = "the database was busy for 5 s; the operation did not happen";
        return Err(Failed(StoreError::backend(Retry::Later, source)));
    }
    Ok(connection.busy_timeout(left)?)
}

fn run(mut connection: Connection, queue: &Receiver<Job>) {
    while let Ok(job) = queue.recv() {
        job(&mut connection);
    }
}

/// Looks for commits of other connections.
struct Poll {
    watchers: Arc<Watchers>,
    seen: Option<i64>,
    next: Instant,
}

impl Poll {
    fn new(connection: &Connection, watchers: Arc<Watchers>) -> Self {
        Self {
            watchers,
            seen: data_version(connection),
            next: Instant::now() + POLL_INTERVAL,
        }
    }

    /// The time until the next look: zero if it is due.
    fn pause(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Wakes the watchers if another connection has committed.
    fn look(&mut self, connection: &Connection) {
        let found = data_version(connection);
        if found != self.seen {
            self.watchers.notify_all();
        }
        self.seen = found;
        self.next = Instant::now() + POLL_INTERVAL;
    }
}

/// Runs jobs. Looks for changes once in each interval, also between jobs that follow without a pause.
fn run_and_poll(mut connection: Connection, queue: &Receiver<Job>, mut poll: Poll) {
    loop {
        match queue.recv_timeout(poll.pause()) {
            Ok(job) => job(&mut connection),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if poll.pause().is_zero() {
            poll.look(&connection);
        }
    }
}

/// Returns a number that changes with each commit of another connection, or `None` after an error.
fn data_version(connection: &Connection) -> Option<i64> {
    let mut statement = connection.prepare_cached("PRAGMA data_version").ok()?;
    statement.query_row([], |row| row.get(0)).ok()
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll as Progress, Waker};

    use pintle_store::{Key, Namespace, StoreLimits};

    use super::*;

    #[test]
    fn a_commit_before_the_first_look_wakes_the_watchers() {
        let name = format!("pintle-sqlite-look-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&directory).expect("makes a directory");
        let path = directory.join("state.sqlite");
        let (own, other) = (layout::connect(&path), layout::connect(&path));
        let (own, other) = (own.expect("opens"), other.expect("opens"));
        let watchers = Arc::new(Watchers::new(&StoreLimits::default()));
        let key = Key::new(&Namespace::fixed("tests"), "key").expect("a key");
        let mut poll = Poll::new(&own, Arc::clone(&watchers));
        let mut changes = watchers.changes(&key.into()).expect("one watcher");

        other
            .execute_batch("PRAGMA user_version = 1")
            .expect("commits");
        poll.look(&own);

        let mut context = Context::from_waker(Waker::noop());
        let next = pin!(changes.next()).poll(&mut context);
        drop(std::fs::remove_dir_all(&directory));
        assert_eq!(next, Progress::Ready(Some(())));
    }
}
