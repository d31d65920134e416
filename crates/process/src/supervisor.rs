//! Who watches a server's process: what it says on its standard error, and its end.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::exit::ChildExit;
use super::group::Group;
use super::options::ChildOptions;
use super::tail::Tail;

/// How much is read at once.
const READ_BYTES: usize = 8 << 10;
/// How long the last words of a killed group may take to arrive. Whoever still holds the pipe then
/// has left the group.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Hears what a server writes to its standard error.
pub(super) type Listener = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Watches over the process of one server.
///
/// Dropping it ends the server as [`Supervisor::end`] does, without waiting. When the runtime or the
/// host itself is gone, what is left of the server is ended within about a second.
#[derive(Debug)]
pub struct Supervisor {
    id: u32,
    told: watch::Sender<bool>,
    exit: watch::Receiver<Option<ChildExit>>,
    program: Arc<str>,
    tail: Arc<Mutex<Tail>>,
}

impl Supervisor {
    pub(super) fn start(
        group: Group,
        stderr: ChildStderr,
        program: Arc<str>,
        options: ChildOptions,
        listener: Option<Listener>,
    ) -> Self {
        let (told, hears) = watch::channel(false);
        let (tells, exit) = watch::channel(None);
        let tail = Arc::new(Mutex::new(Tail::new(options.max_stderr_bytes)));
        let supervisor = Self {
            id: group.server_id(),
            told,
            exit,
            program: Arc::clone(&program),
            tail: Arc::clone(&tail),
        };
        let words = Words {
            stderr: Some(stderr),
            buffer: Box::new([0; READ_BYTES]),
            tail,
            listener,
        };
        let watch = Watch {
            group,
            words,
            hears,
            options,
        };
        tokio::spawn(watch.run(program, tells));
        supervisor
    }

    /// The id of the server's process, as the system counts.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// What the server wrote to its standard error last, so far. What is no UTF-8 is replaced.
    pub fn stderr(&self) -> String {
        lock(&self.tail).text()
    }

    /// Waits for the end of the server, whoever causes it. After that nothing of its group is left.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost.
    pub async fn ended(&self) -> ChildExit {
        let mut exit = self.exit.clone();
        // An error means that the runtime which ran the watch is gone.
        let exit = exit.wait_for(Option::is_some).await;
        exit.ok()
            .and_then(|exit| exit.clone())
            .unwrap_or_else(|| self.unknown_exit())
    }

    /// Ends the server and all that it started, and waits for that.
    ///
    /// Its input has to be closed first: that alone asks it to leave. If it does not within
    /// [`ChildOptions::exit_timeout`], its whole group gets `SIGTERM`, and after
    /// [`ChildOptions::terminate_timeout`] `SIGKILL`. On Windows nothing comes between the first grace and
    /// the end of the job.
    ///
    /// # Cancellation
    ///
    /// The server is ended all the same.
    pub async fn end(&self) -> ChildExit {
        self.begin_end();
        self.ended().await
    }

    /// Begins what [`Supervisor::end`] waits for.
    pub fn begin_end(&self) {
        self.told.send_replace(true);
    }

    fn unknown_exit(&self) -> ChildExit {
        ChildExit {
            program: Arc::clone(&self.program),
            status: None,
            stderr: self.stderr().into(),
            was_asked: true,
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.begin_end();
    }
}

/// The watch over one server, as a task of its own.
struct Watch {
    group: Group,
    words: Words,
    hears: watch::Receiver<bool>,
    options: ChildOptions,
}

impl Watch {
    async fn run(mut self, program: Arc<str>, tells: watch::Sender<Option<ChildExit>>) {
        let by_itself = tokio::select! {
            biased;
            ended = listen(&mut self.words, self.group.ended()) => Some(ended),
            _ = self.hears.wait_for(|told| *told) => None,
        };
        let was_asked = by_itself.is_none();
        let status = match by_itself {
            Some(status) => Some(status),
            None => self.end_server().await,
        };
        self.end_rest(status.is_some()).await;
        let status = match status {
            Some(status) => status,
            None => self.group.ended().await,
        };
        self.group.reap().await;
        tells.send_replace(Some(ChildExit {
            program,
            status: status.ok(),
            stderr: self.words.text().into(),
            was_asked,
        }));
    }

    /// Waits for a server whose input is closed, and asks its group to end if that takes too long.
    /// Gives back no status if it has to be killed.
    async fn end_server(&mut self) -> Option<io::Result<ExitStatus>> {
        for grace in [self.options.exit_timeout, self.options.terminate_timeout] {
            let ended = listen(&mut self.words, self.group.ended());
            if let Ok(status) = timeout_at(later(grace), ended).await {
                return Some(status);
            }
            if !self.group.terminate() {
                break;
            }
        }
        None
    }

    /// Ends what the server left behind. Whoever still holds its standard error is asked first.
    async fn end_rest(&mut self, may_wait: bool) {
        let is_silent = !may_wait || self.words.are_over_by(later(Duration::ZERO)).await;
        if !is_silent && self.group.terminate() {
            self.words
                .are_over_by(later(self.options.terminate_timeout))
                .await;
        }
        self.group.kill();
        self.words.are_over_by(later(LAST_WORDS)).await;
    }
}

/// What a server writes to its standard error. It is always read, so that it never blocks the server.
struct Words {
    stderr: Option<ChildStderr>,
    buffer: Box<[u8; READ_BYTES]>,
    tail: Arc<Mutex<Tail>>,
    listener: Option<Listener>,
}

impl Words {
    /// Takes what is said next; false when there is nothing more to come.
    async fn next(&mut self) -> bool {
        let Some(stderr) = &mut self.stderr else {
            return false;
        };
        match stderr.read(&mut self.buffer[..]).await {
            Ok(0) | Err(_) => self.stderr = None,
            Ok(length) => {
                let said = &self.buffer[..length];
                lock(&self.tail).push(said);
                if let Some(listener) = &self.listener {
                    listener(said);
                }
            }
        }
        self.stderr.is_some()
    }

    /// Takes everything up to the end; false if that does not come in time.
    async fn are_over_by(&mut self, deadline: Instant) -> bool {
        let all = async { while self.next().await {} };
        timeout_at(deadline, all).await.is_ok()
    }

    fn text(&self) -> String {
        lock(&self.tail).text()
    }
}

/// Waits for something while the server is listened to.
async fn listen<T>(words: &mut Words, event: impl Future<Output = T>) -> T {
    let mut event = std::pin::pin!(event);
    while words.stderr.is_some() {
        tokio::select! {
            result = &mut event => return result,
            _ = words.next() => {}
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
