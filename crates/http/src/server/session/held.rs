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
