//! Small messages that follow each other, in one buffer and in the frames of their transport.

use std::collections::VecDeque;

use crate::frame::Framing;
use crate::io::Frame;

/// Room for the first messages, in bytes.
const ROOM: usize = 1 << 10;
/// Room for the messages after them, in bytes: as much as leaves at once.
const MORE_ROOM: usize = 16 << 10;
/// Length of most messages, in bytes.
const USUAL: usize = 128;

/// Messages in one buffer, each in its frame.
#[derive(Debug)]
pub struct FramedMessages {
    framing: Framing,
    bytes: Vec<u8>,
    /// Position of the first message that has not left.
    start: usize,
    /// Lengths of the messages that have not left, with their frames.
    lengths: VecDeque<usize>,
}

impl FramedMessages {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            bytes: Vec::new(),
            start: 0,
            lengths: VecDeque::new(),
        }
    }

    /// The messages and their frames.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// The messages and their frames, as one frame.
    #[inline]
    pub fn into_frame(self) -> Frame {
        Frame::from_offset(self.bytes, self.start)
    }

    /// The number of messages.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.lengths.len()
    }

    /// Length of the messages without their frames, in bytes.
    #[inline]
    pub(crate) fn message_bytes(&self) -> usize {
        self.as_bytes().len() - self.count() * self.frame_bytes()
    }

    #[inline]
    fn frame_bytes(&self) -> usize {
        let (before, after) = self.framing.lengths();
        before + after
    }

    /// Adds the message that `write` writes. Returns its length; `None` if it is longer than `max_bytes`
    /// and was not added.
    #[inline]
    pub(crate) fn push(
        &mut self,
        max_bytes: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Option<usize> {
        let before = self.bytes.len();
        // Most runs are one small message. The others grow once, because a buffer is copied when it grows.
        if before == 0 {
            self.bytes.reserve(ROOM);
        } else if self.bytes.capacity() - before < ROOM / 4 {
            self.bytes.reserve(MORE_ROOM);
            self.lengths.reserve(MORE_ROOM / USUAL);
        }
        self.framing.write_before(&mut self.bytes);
        write(&mut self.bytes);
        self.framing.write_after(&mut self.bytes);
        let framed = self.bytes.len() - before;
        let length = framed - self.frame_bytes();
        if length > max_bytes {
            self.bytes.truncate(before);
            return None;
        }
        self.lengths.push_back(framed);
        Some(length)
    }

    /// The first message, without its frame.
    #[inline]
    pub(crate) fn first(&self) -> &[u8] {
        let framed = self.lengths.front().copied().unwrap_or_default();
        let (before, after) = self.framing.lengths();
        &self.as_bytes()[before..framed - after]
    }

    /// Removes the first message.
    #[inline]
    pub(crate) fn remove_first(&mut self) {
        self.start += self.lengths.pop_front().unwrap_or_default();
    }

    /// Removes the first messages, of at most `max_bytes` in all, and passes each to `act`. Returns their number and
    /// their bytes.
    pub(crate) fn drain(&mut self, max_bytes: usize, mut act: impl FnMut(&[u8])) -> (usize, usize) {
        let (mut count, mut bytes) = (0, 0);
        while self.count() > 0 {
            let message = self.first();
            if bytes + message.len() > max_bytes {
                break;
            }
            (count, bytes) = (count + 1, bytes + message.len());
            act(message);
            self.remove_first();
        }
        (count, bytes)
    }

    /// Removes and returns as many messages as `max_bytes` allow, at least one.
    pub(crate) fn take(&mut self, max_bytes: usize) -> Self {
        if self.as_bytes().len() <= max_bytes {
            return std::mem::replace(self, Self::new(self.framing));
        }
        let mut taken = Self::new(self.framing);
        let mut end = self.start;
        while let Some(length) = self.lengths.front().copied()
            && (taken.lengths.is_empty() || end + length - self.start <= max_bytes)
        {
            end += length;
            taken.lengths.extend(self.lengths.pop_front());
        }
        taken.bytes.extend_from_slice(&self.bytes[self.start..end]);
        self.start = end;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(framing: Framing, texts: &[&str]) -> FramedMessages {
        let mut messages = FramedMessages::new(framing);
        for text in texts {
            let length = messages.push(100, |out| out.extend_from_slice(text.as_bytes()));
            assert_eq!(length, Some(text.len()));
        }
        messages
    }

    /// Removes all messages one by one.
    fn texts(mut messages: FramedMessages) -> Vec<String> {
        let mut texts = Vec::new();
        while messages.count() > 0 {
            let text = String::from_utf8(messages.first().to_vec());
            texts.push(text.expect("text"));
            messages.remove_first();
        }
        assert_eq!(
            (messages.as_bytes(), messages.message_bytes()),
            (&b""[..], 0)
        );
        texts
    }

    #[test]
    fn messages_have_the_frame_of_their_transport() {
        for (framing, expected) in [
            (Framing::Line, "a\n\nbcd\n"),
            (
                Framing::Event,
                "event: message\ndata: a\n\nevent: message\ndata: \n\nevent: message\ndata: bcd\n\n",
            ),
        ] {
            let messages = messages(framing, &["a", "", "bcd"]);
            assert_eq!(messages.as_bytes(), expected.as_bytes());
            assert_eq!((messages.count(), messages.message_bytes()), (3, 4));
            assert_eq!(texts(messages), ["a", "", "bcd"]);
        }
    }

    #[test]
    fn a_message_that_is_too_long_is_not_added() {
        let mut messages = messages(Framing::Event, &["a"]);
        assert_eq!(messages.push(2, |out| out.extend_from_slice(b"bcd")), None);
        assert_eq!(
            messages.push(2, |out| out.extend_from_slice(b"ef")),
            Some(2)
        );
        assert_eq!(texts(messages), ["a", "ef"]);
    }

    #[test]
    fn the_messages_that_are_taken_are_whole_and_fit() {
        for (max_bytes, taken, left) in [
            (0, vec!["ab"], vec!["cd", "ef"]),
            (5, vec!["ab"], vec!["cd", "ef"]),
            (6, vec!["ab", "cd"], vec!["ef"]),
            (9, vec!["ab", "cd", "ef"], vec![]),
        ] {
            let mut messages = messages(Framing::Line, &["ab", "cd", "ef"]);
            assert_eq!(texts(messages.take(max_bytes)), taken);
            assert_eq!(texts(messages), left);
        }
    }
}
