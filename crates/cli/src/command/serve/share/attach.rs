//! A host, connected to the sharer of its server.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pintle::runtime::{StandardInput, StandardOutput, standard_streams};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep};

use super::SOCKET;
use crate::exit::{CliError, Exit};
use crate::shared::Files;

/// Longest time of the start of a sharer, with its server.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// Time between two attempts to connect to a sharer that starts.
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(20);
/// Number of sharers that may end before their first answer.
const ATTEMPTS: u32 = 3;
/// Most input that is sent again to the next sharer.
const REPEATED_BYTES: usize = 1 << 20;
/// The part of the sharer's log that an error shows, in bytes.
const SHOWN_LOG: usize = 4 << 10;

/// Passes bytes between the host and the sharer until one of them ends.
pub(super) async fn run(files: &Files) -> Result<(), CliError> {
    let (mut input, mut output) = standard_streams()?;
    let mut sent = Vec::new();
    for _ in 0..ATTEMPTS {
        let stream = attach(files).await?;
        match begin(stream, (&mut input, &mut output), &mut sent).await? {
            Begun::Answered(stream) => return pass(stream, input, output).await,
            Begun::InputEnded => return Ok(()),
            Begun::Refused => {}
        }
    }
    Err(failed("it ended before its first answer"))
}

/// The end of the first part of a conversation.
enum Begun {
    /// The sharer has answered.
    Answered(UnixStream),
    /// The host has ended before.
    InputEnded,
    /// The sharer has ended without an answer, so that another one can serve the same input.
    Refused,
}

/// Passes the input of the host on until the first answer. `sent` has the input that was passed on so far.
async fn begin(
    mut stream: UnixStream,
    (input, output): (&mut StandardInput, &mut StandardOutput),
    sent: &mut Vec<u8>,
) -> io::Result<Begun> {
    if stream.write_all(sent).await.is_err() {
        return Ok(Begun::Refused);
    }
    let (mut typed, mut answer) = (vec![0; 8 << 10], vec![0; 8 << 10]);
    let mut has_input = true;
    loop {
        tokio::select! {
            read = input.read(&mut typed), if has_input => {
                let read = read?;
                if read == 0 {
                    has_input = false;
                    if sent.is_empty() {
                        return Ok(Begun::InputEnded);
                    }
                    // An error means that the sharer has ended, which the other branch sees.
                    let _ = stream.shutdown().await;
                    continue;
                }
                let piece = typed.get(..read).unwrap_or_default();
                if sent.len() + read > REPEATED_BYTES {
                    let text = "the host sent too much before the first answer";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, text));
                }
                sent.extend_from_slice(piece);
                let _ = stream.write_all(piece).await;
            }
            read = stream.read(&mut answer) => {
                let read = read.unwrap_or(0);
                if read == 0 {
                    return Ok(match has_input {
                        true => Begun::Refused,
                        false => Begun::InputEnded,
                    });
                }
                output.write_all(answer.get(..read).unwrap_or_default()).await?;
                output.flush().await?;
                return Ok(Begun::Answered(stream));
            }
        }
    }
}

/// Passes bytes both ways. The end of the host ends the conversation, and its last answers are passed on.
async fn pass(
    stream: UnixStream,
    mut input: StandardInput,
    mut output: StandardOutput,
) -> Result<(), CliError> {
    let (mut from_sharer, mut to_sharer) = stream.into_split();
    let mut answers = tokio::spawn(async move { copy(&mut from_sharer, &mut output).await });
    let host = async {
        let copied = copy(&mut input, &mut to_sharer).await;
        let _ = to_sharer.shutdown().await;
        copied
    };
    tokio::select! {
        _ = host => {
            let _ = answers.await;
            Ok(())
        }
        _ = &mut answers => Err(failed("it ended")),
    }
}

/// Connects to the sharer, and starts one where the socket has no process. Hosts do so one after another.
async fn attach(files: &Files) -> Result<UnixStream, CliError> {
    let own = files.clone();
    let lock = tokio::task::spawn_blocking(move || own.locked()).await;
    let _lock = lock.map_err(io::Error::other)??;
    if let Ok(stream) = files.connect().await {
        return Ok(stream);
    }
    let mut sharer = start(files)?;
    let end = Instant::now() + START_TIMEOUT;
    while Instant::now() < end {
        if let Ok(stream) = files.connect().await {
            return Ok(stream);
        }
        if sharer.try_wait()?.is_some() {
            return Err(failed(log_of(files).trim()));
        }
        sleep(ATTEMPT_INTERVAL).await;
    }
    let _ = sharer.kill();
    Err(failed("it did not start in time"))
}

/// Starts this program as a sharer, in a process group of its own: a signal to the group of a host does not end it.
fn start(files: &Files) -> io::Result<Child> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(&files.log)?;
    log.set_len(0)?;
    Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .env(SOCKET, &files.socket)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .process_group(0)
        .spawn()
}

fn log_of(files: &Files) -> String {
    let mut text = Vec::new();
    if let Ok(file) = File::open(&files.log) {
        let _ = file.take(SHOWN_LOG as u64).read_to_end(&mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn failed(reason: &str) -> CliError {
    CliError::new(
        Exit::Unreachable,
        format!("the shared server is not available: {reason}"),
    )
}
