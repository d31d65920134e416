//! Bytes on their way out: small messages leave together, large bodies are never copied.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

use pintle_proto::{Frame, FramedMessages};

/// Parts below this size are copied together; copying them costs less than another slice.
const SMALL: usize = 16 << 10;
/// How many slices one write takes.
const SLICES: usize = 16;

/// Bytes that are not yet written.
#[derive(Debug)]
pub(crate) struct Outgoing<W> {
    writer: W,
    parts: VecDeque<Bytes>,
    /// The messages after `parts`, and how many of their bytes are written.
    tail: Vec<u8>,
    written: usize,
    len: usize,
    is_flushed: bool,
}

impl<W: AsyncWrite + Unpin> Outgoing<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self {
            writer,
            parts: VecDeque::new(),
            tail: Vec::new(),
            written: 0,
            len: 0,
            is_flushed: true,
        }
    }

    /// Adds a message and its line end.
    pub(crate) fn push(&mut self, frame: Frame) {
        self.len += frame.len() + 1;
        self.is_flushed = false;
        if frame.len() < SMALL {
            for part in frame.parts() {
                self.tail.extend_from_slice(part);
            }
        } else {
            frame
                .into_pieces()
                .into_iter()
                .for_each(|piece| self.push_piece(piece));
        }
        self.tail.push(b'\n');
    }

    /// Adds messages that have their line ends.
    pub(crate) fn push_lines(&mut self, lines: &FramedMessages) {
        self.len += lines.as_bytes().len();
        self.is_flushed = false;
        self.tail.extend_from_slice(lines.as_bytes());
    }

    fn push_piece(&mut self, piece: Bytes) {
        if piece.len() < SMALL {
            self.tail.extend_from_slice(&piece);
        } else {
            self.seal_tail();
            self.parts.push_back(piece);
        }
    }

    /// How many bytes are not yet written.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether everything has left, the writer's own buffer included.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0 && self.is_flushed
    }

    /// Writes as much as the peer takes at once, and flushes after the last byte.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost: the next call continues with the bytes that were not written or flushed.
    pub(crate) fn poll_write(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        if self.len > 0 {
            let written = ready!(self.poll_write_some(cx))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.advance(written);
        }
        if self.len == 0 {
            ready!(Pin::new(&mut self.writer).poll_flush(cx))?;
            self.is_flushed = true;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_some(&mut self, cx: &mut TaskContext<'_>) -> Poll<io::Result<usize>> {
        let writer = Pin::new(&mut self.writer);
        if self.parts.is_empty() {
            return writer.poll_write(cx, &self.tail[self.written..]);
        }
        let mut slices = [IoSlice::new(&[]); SLICES];
        let tail = [&self.tail[self.written..]];
        let parts = self.parts.iter().map(|part| &part[..]).chain(tail);
        let used = slices
            .iter_mut()
            .zip(parts)
            .map(|(slice, part)| *slice = IoSlice::new(part))
            .count();
        writer.poll_write_vectored(cx, &slices[..used])
    }

    fn advance(&mut self, mut written: usize) {
        self.len -= written;
        while let Some(part) = self.parts.front_mut() {
            let step = written.min(part.len());
            part.advance(step);
            written -= step;
            if !part.is_empty() {
                return;
            }
            self.parts.pop_front();
        }
        self.written += written;
        if self.written == self.tail.len() {
            self.written = 0;
            self.tail.clear();
            // A buffer that grew large is released.
            self.tail.shrink_to(4 * SMALL);
        }
    }

    fn seal_tail(&mut self) {
        let mut sealed = Bytes::from(std::mem::take(&mut self.tail));
        sealed.advance(std::mem::take(&mut self.written));
        if !sealed.is_empty() {
            self.parts.push_back(sealed);
        }
    }
}

#[cfg(feature = "client")]
impl<W: AsyncWrite + Unpin> Outgoing<W> {
    /// Waits for [`Outgoing::poll_write`].
    pub(crate) async fn write(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| self.poll_write(cx)).await
    }

    /// Closes the writer.
    pub(crate) async fn shutdown(&mut self) -> io::Result<()> {
        std::future::poll_fn(|cx| Pin::new(&mut self.writer).poll_shutdown(cx)).await
    }
}
