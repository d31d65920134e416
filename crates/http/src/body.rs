//! Reading a body without trusting its sender: bounded in size, bounded in patience.

use std::future::poll_fn;
use std::pin::Pin;
#[cfg(any(test, feature = "client"))]
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
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

/// Counts the bytes of bodies before memory is allocated for them.
pub(crate) trait Account {
    /// Why a body is not read.
    type Error: From<BodyError>;

    /// Counts `bytes` more.
    ///
    /// # Errors
    ///
    /// The limit that they exceed; nothing is counted then.
    fn reserve(&mut self, bytes: usize) -> Result<(), Self::Error>;
}

/// An account without a limit.
#[cfg(any(test, feature = "client"))]
struct Uncounted;

#[cfg(any(test, feature = "client"))]
impl Account for Uncounted {
    type Error = BodyError;

    fn reserve(&mut self, _: usize) -> Result<(), BodyError> {
        Ok(())
    }
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

/// Reads a body within bounds, as [`read_counted`] does, and counts nothing.
///
/// # Errors
///
/// [`BodyError`].
#[cfg(any(test, feature = "client"))]
pub(crate) async fn read<B: Body>(body: B, bounds: Bounds) -> Result<Bytes, BodyError> {
    read_counted(pin!(body), &bounds, Uncounted).await
}

/// Reads a body within bounds. `account` counts the bytes as they arrive, and not as the sender declares them.
///
/// A body that arrives in one piece is neither copied nor counted, because the buffer of its connection has
/// it already. A body that is there already needs no clock.
///
/// # Errors
///
/// [`BodyError`], and the errors of `account`. A declared length beyond the limit is refused without reading
/// anything.
pub(crate) async fn read_counted<B: Body, A: Account>(
    mut body: Pin<&mut B>,
    bounds: &Bounds,
    mut account: A,
) -> Result<Bytes, A::Error> {
    let limit = bounds.bytes;
    let hint = body.size_hint();
    if hint.lower() > limit as u64 {
        return Err(BodyError::TooLarge.into());
    }
    let declared = hint.exact().and_then(|exact| usize::try_from(exact).ok());
    let mut gathered = Gathered::up_to(declared.unwrap_or(limit));
    let mut end = None;
    while let Some(piece) = next_piece(body.as_mut(), bounds, &mut end).await? {
        if gathered.len() + piece.len() > limit {
            return Err(BodyError::TooLarge.into());
        }
        gathered.push(piece, &mut account)?;
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
struct Gathered {
    first: Bytes,
    all: Vec<u8>,
    /// The largest capacity that is useful.
    most: usize,
}

impl Gathered {
    fn up_to(most: usize) -> Self {
        Self {
            first: Bytes::new(),
            all: Vec::new(),
            most,
        }
    }

    fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    fn push<A: Account>(&mut self, piece: Bytes, account: &mut A) -> Result<(), A::Error> {
        if self.len() == 0 {
            self.first = piece;
            return Ok(());
        }
        self.make_room(self.len() + piece.len(), account)?;
        let first = std::mem::take(&mut self.first);
        self.all.extend_from_slice(&first);
        self.all.extend_from_slice(&piece);
        Ok(())
    }

    /// Doubles the capacity until `needed` bytes fit. The new capacity is counted before it is allocated.
    fn make_room<A: Account>(&mut self, needed: usize, account: &mut A) -> Result<(), A::Error> {
        let capacity = self.all.capacity();
        if needed <= capacity {
            return Ok(());
        }
        let wanted = (2 * capacity).min(self.most).max(needed);
        account.reserve(wanted - capacity)?;
        self.all.reserve_exact(wanted - self.all.len());
        Ok(())
    }

    fn into_bytes(self) -> Bytes {
        if self.all.is_empty() {
            return self.first;
        }
        self.all.into()
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

    /// Counts up to a limit.
    struct Counted {
        bytes: usize,
        most: usize,
    }

    #[derive(Debug, PartialEq)]
    enum CountedError {
        Full,
        Body(BodyError),
    }

    impl From<BodyError> for CountedError {
        fn from(error: BodyError) -> Self {
            Self::Body(error)
        }
    }

    impl Account for &mut Counted {
        type Error = CountedError;

        fn reserve(&mut self, bytes: usize) -> Result<(), CountedError> {
            if self.bytes + bytes > self.most {
                return Err(CountedError::Full);
            }
            self.bytes += bytes;
            Ok(())
        }
    }

    // A sender that declares 100 bytes and sends 20 must not reserve 100.
    #[tokio::test(start_paused = true)]
    async fn a_body_is_counted_as_it_arrives_and_not_as_it_is_declared() {
        let mut account = Counted { bytes: 0, most: 40 };
        let stalled = Pieces {
            stalls: true,
            ..pieces(10, 2)
        };
        let read = read_counted(pin!(stalled), &BOUNDS, &mut account).await;
        assert_eq!((read, account.bytes), (Err(BodyError::Stalled.into()), 20));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_of_several_pieces_is_refused_at_the_limit_of_its_account() {
        for (count, most, expected) in [
            (1, 0, Ok(10)),
            (2, 20, Ok(20)),
            (2, 19, Err(CountedError::Full)),
            (10, 99, Err(CountedError::Full)),
            (10, 160, Ok(100)),
        ] {
            let mut account = Counted { bytes: 0, most };
            let read = read_counted(pin!(pieces(10, count)), &BOUNDS, &mut account).await;
            assert_eq!(read.map(|bytes| bytes.len()), expected, "{count} {most}");
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
