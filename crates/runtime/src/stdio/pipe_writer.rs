//! The writer of a pipe, whose buffer grows when an answer does not fit into it.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::pipe::fcntl_setpipe_size;
use tokio::io::AsyncWrite;
use tokio::net::unix::pipe::Sender;

/// Size of a buffer that has grown, in bytes. Linux starts with 64 KiB.
const GROWN: usize = 256 << 10;

/// A pipe whose buffer in the system grows once, after the first write that does not fit.
///
/// The system then takes several large answers at a time, and the reader and the writer wake each other less often.
/// A pipe that has no large answers stays small, because the system bounds the buffers of each user
/// (`/proc/sys/fs/pipe-user-pages-soft`). Where this bound is reached, the buffer stays as it is.
#[derive(Debug)]
pub(super) struct PipeWriter {
    sender: Sender,
    may_grow: bool,
}

impl PipeWriter {
    pub(super) fn new(sender: Sender) -> Self {
        Self {
            sender,
            may_grow: true,
        }
    }

    /// Lets the buffer grow if the pipe took only a part of so many bytes.
    ///
    /// A pipe that takes nothing may also be one whose state is not known yet.
    fn grow_after_part(&mut self, length: usize, written: &Poll<io::Result<usize>>) {
        let is_part = matches!(written, Poll::Ready(Ok(written)) if *written < length);
        if self.may_grow && is_part {
            self.may_grow = false;
            if let Err(error) = fcntl_setpipe_size(&self.sender, GROWN) {
                tracing::debug!(%error, "the buffer of standard output stays small");
            }
        }
    }
}

impl AsyncWrite for PipeWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.sender).poll_write(cx, bytes);
        self.grow_after_part(bytes.len(), &written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.sender).poll_write_vectored(cx, parts);
        let length = parts.iter().map(|part| part.len()).sum();
        self.grow_after_part(length, &written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.sender.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sender).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.sender).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use rustix::pipe::fcntl_getpipe_size;
    use tokio::io::AsyncWriteExt;

    use super::*;

    fn pipe() -> (io::PipeReader, PipeWriter) {
        let (reader, writer) = io::pipe().expect("a pipe");
        let writer = Sender::from_owned_fd(OwnedFd::from(writer)).expect("a pipe");
        (reader, PipeWriter::new(writer))
    }

    #[tokio::test]
    async fn a_pipe_grows_after_the_first_write_that_does_not_fit() {
        let (reader, mut writer) = pipe();
        let before = fcntl_getpipe_size(&reader).expect("a size");
        writer.write_all(b"small").await.expect("it fits");
        assert_eq!(fcntl_getpipe_size(&reader), Ok(before));
        let large = vec![b'a'; before + GROWN / 2];
        // Nothing is read, so the end of the text needs the larger buffer.
        writer.write_all(&large).await.expect("it fits now");
        assert_eq!(fcntl_getpipe_size(&reader), Ok(GROWN));
    }
}
