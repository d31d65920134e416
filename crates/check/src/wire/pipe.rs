//! Messages in lines, on the standard streams of a program or on another stream of bytes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pintle_http::client::BoxIo;
use pintle_process::{Command, SpawnError, Supervisor};
use pintle_proto::frame::{Line, Lines};
use pintle_runtime::BoxFuture;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::sync::{Mutex, mpsc};
use tokio::time::{Instant, sleep_until, timeout};

use super::reply::{End, Reply};
use super::{Sending, Wait, Wire, answer_of_client};
use crate::options::CheckOptions;

/// Lines that were read and wait for a check. A full queue slows the server down.
const QUEUED_LINES: usize = 8;

/// How long a program may take to exit after its input ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);

type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// A conversation in lines.
pub(crate) struct PipeWire {
    writer: Arc<Mutex<Option<Writer>>>,
    lines: mpsc::Receiver<io::Result<Vec<u8>>>,
    process: Option<Supervisor>,
}

impl PipeWire {
    /// Starts a program.
    pub(crate) fn start(command: &Command, options: &CheckOptions) -> Result<Self, SpawnError> {
        let child = command.start()?;
        let mut wire = Self::new(Box::new(child.stdin), child.stdout, options);
        wire.process = Some(child.supervisor);
        Ok(wire)
    }

    /// Uses an open stream.
    pub(crate) fn over(stream: BoxIo, options: &CheckOptions) -> Self {
        let (reader, writer) = split(stream);
        Self::new(Box::new(writer), reader, options)
    }

    fn new(
        writer: Writer,
        reader: impl AsyncRead + Send + Unpin + 'static,
        options: &CheckOptions,
    ) -> Self {
        let (sender, lines) = mpsc::channel(QUEUED_LINES);
        tokio::spawn(read_lines(reader, options.max_message_bytes, sender));
        Self {
            writer: Arc::new(Mutex::new(Some(writer))),
            lines,
            process: None,
        }
    }

    async fn run(&mut self, sending: Sending, wait: Wait) -> Reply {
        let mut reply = Reply::default();
        let deadline = Instant::now() + sending.timeout;
        let write = write_line(Arc::clone(&self.writer), sending.body);
        tokio::pin!(write);
        let mut is_written = false;
        while !(is_written && is_enough(&reply, &wait)) {
            tokio::select! {
                biased;
                line = self.lines.recv() => match line {
                    Some(Ok(line)) => take(&mut reply, &line, &self.writer),
                    Some(Err(error)) => reply.junk.push(error.to_string()),
                    None => {
                        reply.end = End::Lost(self.ending().await);
                        break;
                    }
                },
                written = &mut write, if !is_written => {
                    is_written = true;
                    // The end of the output gives the reason.
                    let _ = written;
                }
                () = sleep_until(deadline) => {
                    reply.end = End::TimedOut;
                    break;
                }
            }
        }
        reply
    }

    /// Describes the end of the server.
    async fn ending(&self) -> String {
        let Some(process) = &self.process else {
            return "the connection was closed".to_owned();
        };
        match timeout(Duration::from_secs(1), process.ended()).await {
            Ok(exit) => match exit.status() {
                Some(status) => format!("the program has exited ({status})"),
                None => "the program has exited".to_owned(),
            },
            Err(_) => "the program has closed its output".to_owned(),
        }
    }
}

impl Wire for PipeWire {
    fn exchange(&mut self, sending: Sending, wait: Wait) -> BoxFuture<'_, Reply> {
        Box::pin(self.run(sending, wait))
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, bool> {
        Box::pin(async move {
            let Self {
                writer,
                mut lines,
                process,
                ..
            } = *self;
            let drained = timeout(EXIT_TIMEOUT, async {
                if let Some(mut writer) = writer.lock().await.take() {
                    // Half of a stream does not end when it is dropped. An error means that it has ended.
                    let _ = writer.shutdown().await;
                }
                while lines.recv().await.is_some() {}
                if let Some(process) = &process {
                    drop(process.ended().await);
                }
            });
            drained.await.is_ok()
        })
    }
}

fn is_enough(reply: &Reply, wait: &Wait) -> bool {
    match wait {
        Wait::Answer(id) => reply.answer(id).is_some(),
        Wait::Messages(count) => reply.messages.len() >= *count,
        Wait::Response => true,
    }
}

/// Adds a line to a reply, and answers a request of the server.
fn take(reply: &mut Reply, line: &[u8], writer: &Arc<Mutex<Option<Writer>>>) {
    reply.add(line);
    let answer = reply.messages.last().and_then(answer_of_client);
    if let Some(answer) = answer {
        // Not awaited, because a server that does not read must not stop the check.
        tokio::spawn(write_line(
            Arc::clone(writer),
            answer.to_string().into_bytes(),
        ));
    }
}

async fn write_line(writer: Arc<Mutex<Option<Writer>>>, mut body: Vec<u8>) -> io::Result<()> {
    body.push(b'\n');
    let mut writer = writer.lock().await;
    match writer.as_mut() {
        Some(writer) => {
            writer.write_all(&body).await?;
            writer.flush().await
        }
        None => Ok(()),
    }
}

/// Passes lines on until the stream ends.
async fn read_lines(
    mut reader: impl AsyncRead + Unpin,
    max_bytes: usize,
    sender: mpsc::Sender<io::Result<Vec<u8>>>,
) {
    let mut lines = Lines::new(max_bytes);
    loop {
        let read = reader.read(lines.spare()).await;
        lines.fill(*read.as_ref().unwrap_or(&0));
        let is_end = matches!(read, Ok(0) | Err(_));
        loop {
            let line = match is_end {
                true => lines.finish(),
                false => lines.next_line(),
            };
            let Some(line) = line else { break };
            let line = match line {
                Line::Text(text) => Ok(text.to_vec()),
                Line::TooLong => Err(io::Error::other("a line above the size limit")),
            };
            if sender.send(line).await.is_err() {
                return;
            }
        }
        if is_end {
            return;
        }
    }
}
