//! Reading a body without trusting its sender: bounded in size, bounded in patience.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use pintle_runtime::deadline_after;
use tokio::time::{Instant, timeout_at};

/// The reason why a body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// The declared or counted size is above the limit.
    TooLarge,
    /// The sender paused for too long, or the body took too long in total.
    Stalled,
    /// The connection failed.
    Broken,
}

/// The limits of one body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) bytes: usize,
    /// For every piece that is waited for.
    pub(crate) pause: Duration,
    /// For all that is waited for, from the first wait on.
    pub(crate) time: Duration,
}

impl Bounds {
    /// At most `bytes`, and no longer than `time` for all of them.
    #[cfg(feature = "client")]
    pub(crate) fn within(bytes: usize, time: Duration) -> Self {
        Self {
            bytes,
            pause: time,
            time,
        }
    }
}

/// Reads a body within bounds.
///
/// A body that arrives in one piece is not copied, and one that is there already needs no clock.
///
/// # Errors
///
/// [`BodyError`]. A declared length beyond the limit is refused without reading anything.
pub(crate) async fn read<B: Body>(body: B, bounds: Bounds) -> Result<Bytes, BodyError> {
    let mut body = pin!(body);
    let limit = bounds.bytes;
    if body.size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge);
    }
    let mut gathered = Gathered::default();
    let mut end = None;
    while let Some(piece) = next_piece(body.as_mut(), &bounds, &mut end).await? {
        if gathered.len() + piece.len() > limit {
            return Err(BodyError::TooLarge);
        }
        gathered.push(piece);
    }
    Ok(gathered.into_bytes())
}

/// The next piece; `end` is when waiting ends, once it has begun.
async fn next_piece<B: Body>(
    mut body: Pin<&mut B>,
    bounds: &Bounds,
    end: &mut Option<Instant>,
) -> Result<Option<Bytes>, BodyError> {
    loop {
        if body.is_end_stream() {
            return Ok(None);
        }
        let mut poll = |cx: &mut Context<'_>| {
            let frame = body.as_mut().poll_frame(cx);
            frame.map_err(|_| BodyError::Broken)
        };
        let at_once = poll_fn(|cx| Poll::Ready(poll(cx))).await;
        let frame = match at_once {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                let now = Instant::now();
                let end = *end.get_or_insert(deadline_after(now, bounds.time));
                let until = end.min(deadline_after(now, bounds.pause));
                // Boxed, because most small bodies arrive with their head.
                let next = Box::pin(timeout_at(until, poll_fn(poll))).await;
                next.map_err(|_| BodyError::Stalled)?
            }
        };
        let Some(frame) = frame else {
            return Ok(None);
        };
        // Trailers are ignored.
        if let Some(piece) = into_bytes(frame?) {
            return Ok(Some(piece));
        }
    }
}

fn into_bytes<D: bytes::Buf>(frame: Frame<D>) -> Option<Bytes> {
    let mut data = frame.into_data().ok()?;
    Some(data.copy_to_bytes(data.remaining()))
}

/// The pieces that were read.
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
    use std::future::Future;

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
    const BOUNDS: Bounds = Bounds {
        bytes: 100,
        pause: PAUSE,
        time: Duration::from_secs(70),
    };

    // hardening: H-142, H-143, H-144
    #[tokio::test(start_paused = true)]
    async fn the_limit_itself_is_read_and_one_more_is_not() {
        assert_eq!(read(pieces(1, 100), BOUNDS).await.expect("read").len(), 100);
        assert_eq!(read(pieces(1, 101), BOUNDS).await, Err(BodyError::TooLarge));
        assert_eq!(read(pieces(101, 1), BOUNDS).await, Err(BodyError::TooLarge));
        assert_eq!(read(pieces(1, 0), BOUNDS).await.expect("read").len(), 0);
    }

    // hardening: H-153
    #[tokio::test(start_paused = true)]
    async fn a_sender_that_pauses_too_long_is_given_up() {
        let began = tokio::time::Instant::now();
        let stalled = Pieces {
            stalls: true,
            ..pieces(10, 2)
        };
        assert_eq!(read(stalled, BOUNDS).await, Err(BodyError::Stalled));
        assert_eq!(began.elapsed(), PAUSE);
    }

    /// A body that never ends: a byte after every `pause`.
    struct Trickle {
        pause: Duration,
        next: Pin<Box<tokio::time::Sleep>>,
    }

    impl Trickle {
        fn new(pause: Duration) -> Self {
            let next = Box::pin(tokio::time::sleep(pause));
            Self { pause, next }
        }
    }

    impl Body for Trickle {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            std::task::ready!(self.next.as_mut().poll(cx));
            let next = Instant::now() + self.pause;
            self.next.as_mut().reset(next);
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
        }
    }

    // hardening: H-153
    #[tokio::test(start_paused = true)]
    async fn a_sender_that_never_pauses_too_long_has_an_end_all_the_same() {
        for (pause, ends) in [(1, 70), (29, 70), (31, 30)] {
            let began = Instant::now();
            let trickle = Trickle::new(Duration::from_secs(pause));
            assert_eq!(read(trickle, BOUNDS).await, Err(BodyError::Stalled));
            assert_eq!(began.elapsed(), Duration::from_secs(ends));
        }
    }
}
