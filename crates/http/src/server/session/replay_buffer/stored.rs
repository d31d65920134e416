//! Messages in the pieces in which they left.

use pintle_proto::Frame;

use crate::server::events::OutgoingMessage;

/// A message, or events that left together. Each event counts as a message.
#[derive(Debug)]
pub(super) struct Stored {
    piece: OutgoingMessage,
    /// Where each event ends. Empty if the piece is one message.
    ends: Vec<usize>,
    /// Number of the first messages, which are not stored any more.
    dropped: usize,
}

impl Stored {
    pub(super) fn message(message: OutgoingMessage) -> Self {
        Self::events(message, Vec::new())
    }

    /// Stores events in one buffer; `ends` has the end of each.
    pub(super) fn events(piece: OutgoingMessage, ends: Vec<usize>) -> Self {
        Self {
            piece,
            ends,
            dropped: 0,
        }
    }

    /// Number of messages.
    pub(super) fn len(&self) -> usize {
        self.ends.len().max(1) - self.dropped
    }

    /// Length of the messages, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.piece.frame.len() - self.begin(self.dropped)
    }

    /// Drops the first message, and returns its length. The memory of events is released with the last one.
    pub(super) fn drop_first(&mut self) -> usize {
        let before = self.bytes();
        self.dropped += 1;
        before - self.bytes()
    }

    /// Returns the messages without the first ones. `None` if no message is left.
    pub(super) fn after(&self, skipped: usize) -> Option<OutgoingMessage> {
        if skipped >= self.len() {
            return None;
        }
        let mut rest = self.piece.clone();
        let begin = self.begin(self.dropped + skipped);
        if begin > 0 {
            rest.frame = Frame::shared(rest.frame.into_piece().ok()?.slice(begin..));
        }
        Some(rest)
    }

    /// Position of a message in the piece, also of the end.
    fn begin(&self, message: usize) -> usize {
        let Some(before) = message.checked_sub(1) else {
            return 0;
        };
        let end = self.ends.get(before).copied();
        end.unwrap_or_else(|| self.piece.frame.len())
    }
}
