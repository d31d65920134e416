//! Passes the bytes between a host and a server on stdio.

use std::io;
use std::pin::pin;
use std::time::Duration;

use pintle_process::{ChildExit, ChildServer, Command, SpawnError};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::framing::Framing;
use crate::observer::Direction;
use crate::tap::Tap;

/// Size of a read buffer, in bytes.
const READ_BYTES: usize = 64 << 10;
/// Maximum silence of the output of a server whose process has ended. A process that still holds the output then
/// has left the group of the server.
const OUTPUT_IDLE_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum time for the rest of the output after a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// The only stream on stdio.
const STREAM: u64 = 0;

/// Starts a server, and passes its bytes unchanged until its process ends. The tap observes copies of them.
///
/// `input` is passed to the server, and the output of the server to `output`. The end of either is passed on as
/// well. When `stop` is complete, the server and its descendants are ended: see
/// [`Supervisor::end`](pintle_process::Supervisor::end). A dropped future ends them, too.
///
/// # Errors
///
/// [`SpawnError`], if the server does not start.
///
/// # Panics
///
/// Outside of a tokio runtime with I/O and time enabled.
pub async fn tap_stdio(
    command: &Command,
    tap: &Tap,
    input: impl AsyncRead,
    output: impl AsyncWrite,
    stop: impl Future<Output = ()>,
) -> Result<ChildExit, SpawnError> {
    let ChildServer {
        stdin,
        stdout,
        supervisor,
    } = command.start()?;
    for direction in [Direction::ToServer, Direction::ToClient] {
        tap.begin(STREAM, direction, Framing::Lines);
    }
    let (ends, end) = watch::channel(End::Running);
    let downward = async {
        if pass(input, stdin, Direction::ToServer, tap, pending())
            .await
            .is_err()
        {
            tap.note("the server has closed its input");
        }
        std::future::pending::<()>().await
    };
    let upward = async {
        let idle = || idle_after_end(end.clone());
        if pass(stdout, output, Direction::ToClient, tap, idle)
            .await
            .is_err()
        {
            tap.note("the host has closed its input");
        }
    };
    let ended = async {
        let (exit, end) = tokio::select! {
            exit = supervisor.ended() => (exit, End::Exited),
            () = stop => (supervisor.end().await, End::Stopped),
        };
        ends.send_replace(end);
        exit
    };
    let both = async {
        let stopped = stop_timeout(end.clone());
        let rest = async {
            tokio::select! { () = upward => {}, () = stopped => {} }
        };
        tokio::join!(ended, rest).0
    };
    tokio::select! {
        exit = both => {
            tap.close(STREAM);
            Ok(exit)
        }
        () = downward => unreachable!("it waits without an end"),
    }
}

/// The state of the process of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Running,
    Exited,
    Stopped,
}

fn pending() -> impl Fn() -> std::future::Pending<()> {
    std::future::pending
}

/// Waits for the end of the process, and then for a silence.
async fn idle_after_end(mut end: watch::Receiver<End>) {
    // The sender is in the same future.
    let _ = end.wait_for(|end| *end != End::Running).await;
    sleep(OUTPUT_IDLE_TIMEOUT).await;
}

/// Waits for a stop, and then for the rest of the output.
async fn stop_timeout(mut end: watch::Receiver<End>) {
    let _ = end.wait_for(|end| *end == End::Stopped).await;
    sleep(STOP_TIMEOUT).await;
}

/// Passes bytes until the end of the input. `idle` ends a read that takes too long. An error means that the output
/// is closed. Both streams are closed at the end.
async fn pass<I: Future<Output = ()>>(
    from: impl AsyncRead,
    to: impl AsyncWrite,
    direction: Direction,
    tap: &Tap,
    idle: impl Fn() -> I,
) -> io::Result<()> {
    let (mut from, mut to) = (pin!(from), pin!(to));
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = tokio::select! {
            biased;
            read = from.read(&mut buffer) => read,
            () = idle() => Ok(0),
        };
        // A broken input has ended.
        let length = read.unwrap_or(0);
        if length == 0 {
            break;
        }
        // Before they are passed on, because the answer must not be observed before its request.
        tap.bytes(STREAM, direction, &buffer[..length]);
        to.write_all(&buffer[..length]).await?;
        to.flush().await?;
    }
    tap.end(STREAM, direction);
    to.shutdown().await
}
