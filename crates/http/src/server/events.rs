//! A stream of events: each carries one message, or keeps the connection alive.
//!
//! The stream owns its source of messages and drops it when it is dropped.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use pintle_proto::frame::Framing;
#[cfg(feature = "sse")]
use pintle_proto::frame::sse;
use pintle_proto::{AnswerStatus, Frame, FramedMessages, Outbox, Transmit, TransmitKind};
use pintle_runtime::deadline_after;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::rules::event_id::EventId;

/// A comment, which readers ignore. Proxies see that the stream is alive.
const SIGN_OF_LIFE: &[u8] = b":\n\n";
/// Messages that are ready together leave in one piece of about this many bytes.
pub(crate) const WORTH_WAITING: usize = 16 << 10;
/// Stored events of at least this many bytes leave without a copy, in a piece of their own.
const LEAST_PIECE: usize = 4 << 10;
/// Approximate size of an event without its message, in bytes.
pub(crate) const ENVELOPE: usize = 96;

/// One message, and how the request ended if it is the last one. Or notices that are events already.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingMessage {
    pub(crate) frame: Frame,
    /// Whether `frame` holds events.
    pub(crate) is_framed: bool,
    pub(crate) verdict: Option<AnswerStatus>,
    /// Its position on a stream that clients can resume.
    pub(crate) id: Option<EventId>,
}

impl From<Transmit> for OutgoingMessage {
    #[inline]
    fn from(transmit: Transmit) -> Self {
        let verdict = match transmit.kind {
            TransmitKind::Answer(verdict) => Some(verdict),
            _ => None,
        };
        Self {
            frame: transmit.frame,
            is_framed: false,
            verdict,
            id: None,
        }
    }
}

impl OutgoingMessage {
    /// Events that are written already, and the event id of the last one.
    pub(crate) fn events(events: Bytes, last: EventId) -> Self {
        Self {
            frame: Frame::shared(events),
            is_framed: true,
            verdict: None,
            id: Some(last),
        }
    }

    /// The priming event of a stream whose first event must wait: an event id without a message.
    pub(crate) fn priming(beginning: EventId, retry: Duration) -> Self {
        Self {
            frame: Frame::whole(prime(beginning, retry).into()),
            is_framed: true,
            verdict: None,
            id: Some(beginning),
        }
    }
}

impl From<FramedMessages> for OutgoingMessage {
    #[inline]
    fn from(events: FramedMessages) -> Self {
        Self {
            frame: events.into_frame(),
            is_framed: true,
            verdict: None,
            id: None,
        }
    }
}

/// A source of messages for one response.
pub(crate) trait MessageSource: Send {
    /// Returns the next message, or `None` at the end.
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>>;

    /// Returns true if the client still waits for an answer that will not follow. After it cancelled,
    /// it does not wait.
    fn is_owed(&self) -> bool {
        false
    }

    /// Returns the event id of the beginning of the stream, if a client can resume it.
    fn beginning(&mut self) -> Option<EventId> {
        None
    }
}

/// The delays of a stream. Both are settings of the endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StreamTiming {
    /// The silence after which a stream sends a comment.
    pub(crate) silence: Duration,
    /// The time that clients wait before they reconnect.
    pub(crate) retry: Duration,
}

/// The events of one response.
pub(crate) struct EventStream {
    source: Option<Box<dyn MessageSource>>,
    ready: VecDeque<Bytes>,
    /// The events after `ready`. More may follow in the same piece.
    buffer: Vec<u8>,
    silence: Duration,
    /// Ends the silence. `None` before the stream waits for the first time, because most streams never do.
    alarm: Option<Pin<Box<Sleep>>>,
    /// Whether a piece has left since the alarm was set.
    has_spoken: bool,
}

impl EventStream {
    /// Creates a stream. If clients can resume it, its first event has an event id and a retry delay.
    pub(crate) fn new(mut source: Box<dyn MessageSource>, pace: StreamTiming) -> Self {
        let beginning = source.beginning();
        Self {
            source: Some(source),
            ready: beginning
                .map(|id| prime(id, pace.retry))
                .into_iter()
                .collect(),
            buffer: Vec::new(),
            silence: pace.silence,
            alarm: None,
            has_spoken: true,
        }
    }

    /// Puts an event of another kind before all messages that follow.
    #[cfg(feature = "sse")]
    pub(crate) fn preceded_by(mut self, event: &str, data: &str) -> Self {
        sse::write_event(&mut self.buffer, None, Some(event), &[data.as_bytes()]);
        self
    }

    /// Puts a message before all messages that follow.
    pub(crate) fn beginning_with(mut self, message: OutgoingMessage) -> Self {
        // The first event has the event id of the stream, and leaves with the message.
        if self.buffer.is_empty()
            && let Some(prime) = self.ready.pop_back()
        {
            self.buffer = prime.into();
        }
        self.write(message);
        self
    }

    /// Sends a comment at once, so that the peer sees the stream.
    pub(crate) fn beginning_with_a_sign_of_life(mut self) -> Self {
        if self.ready.is_empty() && self.buffer.is_empty() {
            self.buffer.extend_from_slice(SIGN_OF_LIFE);
        }
        self
    }

    /// Returns the next bytes, or `None` at the end.
    pub(crate) fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ready.is_empty() {
            self.gather(cx);
        }
        if let Some(piece) = self.ready.pop_front() {
            self.has_spoken = true;
            return Poll::Ready(Some(piece));
        }
        if self.source.is_none() {
            return Poll::Ready(None);
        }
        self.poll_silence(cx)
    }

    /// Waits for the end of the silence, which begins with the first wait after a piece.
    fn poll_silence(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let (begins, silence) = (std::mem::take(&mut self.has_spoken), self.silence);
        let end = || deadline_after(Instant::now(), silence);
        let alarm = match &mut self.alarm {
            None => self.alarm.insert(Box::pin(sleep_until(end()))),
            Some(alarm) => {
                if begins {
                    alarm.as_mut().reset(end());
                }
                alarm
            }
        };
        std::task::ready!(alarm.as_mut().poll(cx));
        self.has_spoken = true;
        Poll::Ready(Some(Bytes::from_static(SIGN_OF_LIFE)))
    }

    /// Collects the messages that are ready now.
    fn gather(&mut self, cx: &mut Context<'_>) {
        while self.buffer.len() < WORTH_WAITING {
            let Some(source) = &mut self.source else {
                break;
            };
            match source.poll_message(cx) {
                Poll::Pending => break,
                Poll::Ready(None) => self.source = None,
                Poll::Ready(Some(message)) => self.write(message),
            }
        }
        self.flush();
    }

    fn write(&mut self, message: OutgoingMessage) {
        let OutgoingMessage {
            frame,
            is_framed,
            id,
            ..
        } = message;
        if is_framed {
            return self.write_framed(frame, id.is_some());
        }
        write_id(&mut self.buffer, id);
        if frame.len() < WORTH_WAITING {
            return write_data(&mut self.buffer, &frame.parts());
        }
        // The body of a large message is not copied.
        Framing::Event.write_before(&mut self.buffer);
        self.write_pieces(frame);
        Framing::Event.write_after(&mut self.buffer);
    }

    fn write_pieces(&mut self, frame: Frame) {
        for piece in frame.into_pieces() {
            if piece.len() < WORTH_WAITING {
                self.buffer.extend_from_slice(&piece);
            } else {
                self.flush();
                self.ready.push_back(piece);
            }
        }
    }

    /// Adds events. They are copied if other events precede them in the piece. Many stored events share their memory, so
    /// they are not copied.
    fn write_framed(&mut self, events: Frame, are_stored: bool) {
        if are_stored && events.len() >= LEAST_PIECE {
            self.flush();
            let pieces = events.into_pieces().into_iter();
            self.ready.extend(pieces.filter(|piece| !piece.is_empty()));
        } else if self.buffer.is_empty() {
            self.buffer = events.into_vec();
        } else {
            let parts = events.parts();
            parts
                .iter()
                .for_each(|part| self.buffer.extend_from_slice(part));
        }
    }

    fn flush(&mut self) {
        if !self.buffer.is_empty() {
            self.ready
                .push_back(std::mem::take(&mut self.buffer).into());
        }
    }
}

/// Writes messages as events of one stream, with an event id each.
pub(crate) struct EventWriter {
    pub(crate) buffer: Vec<u8>,
    /// The field of an event id, up to the position.
    id: Vec<u8>,
}

impl EventWriter {
    /// Writes events of the stream of `id`, with room for the messages that wait in `outbox`.
    pub(crate) fn new(id: EventId, outbox: &Outbox) -> Self {
        let mut field = b"id: ".to_vec();
        id.write_stream(&mut field);
        let size = outbox.bytes() + outbox.len() * ENVELOPE;
        Self {
            buffer: Vec::with_capacity(size.min(2 * WORTH_WAITING)),
            id: field,
        }
    }

    /// Adds a message in parts. `position` is that of its event id. Returns the end of the event.
    pub(crate) fn write(&mut self, position: u64, message: &[&[u8]]) -> usize {
        self.buffer.extend_from_slice(&self.id);
        EventId::write_position(&mut self.buffer, position);
        self.buffer.push(b'\n');
        write_data(&mut self.buffer, message);
        self.buffer.len()
    }
}

/// Writes an event, except its event id. A message is one line, as on a pipe, so it is the data as it is.
fn write_data(buffer: &mut Vec<u8>, message: &[&[u8]]) {
    buffer.reserve(message.iter().map(|part| part.len()).sum::<usize>() + ENVELOPE);
    Framing::Event.write_before(buffer);
    message
        .iter()
        .for_each(|part| buffer.extend_from_slice(part));
    Framing::Event.write_after(buffer);
}

/// The fields of an event may stand in any order.
fn write_id(buffer: &mut Vec<u8>, id: Option<EventId>) {
    if let Some(id) = id {
        buffer.extend_from_slice(b"id: ");
        id.write(buffer);
        buffer.push(b'\n');
    }
}

/// Renders a priming event: an event id without a message, so that the client can resume.
fn prime(beginning: EventId, retry: Duration) -> Bytes {
    format!("retry: {}\nid: {beginning}\ndata: \n\n", retry.as_millis()).into()
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("ended", &self.source.is_none())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Sends prepared messages, then stays silent or ends.
    struct Script {
        lines: VecDeque<&'static str>,
        ends: bool,
    }

    impl MessageSource for Script {
        fn poll_message(&mut self, _cx: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
            match self.lines.pop_front() {
                Some(line) => Poll::Ready(Some(message(Frame::whole(line.into())))),
                None if self.ends => Poll::Ready(None),
                None => Poll::Pending,
            }
        }
    }

    fn message(frame: Frame) -> OutgoingMessage {
        OutgoingMessage {
            frame,
            is_framed: false,
            verdict: None,
            id: None,
        }
    }

    fn stream(lines: &[&'static str], ends: bool) -> EventStream {
        let script = Script {
            lines: lines.iter().copied().collect(),
            ends,
        };
        let pace = StreamTiming {
            silence: Duration::from_secs(15),
            retry: Duration::from_secs(3),
        };
        EventStream::new(Box::new(script), pace)
    }

    async fn piece(stream: &mut EventStream) -> Option<String> {
        let piece = poll_fn(|cx| stream.poll_piece(cx)).await?;
        Some(String::from_utf8(piece.to_vec()).expect("text"))
    }

    // spec: 2025-11-25 AMB-31
    #[tokio::test(start_paused = true)]
    async fn messages_that_are_ready_together_leave_together() {
        let mut stream = stream(&["1", "2"], true);
        let expected = "event: message\ndata: 1\n\nevent: message\ndata: 2\n\n";
        assert_eq!(piece(&mut stream).await.as_deref(), Some(expected));
        assert_eq!(piece(&mut stream).await, None);
    }

    // spec: 2026-07-28 N-HTTP-16, N-SUBS-19
    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_sends_a_comment_every_15_seconds() {
        let mut stream = stream(&[], false);
        let began = Instant::now();
        for nth in 1..=3 {
            assert_eq!(piece(&mut stream).await.as_deref(), Some(":\n\n"));
            assert_eq!(began.elapsed(), Duration::from_secs(15 * nth));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn messages_at_the_beginning_leave_in_order() {
        let texts = ["1".repeat(WORTH_WAITING), "2".into(), "3".into()];
        let begun = texts[..2]
            .iter()
            .fold(stream(&["3"], true), |stream, text| {
                stream.beginning_with(message(Frame::whole(text.clone().into())))
            });
        let mut stream = begun.beginning_with_a_sign_of_life();
        let mut received = String::new();
        while let Some(piece) = piece(&mut stream).await {
            received += &piece;
        }
        let expected = texts.map(|text| format!("event: message\ndata: {text}\n\n"));
        assert_eq!(received, expected.concat());
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_message_is_not_copied() {
        let body = Bytes::from(vec![b'x'; 1 << 20]);
        let frame = Frame::around(b"{".to_vec(), body.clone(), b"}");
        let mut stream = stream(&[], true).beginning_with(message(frame));
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
