//! Messages in lines.

use std::fmt;
use std::sync::Arc;

use pintle_http::client::BoxIo;
use pintle_proto::frame::{Line, Lines};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::sync::{Semaphore, mpsc};

use super::super::record::Kind;
use super::super::scene::Play;
use super::super::script::{Actor, Out, Part};
use super::super::stage::Stage;

/// Messages of one conversation that are served at once.
const MAX_RUNNING: usize = 64;
/// Parts that wait for the client to read.
const QUEUED_PARTS: usize = 64;
/// The last line of a relay whose own input has ended.
const END_OF_INPUT: &[u8] = b"\x04";

/// The scripted server of one visit, for byte streams with one message per line. Clones are the same server.
#[derive(Clone)]
pub struct StdioServer {
    pub(crate) stage: Arc<Stage>,
    pub(crate) visit: usize,
    pub(crate) play: Play,
}

impl StdioServer {
    /// The line that a relay writes after the end of its input. A killed relay does not write it.
    pub const END_OF_INPUT: &[u8] = b"\x04\n";

    /// Serves one conversation, until the client closes the stream.
    pub async fn serve(&self, stream: BoxIo) {
        self.run(stream, false).await;
    }

    /// Serves one conversation through a relay that ends its input with [`END_OF_INPUT`](Self::END_OF_INPUT).
    pub async fn serve_relay(&self, stream: BoxIo) {
        self.run(stream, true).await;
    }

    async fn run(&self, stream: BoxIo, is_relayed: bool) {
        let (mut reader, writer) = split(stream);
        let (sender, parts) = mpsc::channel(QUEUED_PARTS);
        let writing = tokio::spawn(write(writer, parts));
        let out = Out(sender);
        let actor = Arc::new(self.stage.actor(self.visit, self.play, false));
        let permits = Arc::new(Semaphore::new(MAX_RUNNING));
        let mut lines = Lines::new(self.stage.options.max_message_bytes);
        let mut is_ended = !is_relayed;
        loop {
            let read = reader.read(lines.spare()).await;
            lines.fill(*read.as_ref().unwrap_or(&0));
            let is_end = matches!(read, Ok(0) | Err(_));
            while let Some(line) = lines.next_line() {
                match line {
                    Line::Text(END_OF_INPUT) if is_relayed => is_ended = true,
                    Line::Text(text) => receive(&actor, text, &out, &permits).await,
                    Line::TooLong => {
                        actor.add(0, Kind::Junk("a line above the size limit".to_owned()))
                    }
                }
            }
            if is_end || (is_relayed && is_ended) {
                break;
            }
        }
        if let Some(Line::Text(rest)) = lines.finish() {
            actor.add(
                rest.len(),
                Kind::Junk(String::from_utf8_lossy(rest).into_owned()),
            );
        }
        actor.add(0, Kind::Ended(is_ended));
        drop(out);
        writing.abort();
        // The task ends at its next wait, and drops the stream.
        let _ = writing.await;
    }
}

async fn receive(actor: &Arc<Actor>, line: &[u8], out: &Out, permits: &Arc<Semaphore>) {
    if line.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        let text = String::from_utf8_lossy(line).into_owned();
        return actor.add(line.len(), Kind::Junk(text));
    };
    let Ok(permit) = Arc::clone(permits).acquire_owned().await else {
        return;
    };
    let (actor, out) = (Arc::clone(actor), out.clone());
    tokio::spawn(async move {
        actor.receive(message, None, out).await;
        drop(permit);
    });
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut parts: mpsc::Receiver<Part>) {
    while let Some(part) = parts.recv().await {
        let mut line = match part {
            Part::Message(message) => message.to_string(),
            Part::Text(text) => text,
            Part::Prime { .. } | Part::Status(_) => continue,
        };
        line.push('\n');
        if writer.write_all(line.as_bytes()).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

impl fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StdioServer").field(&self.play).finish()
    }
}
