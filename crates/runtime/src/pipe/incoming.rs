//! Reading from a stream into lines.

use std::io;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

use pintle_proto::frame::Lines;

/// Size of one read. Its messages are answered before the next read, so this is how far a peer can
/// exceed the limits.
const READ_BYTES: usize = 64 << 10;

/// Reads once, and returns the number of bytes; 0 at the end of the stream.
///
/// # Errors
///
/// Those of the reader.
pub(crate) fn poll_read<R: AsyncRead + Unpin>(
    reader: &mut R,
    lines: &mut Lines,
    cx: &mut TaskContext<'_>,
) -> Poll<io::Result<usize>> {
    let spare = lines.spare();
    let length = spare.len().min(READ_BYTES);
    let mut buffer = ReadBuf::new(&mut spare[..length]);
    ready!(Pin::new(reader).poll_read(cx, &mut buffer))?;
    let read = buffer.filled().len();
    lines.fill(read);
    Poll::Ready(Ok(read))
}
