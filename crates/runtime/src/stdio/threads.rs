//! Blocking streams, each on a thread of its own.
//!
//! The runtime's own blocking pool is not used: a read that never ends would keep the runtime
//! from ending.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// Chunks that wait between the thread and the driver.
const QUEUED: usize = 4;

/// Takes standard input and output.
#[cfg(not(unix))]
pub(super) fn take_streams() -> io::Result<(Reader, Writer)> {
    Ok((Reader::new(io::stdin()), Writer::new(io::stdout())))
}

/// Reads on a thread.
#[derive(Debug)]
pub(super) struct Reader {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl Reader {
    pub(super) fn new(source: impl Read + Send + 'static) -> Self {
        let (sender, chunks) = mpsc::channel(QUEUED);
        thread::spawn(move || read_all(source, &sender));
        Self {
            chunks,
            rest: Bytes::new(),
        }
    }
}

fn read_all(mut source: impl Read, chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => Ok(Bytes::copy_from_slice(&buffer[..read])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || is_last {
            return;
        }
    }
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.rest = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let step = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest.split_to(step));
        Poll::Ready(Ok(()))
    }
}

/// Writes on a thread, one chunk at a time.
#[derive(Debug)]
pub(super) struct Writer {
    chunks: mpsc::Sender<Bytes>,
    written: mpsc::Receiver<io::Result<()>>,
    is_writing: bool,
}

impl Writer {
    pub(super) fn new(target: impl Write + Send + 'static) -> Self {
        let (chunks, to_write) = mpsc::channel(1);
        let (report, written) = mpsc::channel(1);
        thread::spawn(move || write_all(target, to_write, &report));
        Self {
            chunks,
            written,
            is_writing: false,
        }
    }

    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.is_writing {
            return Poll::Ready(Ok(()));
        }
        let report = ready!(self.written.poll_recv(cx));
        self.is_writing = false;
        Poll::Ready(report.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())))
    }
}

fn write_all(
    mut target: impl Write,
    mut chunks: mpsc::Receiver<Bytes>,
    report: &mpsc::Sender<io::Result<()>>,
) {
    while let Some(mut chunk) = chunks.blocking_recv() {
        let written = target.write_all(&chunk).and_then(|()| target.flush());
        chunk.advance(chunk.len());
        if report.blocking_send(written).is_err() {
            return;
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_idle(cx))?;
        if self.chunks.try_send(Bytes::copy_from_slice(bytes)).is_err() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        self.is_writing = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_idle(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}
