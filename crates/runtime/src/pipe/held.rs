//! Lines that wait until the engine has room for their messages.

use std::collections::VecDeque;

use bytes::Bytes;

/// The lines that were read but not handled yet, in order.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: VecDeque<Bytes>,
    bytes: usize,
}

impl Held {
    pub(super) fn push(&mut self, line: Bytes) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// Puts a line back that was popped.
    pub(super) fn push_front(&mut self, line: Bytes) {
        self.bytes += line.len();
        self.lines.push_front(line);
    }

    pub(super) fn pop(&mut self) -> Option<Bytes> {
        let line = self.lines.pop_front()?;
        self.bytes -= line.len();
        Some(line)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// How many bytes wait.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
