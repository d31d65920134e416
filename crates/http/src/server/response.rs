//! What a response carries: nothing, one message, or a stream of events.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
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

/// Closed: a response is one of these.
#[derive(Debug, Default)]
enum Content {
    #[default]
    Nothing,
    Message(Parts),
    Events(Box<EventStream>),
}

/// The parts of a message that have not left yet.
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
        Self {
            content: Content::Message(Parts::of(frame)),
        }
    }

    /// A stream of events.
    pub(crate) fn events(events: EventStream) -> Self {
        Self {
            content: Content::Events(Box::new(events)),
        }
    }
}

impl Parts {
    fn of(frame: MessageFrame) -> Self {
        let waiting = if frame.len() <= WORTH_COPYING
            && frame.parts().iter().filter(|part| !part.is_empty()).count() > 1
        {
            let mut all = BytesMut::with_capacity(frame.len());
            frame
                .parts()
                .iter()
                .for_each(|part| all.extend_from_slice(part));
            [all.freeze(), Bytes::new(), Bytes::new()]
        } else {
            frame.into_pieces()
        };
        Self { waiting, next: 0 }
    }

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
        let piece = match &mut self.get_mut().content {
            Content::Nothing => None,
            Content::Message(parts) => parts.take(),
            Content::Events(events) => std::task::ready!(events.poll_piece(cx)),
        };
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    #[inline]
    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Nothing => true,
            Content::Message(parts) => parts.remaining() == 0,
            Content::Events(_) => false,
        }
    }

    #[inline]
    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Nothing => SizeHint::with_exact(0),
            Content::Message(parts) => SizeHint::with_exact(parts.remaining()),
            Content::Events(_) => SizeHint::default(),
        }
    }
}
