//! A conversation with a child process.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pintle_proto::{TransportError, TransportErrorKind};
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{Connect, StreamOptions, StreamTransport, Transport, Wire};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::exit::{ChildExit, SpawnError};
use super::fingerprint::Fingerprint;
use super::restart::{Permit, Restarts};
use super::supervisor::Supervisor;
use super::{ChildServer, Command};

/// Maximum time between the end of a server's output and the end of its process. A server that
/// closes its output and runs on has ended the conversation all the same.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// Record of a server's earlier processes.
#[derive(Debug, Default)]
pub(super) struct History {
    restarts: Restarts,
    last: Option<ChildExit>,
}

/// Carries a conversation with a server that runs as a child process.
#[derive(Debug)]
pub struct ChildTransport {
    server: ChildServer,
    started_at: Instant,
    command: Command,
}

/// Every connection starts a process of its own. After an end that the host did not request, the
/// next start waits, longer each time. After too many such ends in a row, connections fail for a
/// while: see [`ChildOptions::max_restarts`](super::ChildOptions::max_restarts). Clones of a
/// command share a count.
impl Connect for Command {
    type Transport = ChildTransport;

    async fn connect(&self) -> Result<ChildTransport, TransportError> {
        loop {
            match self.permit() {
                Permit::Now => break,
                Permit::After(wait) => sleep(wait).await,
                Permit::Refused(rest) => return Err(unreachable(self.crashing(rest))),
            }
        }
        let server = self.start().map_err(unreachable)?;
        Ok(ChildTransport {
            server,
            started_at: Instant::now(),
            command: self.clone(),
        })
    }

    /// Returns a key made from the program, arguments, directory and names of variables. It omits
    /// the values of variables, because they may be secrets.
    fn key(&self) -> Option<String> {
        let mut print = Fingerprint::default();
        print.add(self.program.as_encoded_bytes());
        print.add_all(self.args.iter().map(|arg| arg.as_encoded_bytes()));
        print.add_all(self.environment.names().map(|name| name.as_encoded_bytes()));
        let directory = self.working_directory().ok()?;
        print.add(directory.as_os_str().as_encoded_bytes());
        Some(format!("stdio:{print}"))
    }
}

impl Command {
    fn permit(&self) -> Permit {
        let now = Instant::now().into_std();
        lock(&self.history).restarts.permit(now, &self.options)
    }

    fn crashing(&self, rest: Duration) -> SpawnError {
        let history = lock(&self.history);
        SpawnError::Crashing {
            times: history.restarts.failures(),
            rest,
            last: history.last.clone(),
        }
    }

    /// Records the end of a server after a run of length `ran`.
    fn note(&self, exit: &ChildExit, ran: Duration, has_written: bool) {
        let now = Instant::now().into_std();
        let mut history = lock(&self.history);
        let restarts = &mut history.restarts;
        if exit.was_asked() {
            restarts.note_rest(ran, &self.options);
        } else if has_written {
            restarts.note_end(now, ran, &self.options);
        } else {
            restarts.note_silent_end(now, ran, &self.options);
        }
        history.last = Some(exit.clone());
    }
}

impl Transport for ChildTransport {
    /// When the client closes, the server's input is closed, and the end of its process is awaited:
    /// see [`Supervisor::end`]. Dropping the future begins that end without waiting for it.
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let Self {
            server,
            started_at,
            command,
        } = self;
        let supervisor = Arc::new(server.supervisor);
        let (has_written, input_closed) = (Arc::default(), Arc::new(Notify::new()));
        let input = Input {
            pipe: Some(server.stdin),
            input_closed: Arc::clone(&input_closed),
            supervisor: Arc::clone(&supervisor),
        };
        let output = Output(server.stdout, Arc::clone(&has_written));
        let streams = StreamTransport::with(output, input, streams(&command));
        let carried = tokio::select! {
            carried = streams.run(wire) => carried,
            () = last_output(&input_closed) => Err(TransportErrorKind::Disconnected.into()),
        };
        let exit = match &carried {
            Ok(()) => Some(supervisor.end().await),
            Err(error) if is_end(error) => timeout(EXIT_WAIT, supervisor.ended()).await.ok(),
            Err(_) => None,
        };
        if let Some(exit) = &exit {
            let has_written = *lock(&has_written);
            command.note(exit, started_at.elapsed(), has_written);
        }
        carried.map_err(|error| exit.map_or(error, exited))
    }
}

/// Returns the options of the streams. They wait for the end of the output as long as the server
/// may take to exit after the end of its input. The supervisor awaits the process.
fn streams(command: &Command) -> StreamOptions {
    let mut options = command.streams.clone();
    options.close_timeout = command.options.exit_timeout;
    options
}

/// Waits until the server closes its input, and then for output that it wrote before.
async fn last_output(input_closed: &Notify) {
    input_closed.notified().await;
    sleep(EXIT_WAIT).await;
}

/// Whether the server ended the streams, as opposed to the host after an invalid message.
fn is_end(error: &TransportError) -> bool {
    error.kind() == TransportErrorKind::Disconnected && error.detail().is_none()
}

fn unreachable(error: SpawnError) -> TransportError {
    TransportError::new(TransportErrorKind::Unreachable)
        .with_detail(error.to_string())
        .with_source(error)
}

fn exited(exit: ChildExit) -> TransportError {
    let error = TransportError::new(TransportErrorKind::ProcessExited);
    let error = match exit.status() {
        Some(status) => error.with_detail(status.to_string()),
        None => error,
    };
    error.with_source(exit)
}

/// The server's standard input. Closing it begins the server's end. Dropping the pipe closes it.
#[derive(Debug)]
struct Input {
    pipe: Option<ChildStdin>,
    /// Notified when the server has closed its end of the pipe.
    input_closed: Arc<Notify>,
    supervisor: Arc<Supervisor>,
}

impl Input {
    /// Writes to the pipe. If the server has closed it, usually by its exit, the write reports
    /// success: an error here would stop the client from reading output that the server wrote
    /// before.
    fn poll(
        &mut self,
        length: usize,
        write: impl FnOnce(Pin<&mut ChildStdin>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let Some(pipe) = &mut self.pipe else {
            return Poll::Ready(Ok(length));
        };
        match ready!(write(Pin::new(pipe))) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.pipe = None;
                self.input_closed.notify_one();
                Poll::Ready(Ok(length))
            }
            written => Poll::Ready(written),
        }
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll(bytes.len(), |pipe| pipe.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = parts.iter().map(|part| part.len()).sum();
        self.poll(length, |pipe| pipe.poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.pipe
            .as_ref()
            .is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.pipe {
            Some(pipe) => Pin::new(pipe).poll_flush(cx),
            None => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(pipe) = &mut self.pipe {
            ready!(Pin::new(pipe).poll_shutdown(cx))?;
        }
        self.pipe = None;
        self.supervisor.begin_end();
        Poll::Ready(Ok(()))
    }
}

/// The server's standard output, and whether the server has written any of it.
#[derive(Debug)]
struct Output(ChildStdout, Arc<Mutex<bool>>);

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.0).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            *lock(&self.1) = true;
        }
        Poll::Ready(Ok(()))
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock()
}
