//! Supervision of a server's process: its standard error and its end.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::exit::ChildExit;
use super::group::Group;
use super::memory::exceeds;
use super::options::ChildOptions;
use super::tail::Tail;

/// Size of the read buffer, in bytes.
const READ_BYTES: usize = 8 << 10;
/// Maximum wait for the last standard error of a killed group. A process that still holds the pipe
/// then has left the group.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Callback that gets the bytes of a server's standard error.
pub(super) type Listener = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Supervises the process of one server.
///
/// Dropping it ends the server as [`Supervisor::end`] does, without waiting. After the end of the
/// runtime or of the host, the server and its descendants are ended within about a second.
#[derive(Debug)]
pub struct Supervisor {
    id: u32,
    end_request: watch::Sender<bool>,
    exit: watch::Receiver<Option<ChildExit>>,
    program: Arc<str>,
    tail: Arc<Mutex<Tail>>,
}

impl Supervisor {
    pub(super) fn start(
        group: Group,
        stderr: Option<ChildStderr>,
        program: Arc<str>,
        options: ChildOptions,
        listener: Option<Listener>,
    ) -> Self {
        let (end_request, end_requests) = watch::channel(false);
        let (exits, exit) = watch::channel(None);
        let tail = Arc::new(Mutex::new(Tail::new(options.max_stderr_bytes)));
        let supervisor = Self {
            id: group.server_id(),
            end_request,
            exit,
            program: Arc::clone(&program),
            tail: Arc::clone(&tail),
        };
        let reader = StderrReader {
            stderr,
            buffer: Box::new([0; READ_BYTES]),
            tail,
            listener,
        };
        let watch = Watch {
            group,
            reader,
            end_requests,
            options,
        };
        tokio::spawn(watch.run(program, exits));
        supervisor
    }

    /// Returns the system's id of the server's process.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the end of the server's standard error so far. Invalid UTF-8 is replaced.
    pub fn stderr(&self) -> String {
        lock(&self.tail).text()
    }

    /// Waits for the end of the server, for any cause. After that its group has no process left.
    ///
    /// # Cancellation
    ///
    /// A cancelled wait loses nothing and can be repeated.
    pub async fn ended(&self) -> ChildExit {
        let mut exit = self.exit.clone();
        // An error means that the runtime of the watch task has ended.
        let exit = exit.wait_for(Option::is_some).await;
        exit.ok()
            .and_then(|exit| exit.clone())
            .unwrap_or_else(|| self.unknown_exit())
    }

    /// Ends the server and its descendants, and waits for that.
    ///
    /// Close its input first, because that asks the server to exit. If it does not exit within
    /// [`ChildOptions::exit_timeout`], its whole group gets `SIGTERM`. After
    /// [`ChildOptions::terminate_timeout`] the group gets `SIGKILL`. On Windows the job is killed
    /// after the first timeout.
    ///
    /// # Cancellation
    ///
    /// Ends the server all the same.
    pub async fn end(&self) -> ChildExit {
        self.begin_end();
        self.ended().await
    }

    /// Begins the end of the server without waiting, see [`Supervisor::end`].
    pub fn begin_end(&self) {
        self.end_request.send_replace(true);
    }

    fn unknown_exit(&self) -> ChildExit {
        ChildExit {
            program: Arc::clone(&self.program),
            status: None,
            stderr: self.stderr().into(),
            was_asked: true,
            was_too_large: false,
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.begin_end();
    }
}

/// The cause of the end of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// The process ended on its own, or another one ended it.
    Own,
    /// The host requested it.
    Asked,
    /// The processes had more memory than the limit.
    TooLarge,
}

/// State of the task that supervises one server.
struct Watch {
    group: Group,
    reader: StderrReader,
    end_requests: watch::Receiver<bool>,
    options: ChildOptions,
}

impl Watch {
    async fn run(mut self, program: Arc<str>, exits: watch::Sender<Option<ChildExit>>) {
        let (group, most) = (self.group.id(), self.options.max_memory_bytes);
        let (cause, status) = tokio::select! {
            // A request comes first, because a server that exits at the end of its input was asked.
            biased;
            _ = self.end_requests.wait_for(|requested| *requested) => (Cause::Asked, None),
            ended = read_until(&mut self.reader, self.group.ended()) => (Cause::Own, Some(ended)),
            () = exceeds(group, most) => (Cause::TooLarge, None),
        };
        let status = match (cause, status) {
            (Cause::Asked, None) => self.end_server().await,
            (_, status) => status,
        };
        self.end_rest(status.is_some()).await;
        let status = match status {
            Some(status) => status,
            None => self.group.ended().await,
        };
        self.group.reap().await;
        exits.send_replace(Some(ChildExit {
            program,
            status: status.ok(),
            stderr: self.reader.text().into(),
            was_asked: cause == Cause::Asked,
            was_too_large: cause == Cause::TooLarge,
        }));
    }

    /// Waits for the exit of a server whose input is closed. After a timeout it asks the group to
    /// end. Returns `None` if the group must be killed.
    async fn end_server(&mut self) -> Option<io::Result<ExitStatus>> {
        for grace in [self.options.exit_timeout, self.options.terminate_timeout] {
            let ended = read_until(&mut self.reader, self.group.ended());
            if let Ok(status) = timeout_at(later(grace), ended).await {
                return Some(status);
            }
            if !self.group.terminate() {
                break;
            }
        }
        None
    }

    /// Ends the descendants that the server left. If one still holds standard error, the group is
    /// asked to end before it is killed.
    async fn end_rest(&mut self, may_wait: bool) {
        let linger = self.options.descendants_timeout;
        if may_wait && !linger.is_zero() {
            read_until(&mut self.reader, sleep(linger)).await;
        }
        let is_closed = !may_wait || self.reader.drain_by(later(Duration::ZERO)).await;
        if !is_closed && self.group.terminate() {
            self.reader
                .drain_by(later(self.options.terminate_timeout))
                .await;
        }
        self.group.kill();
        self.reader.drain_by(later(DRAIN_TIMEOUT)).await;
    }
}

/// Reader of a server's standard error. It always reads, so that a full pipe never blocks the
/// server.
struct StderrReader {
    stderr: Option<ChildStderr>,
    buffer: Box<[u8; READ_BYTES]>,
    tail: Arc<Mutex<Tail>>,
    listener: Option<Listener>,
}

impl StderrReader {
    /// Reads and stores the next bytes. Returns false at the end of the stream.
    async fn next(&mut self) -> bool {
        let Some(stderr) = &mut self.stderr else {
            return false;
        };
        match stderr.read(&mut self.buffer[..]).await {
            Ok(0) | Err(_) => self.stderr = None,
            Ok(length) => {
                let bytes = &self.buffer[..length];
                lock(&self.tail).push(bytes);
                if let Some(listener) = &self.listener {
                    listener(bytes);
                }
            }
        }
        self.stderr.is_some()
    }

    /// Reads up to the end of the stream. Returns false if the deadline passes before.
    async fn drain_by(&mut self, deadline: Instant) -> bool {
        let all = async { while self.next().await {} };
        timeout_at(deadline, all).await.is_ok()
    }

    fn text(&self) -> String {
        lock(&self.tail).text()
    }
}

/// Waits for an event while it reads the server's standard error.
async fn read_until<T>(reader: &mut StderrReader, event: impl Future<Output = T>) -> T {
    let mut event = std::pin::pin!(event);
    while reader.stderr.is_some() {
        tokio::select! {
            result = &mut event => return result,
            _ = reader.next() => {}
        }
    }
    event.await
}

fn later(wait: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(wait)
        .unwrap_or(now + Duration::from_secs(86_400 * 365 * 30))
}

fn lock(tail: &Mutex<Tail>) -> MutexGuard<'_, Tail> {
    tail.lock()
}
