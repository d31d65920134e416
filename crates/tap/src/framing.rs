//! Finds the messages in a stream of bytes: lines, a whole body, or server-sent events.

use crate::lines::{Line, LineSplitter};

/// How messages are written to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// One message on each line, as on stdio.
    Lines,
    /// One message, which is the whole stream: a body of JSON.
    Body,
    /// Server-sent events, with a message as the data of each.
    Events,
    /// No messages: the stream is not read.
    Ignored,
}

/// Finds the messages of one stream.
#[derive(Debug)]
pub(crate) enum Framer {
    Lines(LineSplitter),
    Body(Body),
    Events(Events),
    Ignored,
}

/// A body that is read whole.
#[derive(Debug)]
pub(crate) struct Body {
    max_bytes: usize,
    bytes: Vec<u8>,
    size: u64,
    is_broken: bool,
}

/// The data of an event that is not complete.
#[derive(Debug)]
pub(crate) struct Events {
    lines: LineSplitter,
    data: Body,
    has_data: bool,
    /// Whether the event has a type that is not that of messages.
    is_other: bool,
}

impl Framer {
    pub(crate) fn new(framing: Framing, max_bytes: usize) -> Self {
        match framing {
            Framing::Lines => Self::Lines(LineSplitter::new(max_bytes)),
            Framing::Body => Self::Body(Body::new(max_bytes)),
            Framing::Events => Self::Events(Events {
                lines: LineSplitter::new(max_bytes),
                data: Body::new(max_bytes),
                has_data: false,
                is_other: false,
            }),
            Framing::Ignored => Self::Ignored,
        }
    }

    /// Adds bytes, and calls `each` with the messages that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8], each: &mut impl FnMut(Line)) {
        match self {
            Self::Lines(lines) => lines.push(bytes, each),
            Self::Body(body) => body.push(bytes, bytes.len() as u64),
            Self::Events(events) => events.push(bytes, each),
            Self::Ignored => {}
        }
    }

    /// Records that bytes of the stream are unknown. The message that they belong to is ignored.
    pub(crate) fn skip(&mut self) {
        match self {
            Self::Lines(lines) => lines.skip(),
            Self::Body(body) => body.is_broken = true,
            Self::Events(events) => {
                events.lines.skip();
                events.data.is_broken = true;
            }
            Self::Ignored => {}
        }
    }

    /// Returns the rest of the stream, which has ended.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        match self {
            Self::Lines(lines) => lines.finish(),
            Self::Body(body) => body.take(),
            // An event without an empty line at its end is not an event.
            Self::Events(_) | Self::Ignored => None,
        }
    }
}

impl Body {
    fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: Vec::new(),
            size: 0,
            is_broken: false,
        }
    }

    fn push(&mut self, bytes: &[u8], size: u64) {
        let room = self.max_bytes - self.bytes.len();
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.size += size;
    }

    fn take(&mut self) -> Option<Line> {
        let line = Line {
            bytes: std::mem::take(&mut self.bytes),
            size: std::mem::take(&mut self.size),
            has_end: true,
        };
        let is_whole = !std::mem::take(&mut self.is_broken);
        (is_whole && line.size > 0).then_some(line)
    }
}

impl Events {
    fn push(&mut self, bytes: &[u8], each: &mut impl FnMut(Line)) {
        let Self {
            lines,
            data,
            has_data,
            is_other,
        } = self;
        lines.push(bytes, |line| {
            let text = line.bytes.strip_suffix(b"\r").unwrap_or(&line.bytes);
            if text.is_empty() {
                let event = data.take();
                // An event that only has an id or a type is not a message.
                let is_message = std::mem::take(has_data) & !std::mem::take(is_other);
                if is_message && let Some(event) = event {
                    each(event);
                }
            } else if let Some(value) = text.strip_prefix(b"event:") {
                *is_other = !matches!(value.trim_ascii(), b"message" | b"");
            } else if let Some(value) = text.strip_prefix(b"data:") {
                let value = value.strip_prefix(b" ").unwrap_or(value);
                if std::mem::replace(has_data, true) {
                    data.push(b"\n", 1);
                }
                let cut = line.size - line.bytes.len() as u64;
                data.push(value, value.len() as u64 + cut);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(framing: Framing, bytes: &[u8], piece: usize) -> Vec<String> {
        let mut framer = Framer::new(framing, 64);
        let mut found = Vec::new();
        let mut each = |line: Line| found.push(String::from_utf8_lossy(&line.bytes).into_owned());
        for piece in bytes.chunks(piece) {
            framer.push(piece, &mut each);
        }
        if let Some(line) = framer.finish() {
            each(line);
        }
        found
    }

    #[test]
    fn events_do_not_depend_on_the_pieces() {
        let bytes = b": ping\n\nid: 1\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\nid: 2\n\ndata:{}\n\nevent: endpoint\ndata: /x\n\ndata: cut";
        for piece in 1..bytes.len() {
            let found = messages(Framing::Events, bytes, piece);
            assert_eq!(found, ["{\"a\":\n1}", "{}"], "{piece}");
        }
    }

    #[test]
    fn a_body_is_one_message() {
        for piece in 1..9 {
            assert_eq!(
                messages(Framing::Body, b"{\n \"a\":1}", piece),
                ["{\n \"a\":1}"]
            );
        }
        assert!(messages(Framing::Body, b"", 1).is_empty());
        assert!(messages(Framing::Ignored, b"x\n", 1).is_empty());
    }

    #[test]
    fn an_event_with_unknown_bytes_is_ignored() {
        let mut framer = Framer::new(Framing::Events, 64);
        let mut found = Vec::new();
        framer.push(b"data: 1\nda", &mut |line| found.push(line.bytes));
        framer.skip();
        framer.push(b"ta: 3\n\ndata: 4\n\n", &mut |line| found.push(line.bytes));
        assert_eq!(found, [b"4"]);
    }
}
