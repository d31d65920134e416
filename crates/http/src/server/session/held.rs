//! The messages of a reader that wait until the log of their stream has them.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use super::journal::Released;
use crate::server::events::OutgoingMessage;

/// Messages beyond one of these limits wait in their outbox, where they may be merged or dropped.
const MAX_MESSAGES: usize = 64;
const MAX_BYTES: usize = 64 << 10;

/// The messages that a reader has taken, and that may not be sent yet.
#[derive(Debug)]
pub(super) struct Held {
    released: Released,
    messages: VecDeque<OutgoingMessage>,
    bytes: usize,
}

/// The next message of a reader.
#[derive(Debug)]
pub(super) enum Next {
    Message(OutgoingMessage),
    /// No message waits.
    Nothing,
    /// A message waits for the log.
    Later,
    /// Another replica has ended the stream.
    TakenOver,
}

impl Held {
    pub(super) fn new(released: Released, messages: VecDeque<OutgoingMessage>) -> Self {
        Self {
            released,
            bytes: messages.iter().map(|message| message.frame.len()).sum(),
            messages,
        }
    }

    /// Returns true if fewer messages are held than the limits.
    pub(super) fn has_room(&self) -> bool {
        self.messages.len() < MAX_MESSAGES && self.bytes < MAX_BYTES
    }

    pub(super) fn push(&mut self, message: OutgoingMessage) {
        self.bytes += message.frame.len();
        self.messages.push_back(message);
    }

    /// Drops the messages, because another reader sends them.
    pub(super) fn clear(&mut self) {
        self.messages.clear();
        self.bytes = 0;
    }

    /// Returns the next message. Wakes `cx` once the log has a message that waits.
    pub(super) fn next(&mut self, cx: Option<&Context<'_>>) -> Next {
        let Some(message) = self.messages.front() else {
            return Next::Nothing;
        };
        let number = message.id.map_or(0, |id| id.position);
        match self.released.poll(number, cx) {
            Poll::Pending => Next::Later,
            Poll::Ready(false) => Next::TakenOver,
            Poll::Ready(true) => self.pop().map_or(Next::Nothing, Next::Message),
        }
    }

    fn pop(&mut self) -> Option<OutgoingMessage> {
        let message = self.messages.pop_front()?;
        self.bytes -= message.frame.len();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use pintle_proto::Frame;

    use super::*;
    use crate::rules::event_id::EventId;
    use crate::server::session::journal::tests::{begin, fleet};

    fn message(position: u64, bytes: usize) -> OutgoingMessage {
        let frame = Frame::around(vec![b'x'; bytes], Vec::new().into(), b"");
        OutgoingMessage {
            frame: frame.into_shared(),
            is_framed: false,
            verdict: None,
            id: Some(EventId {
                tag: 1,
                stream: 1,
                position,
            }),
        }
    }

    #[tokio::test]
    async fn a_reader_holds_messages_up_to_its_limits() {
        for (count, bytes) in [(MAX_MESSAGES, 1), (16, MAX_BYTES / 16)] {
            let journal = begin(&fleet().await, 100, MAX_BYTES * 2, &Default::default());
            let mut held = Held::new(journal.released(), VecDeque::new());
            for position in 1..=count as u64 {
                assert!(held.has_room(), "{position} of {count}");
                held.push(message(position, bytes));
            }
            assert!(!held.has_room(), "{count} messages of {bytes} bytes");
            assert!(matches!(held.next(None), Next::Later));
            held.clear();
            assert!(held.has_room());
        }
    }
}
