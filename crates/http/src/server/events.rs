//! A stream of events: one message each, and a sign of life when there is none.
//!
//! The stream owns what speaks on it. Dropping the stream drops the speaker; what that means is
//! the speaker's business.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use pintle_proto::{Frame, Kind, Transmit, Verdict, frame::sse};
use tokio::time::{Instant, Sleep};

/// A comment: readers ignore it, and what stands between sees that the stream lives.
const SIGN_OF_LIFE: &[u8] = b":\n\n";
/// Messages that are ready together leave together, up to about this many bytes.
const WORTH_WAITING: usize = 16 << 10;

/// One message, and how the request ended if it is the last one.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) frame: Frame,
    pub(crate) verdict: Option<Verdict>,
}

impl From<Transmit> for Said {
    fn from(transmit: Transmit) -> Self {
        let verdict = match transmit.kind {
            Kind::Answer(verdict) => Some(verdict),
            _ => None,
        };
        Self {
            frame: transmit.frame,
            verdict,
        }
    }
}

/// Something that says one message after another.
pub(crate) trait Speaker: Send {
    /// The next message; none when it has said all.
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>>;

    /// Whether the client still waits for an answer that will not come. It does not when it
    /// cancelled.
    fn is_owed(&self) -> bool {
        false
    }
}

/// The events of one response.
pub(crate) struct EventStream {
    speaker: Option<Box<dyn Speaker>>,
    ready: VecDeque<Bytes>,
    silence: Duration,
    alarm: Pin<Box<Sleep>>,
}

impl EventStream {
    /// Speaks for `speaker`, with a sign of life after every `silence`.
    pub(crate) fn new(speaker: Box<dyn Speaker>, silence: Duration) -> Self {
        Self {
            speaker: Some(speaker),
            ready: VecDeque::new(),
            silence,
            alarm: Box::pin(tokio::time::sleep(silence)),
        }
    }

    /// Puts a message in front of everything else.
    pub(crate) fn beginning_with(mut self, said: Said) -> Self {
        let mut buffer = Vec::new();
        self.write(&mut buffer, said.frame);
        self.flush(&mut buffer);
        self
    }

    /// Puts a sign of life in front of everything else.
    pub(crate) fn beginning_with_a_sign_of_life(mut self) -> Self {
        self.ready.push_back(Bytes::from_static(SIGN_OF_LIFE));
        self
    }

    /// The next bytes; none at the end.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ready.is_empty() {
            self.gather(cx);
        }
        if let Some(piece) = self.ready.pop_front() {
            self.rewind();
            return Poll::Ready(Some(piece));
        }
        if self.speaker.is_none() {
            return Poll::Ready(None);
        }
        self.poll_silence(cx)
    }

    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        std::task::ready!(self.alarm.as_mut().poll(cx));
        self.rewind();
        Poll::Ready(Some(Bytes::from_static(SIGN_OF_LIFE)))
    }

    /// The silence begins anew.
    fn rewind(&mut self) {
        // Whoever never wants a sign of life names a duration that no clock reaches.
        let end = Instant::now().checked_add(self.silence);
        if let Some(end) = end {
            self.alarm.as_mut().reset(end);
        }
    }

    /// Collects what is ready now.
    fn gather(&mut self, cx: &mut Context<'_>) {
        let mut buffer = Vec::new();
        while buffer.len() < WORTH_WAITING {
            let Some(speaker) = &mut self.speaker else {
                break;
            };
            match speaker.poll_message(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => self.speaker = None,
                Poll::Ready(Some(said)) => self.write(&mut buffer, said.frame),
            }
        }
        self.flush(&mut buffer);
    }

    fn write(&mut self, buffer: &mut Vec<u8>, frame: Frame) {
        if frame.len() < WORTH_WAITING {
            return sse::write_event(buffer, None, Some("message"), &frame.parts());
        }
        // A large message is rendered on one line already: it leaves as it is, not as a copy.
        buffer.extend_from_slice(b"event: message\ndata: ");
        for piece in frame.into_pieces() {
            if piece.len() < WORTH_WAITING {
                buffer.extend_from_slice(&piece);
            } else {
                self.flush(buffer);
                self.ready.push_back(piece);
            }
        }
        buffer.extend_from_slice(b"\n\n");
    }

    fn flush(&mut self, buffer: &mut Vec<u8>) {
        if !buffer.is_empty() {
            self.ready.push_back(std::mem::take(buffer).into());
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("ended", &self.speaker.is_none())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Says prepared messages, then stays silent or ends.
    struct Script {
        lines: VecDeque<&'static str>,
        ends: bool,
    }

    impl Speaker for Script {
        fn poll_message(&mut self, _cx: &mut Context<'_>) -> Poll<Option<Said>> {
            match self.lines.pop_front() {
                Some(line) => Poll::Ready(Some(said(Frame::whole(line.into())))),
                None if self.ends => Poll::Ready(None),
                None => Poll::Pending,
            }
        }
    }

    fn said(frame: Frame) -> Said {
        Said {
            frame,
            verdict: None,
        }
    }

    fn stream(lines: &[&'static str], ends: bool) -> EventStream {
        let script = Script {
            lines: lines.iter().copied().collect(),
            ends,
        };
        EventStream::new(Box::new(script), Duration::from_secs(15))
    }

    async fn piece(stream: &mut EventStream) -> Option<String> {
        let piece = poll_fn(|cx| stream.poll_piece(cx)).await?;
        Some(String::from_utf8(piece.to_vec()).expect("text"))
    }

    #[tokio::test(start_paused = true)]
    async fn messages_that_are_ready_together_leave_together() {
        let mut stream = stream(&["1", "2"], true);
        let expected = "event: message\ndata: 1\n\nevent: message\ndata: 2\n\n";
        assert_eq!(piece(&mut stream).await.as_deref(), Some(expected));
        assert_eq!(piece(&mut stream).await, None);
    }

    // spec: 2026-07-28 N-HTTP-16
    #[tokio::test(start_paused = true)]
    async fn silence_is_broken_by_a_comment_every_15_seconds() {
        let mut stream = stream(&[], false);
        let began = Instant::now();
        for nth in 1..=3 {
            assert_eq!(piece(&mut stream).await.as_deref(), Some(":\n\n"));
            assert_eq!(began.elapsed(), Duration::from_secs(15 * nth));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_is_passed_on_uncopied() {
        let body = Bytes::from(vec![b'x'; 1 << 20]);
        let frame = Frame::around(b"{".to_vec(), body.clone(), b"}");
        let mut stream = stream(&[], true).beginning_with(said(frame));
        assert_eq!(
            piece(&mut stream).await.as_deref(),
            Some("event: message\ndata: {")
        );
        let middle = poll_fn(|cx| stream.poll_piece(cx)).await.expect("the body");
        assert_eq!(middle.as_ptr(), body.as_ptr());
        assert_eq!(piece(&mut stream).await.as_deref(), Some("}\n\n"));
        assert_eq!(piece(&mut stream).await, None);
    }
}
