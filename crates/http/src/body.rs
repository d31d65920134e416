//! Reading a body without trusting its sender: bounded in size, bounded in patience.

use std::pin::{Pin, pin};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use tokio::time::timeout;

/// Why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is longer than we take, as declared or as counted.
    TooLarge,
    /// Its sender paused for too long.
    Stalled,
    /// The connection failed.
    Broken,
}

/// Reads a body of at most `limit` bytes whose sender never pauses longer than `pause`.
///
/// A body that arrives in one piece is not copied.
///
/// # Errors
///
/// [`Unread`]. A declared length beyond the limit is refused without reading anything.
pub(crate) async fn read<B: Body>(body: B, limit: usize, pause: Duration) -> Result<Bytes, Unread> {
    let mut body = pin!(body);
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLarge);
    }
    let mut gathered = Gathered::default();
    while let Some(piece) = next_piece(body.as_mut(), pause).await? {
        if gathered.len() + piece.len() > limit {
            return Err(Unread::TooLarge);
        }
        gathered.push(piece);
    }
    Ok(gathered.into_bytes())
}

async fn next_piece<B: Body>(
    mut body: Pin<&mut B>,
    pause: Duration,
) -> Result<Option<Bytes>, Unread> {
    loop {
        if body.is_end_stream() {
            return Ok(None);
        }
        let next = std::future::poll_fn(|cx| body.as_mut().poll_frame(cx));
        let frame = match timeout(pause, next).await.map_err(|_| Unread::Stalled)? {
            None => return Ok(None),
            Some(frame) => frame.map_err(|_| Unread::Broken)?,
        };
        // Trailers say nothing to us.
        if let Some(piece) = into_bytes(frame) {
            return Ok(Some(piece));
        }
    }
}

fn into_bytes<D: bytes::Buf>(frame: Frame<D>) -> Option<Bytes> {
    let mut data = frame.into_data().ok()?;
    Some(data.copy_to_bytes(data.remaining()))
}

/// What was read so far.
#[derive(Default)]
struct Gathered {
    first: Bytes,
    all: BytesMut,
}

impl Gathered {
    fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    fn push(&mut self, piece: Bytes) {
        if self.len() == 0 {
            self.first = piece;
            return;
        }
        let first = std::mem::take(&mut self.first);
        self.all.extend_from_slice(&first);
        self.all.extend_from_slice(&piece);
    }

    fn into_bytes(self) -> Bytes {
        if self.all.is_empty() {
            return self.first;
        }
        self.all.freeze()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    use super::*;

    /// A body of pieces, without a declared length, that may stop before its end.
    struct Pieces {
        pieces: VecDeque<Bytes>,
        stalls: bool,
    }

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.pieces.pop_front() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
                None if self.stalls => Poll::Pending,
                None => Poll::Ready(None),
            }
        }
    }

    fn pieces(of: usize, count: usize) -> Pieces {
        let piece = Bytes::from(vec![b'x'; of]);
        Pieces {
            pieces: std::iter::repeat_n(piece, count).collect(),
            stalls: false,
        }
    }

    const PAUSE: Duration = Duration::from_secs(30);

    // hardening: H-142, H-143, H-144
    #[tokio::test(start_paused = true)]
    async fn the_limit_itself_is_read_and_one_more_is_not() {
        assert_eq!(
            read(pieces(1, 100), 100, PAUSE).await.expect("read").len(),
            100
        );
        assert_eq!(
            read(pieces(1, 101), 100, PAUSE).await,
            Err(Unread::TooLarge)
        );
        assert_eq!(
            read(pieces(101, 1), 100, PAUSE).await,
            Err(Unread::TooLarge)
        );
        assert_eq!(read(pieces(1, 0), 100, PAUSE).await.expect("read").len(), 0);
    }

    // hardening: H-153
    #[tokio::test(start_paused = true)]
    async fn a_sender_that_pauses_too_long_is_given_up() {
        let began = tokio::time::Instant::now();
        let stalled = Pieces {
            stalls: true,
            ..pieces(10, 2)
        };
        assert_eq!(read(stalled, 100, PAUSE).await, Err(Unread::Stalled));
        assert_eq!(began.elapsed(), PAUSE);
    }
}
