//! The same server at the other end of a pipe, where messages are lines.

use pintle_proto::TransportError;
use pintle_runtime::{Connect, StreamTransport};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};

use super::{HostileServer, Later, Output};

/// Bytes that a pipe buffers before its writer waits: as many as a pipe of Linux.
const HELD: usize = 64 << 10;

/// A [`HostileServer`] that is reached through a pipe of its own for each conversation.
#[derive(Debug, Clone)]
pub struct HostilePipe(HostileServer);

impl HostileServer {
    /// The same server behind a stream of bytes: its messages are framed as lines.
    pub fn over_pipe(&self) -> HostilePipe {
        HostilePipe(self.clone())
    }

    /// Opens a pipe to the server, for a client over any stream of bytes. The pipe is served on the
    /// runtime of the caller.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn pipe(&self) -> DuplexStream {
        self.lock().conversations += 1;
        let (near, far) = duplex(HELD);
        tokio::spawn(self.clone().talk(far));
        near
    }

    async fn talk(self, stream: DuplexStream) {
        let (reader, mut writer) = split(stream);
        let mut lines = BufReader::new(reader).split(b'\n');
        let mut later = Later::default();
        loop {
            let bytes = tokio::select! {
                biased;
                next = later.next() => match next {
                    Output::Text(text) => [&text[..], b"\n"].concat(),
                    Output::Raw(bytes) => bytes,
                    Output::Lose(..) | Output::LoseAll(_) => return,
                },
                line = lines.next_segment() => {
                    let Ok(Some(line)) = line else { return };
                    let message = serde_json::from_slice(&line).unwrap_or_default();
                    later.add(self.receive_message(&message));
                    continue;
                }
            };
            if writer.write_all(&bytes).await.is_err() {
                return;
            }
        }
    }
}

impl Connect for HostilePipe {
    type Transport = StreamTransport<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let (reader, writer) = split(self.0.pipe());
        Ok(StreamTransport::new(reader, writer))
    }
}
