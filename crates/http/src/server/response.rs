//! What a response carries: nothing, one message, or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pintle_proto::Frame as MessageFrame;

use super::events::EventStream;

/// Below this a message is copied into one piece; above it, its parts leave as they are.
const WORTH_COPYING: usize = 16 << 10;

/// The body of every response of this endpoint. It never fails.
#[derive(Debug, Default)]
pub struct ResponseBody {
    content: Content,
}

/// Closed: a response is one of these. Small, because a response moves through several layers.
#[derive(Debug, Default)]
enum Content {
    #[default]
    Nothing,
    Message(Bytes),
    Parts(Box<Parts>),
    Events(Box<EventStream>),
}

/// The parts of a large message that have not left yet.
#[derive(Debug)]
struct Parts {
    waiting: [Bytes; 3],
    next: usize,
}

impl ResponseBody {
    pub(crate) fn empty() -> Self {
        Self::default()
    }

    pub(crate) fn message(frame: MessageFrame) -> Self {
        let content = match frame.into_piece() {
            Ok(message) if message.is_empty() => Content::Nothing,
            Ok(message) => Content::Message(message),
            Err(frame) if frame.len() <= WORTH_COPYING => Content::Message(frame.to_vec().into()),
            Err(frame) => {
                let waiting = frame.into_pieces();
                Content::Parts(Box::new(Parts { waiting, next: 0 }))
            }
        };
        Self { content }
    }

    /// A stream of events.
    pub(crate) fn events(events: EventStream) -> Self {
        Self {
            content: Content::Events(Box::new(events)),
        }
    }
}

impl Parts {
    #[inline]
    fn take(&mut self) -> Option<Bytes> {
        while let Some(part) = self.waiting.get_mut(self.next) {
            self.next += 1;
            if !part.is_empty() {
                return Some(std::mem::take(part));
            }
        }
        None
    }

    #[inline]
    fn remaining(&self) -> u64 {
        self.waiting.iter().map(|part| part.len() as u64).sum()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    #[inline]
    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let content = &mut self.get_mut().content;
        let piece = match content {
            Content::Nothing => None,
            Content::Message(message) => {
                let message = std::mem::take(message);
                *content = Content::Nothing;
                Some(message)
            }
            Content::Parts(parts) => parts.take(),
            Content::Events(events) => std::task::ready!(events.poll_piece(cx)),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    #[inline]
    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Nothing => true,
            Content::Message(_) => false,
            Content::Parts(parts) => parts.remaining() == 0,
            Content::Events(_) => false,
        }
    }

    #[inline]
    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Nothing => SizeHint::with_exact(0),
            Content::Message(message) => SizeHint::with_exact(message.len() as u64),
            Content::Parts(parts) => SizeHint::with_exact(parts.remaining()),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
