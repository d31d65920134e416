//! Messages on a pipe: one per line.
//!
//! A line that is too long is reported once and dropped up to its end, without being stored. The
//! line after it is read normally.

use bytes::{Bytes, BytesMut};
use memchr::memchr;

use super::{BYTE_ORDER_MARK, KEPT_BYTES};

// Fewer free bytes than this are not worth a read.
const READ_BYTES: usize = 8 * 1024;

/// Cuts a stream of bytes into lines.
///
/// Lines end with LF or CRLF. Blank lines are skipped, blanks around a line are cut off, and so is
/// one byte order mark at the start of the stream. After every piece of input, call
/// [`Lines::next_line`] until it returns `None`, because that keeps the buffer bounded.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// How much of the buffer is known to hold no end of line.
    scanned: usize,
    /// The largest capacity since the buffer was last replaced.
    capacity: usize,
    max: usize,
    place: LineState,
}

/// Where in the stream the buffer starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    StartOfStream,
    StartOfLine,
    /// Inside of a line that was reported as too long.
    Overrun,
}

/// One line. Closed: a line has a length that is allowed, or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The text, without its end and without blanks around it; never empty. It shares the memory
    /// it was read into.
    Text(Bytes),
    /// A line went past the limit and is being dropped.
    TooLong,
}

impl Lines {
    /// Reads lines of at most `max` bytes, counted before the LF.
    pub fn new(max: usize) -> Self {
        Self {
            buffer: BytesMut::new(),
            scanned: 0,
            capacity: 0,
            max,
            place: LineState::StartOfStream,
        }
    }

    /// The buffer to read into, with room for a sensible read. Append only.
    #[inline]
    pub fn spare(&mut self) -> &mut BytesMut {
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES {
            self.buffer.reserve(READ_BYTES.max(self.buffer.len()));
        }
        self.capacity = self.capacity.max(self.buffer.capacity());
        &mut self.buffer
    }

    /// Appends bytes that were read elsewhere.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(self.wanted(bytes));
        self.capacity = self.capacity.max(self.buffer.capacity());
    }

    /// Takes the next line; `None` if more bytes are needed.
    pub fn next_line(&mut self) -> Option<Line> {
        while let Some(end) = self.find_end() {
            let line = self.buffer.split_to(end + 1).freeze();
            self.scanned = 0;
            match std::mem::replace(&mut self.place, LineState::StartOfLine) {
                LineState::Overrun => {}
                _ if end > self.max => return Some(Line::TooLong),
                place => {
                    if let Some(text) = text_of(&line, place) {
                        return Some(Line::Text(text));
                    }
                }
            }
        }
        let overran = self.overruns();
        self.release_excess();
        overran.then_some(Line::TooLong)
    }

    /// Takes the bytes after the last end of line, once the stream has ended.
    pub fn finish(&mut self) -> Option<Line> {
        if let Some(line) = self.next_line() {
            return Some(line);
        }
        let place = std::mem::replace(&mut self.place, LineState::StartOfStream);
        let rest = std::mem::take(&mut self.buffer).freeze();
        self.scanned = 0;
        text_of(&rest, place).map(Line::Text)
    }

    /// How many bytes wait for the end of their line.
    #[inline]
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    // What of `bytes` is not in the middle of a line that is being dropped.
    fn wanted<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.place != LineState::Overrun || !self.buffer.is_empty() {
            return bytes;
        }
        memchr(b'\n', bytes).map_or(&[], |end| &bytes[end..])
    }

    fn find_end(&mut self) -> Option<usize> {
        let end = memchr(b'\n', &self.buffer[self.scanned..]).map(|end| end + self.scanned);
        if end.is_none() {
            self.scanned = self.buffer.len();
        }
        end
    }

    // Drops the line that has no end yet if it is too long; returns true the first time.
    fn overruns(&mut self) -> bool {
        let known = self.place == LineState::Overrun;
        if !known && self.buffer.len() <= self.max {
            return false;
        }
        self.buffer.clear();
        self.scanned = 0;
        self.place = LineState::Overrun;
        !known
    }

    // The few bytes that remain must not hold on to the memory of a line that was huge.
    fn release_excess(&mut self) {
        if self.capacity > KEPT_BYTES && self.buffer.len() <= KEPT_BYTES / 4 {
            self.buffer = BytesMut::from(&self.buffer[..]);
            self.capacity = self.buffer.capacity();
        }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(super::DEFAULT_MAX_BYTES)
    }
}

fn text_of(line: &Bytes, place: LineState) -> Option<Bytes> {
    if place == LineState::Overrun {
        return None;
    }
    let is_first = place == LineState::StartOfStream;
    let marked = is_first
        .then(|| line.strip_prefix(BYTE_ORDER_MARK))
        .flatten();
    let text = marked.unwrap_or(line).trim_ascii();
    (!text.is_empty()).then(|| line.slice_ref(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &'static str) -> Line {
        Line::Text(Bytes::from_static(text.as_bytes()))
    }

    fn read(max: usize, pieces: &[&[u8]]) -> Vec<Line> {
        let mut lines = Lines::new(max);
        let mut read = Vec::new();
        for piece in pieces {
            lines.push(piece);
            read.extend(std::iter::from_fn(|| lines.next_line()));
        }
        read.extend(lines.finish());
        read
    }

    // hardening: H-117, H-118, H-119
    #[test]
    fn blanks_line_ends_and_one_byte_order_mark_are_cut_off() {
        let input = b"\xEF\xBB\xBF{\"a\":1}\r\n\n \t\r\n  two \n\r\n\xEF\xBB\xBFthree\nfour";
        let expected = [
            text("{\"a\":1}"),
            text("two"),
            text("\u{feff}three"),
            text("four"),
        ];
        assert_eq!(read(100, &[input]), expected);
    }

    // hardening: H-121
    #[test]
    fn lines_do_not_depend_on_how_the_bytes_were_cut() {
        let input: &[u8] =
            b"\xEF\xBB\xBFone\r\n\r\nfar too long a line\ntwo\n   \n0123456789\n01234567890\nlast";
        let whole = read(10, &[input]);
        assert_eq!(whole.len(), 6);
        let single: Vec<_> = input.chunks(1).collect();
        assert_eq!(read(10, &single), whole);
        for first in 0..input.len() {
            for second in first..input.len() {
                let pieces = [&input[..first], &input[first..second], &input[second..]];
                assert_eq!(read(10, &pieces), whole, "cut at {first} and {second}");
            }
        }
    }

    // hardening: H-123
    #[test]
    fn a_line_without_an_end_is_reported_once_and_never_kept() {
        let mut lines = Lines::new(1024);
        let mut reported = Vec::new();
        for _ in 0..33 * 1024 {
            lines.push(&[b'x'; 1024]);
            reported.extend(std::iter::from_fn(|| lines.next_line()));
            assert!(lines.capacity < 32 * 1024);
        }
        lines.push(b"\nnext\n");
        assert_eq!(reported, [Line::TooLong]);
        assert_eq!(lines.next_line(), Some(text("next")));
        assert_eq!(lines.next_line(), None);
    }

    #[test]
    fn a_line_may_have_exactly_the_limit() {
        assert_eq!(
            read(4, &[b"1234\n12345\n1234"]),
            [text("1234"), Line::TooLong, text("1234")]
        );
    }

    // hardening: H-122
    #[test]
    fn memory_is_given_back_after_a_huge_line() {
        let mut lines = Lines::default();
        let huge = vec![b'x'; 3 << 20];
        for chunk in huge.chunks(8192) {
            lines.spare().extend_from_slice(chunk);
            assert_eq!(lines.next_line(), None);
        }
        lines.push(b"\nrest");
        assert_eq!(lines.next_line(), Some(Line::Text(huge.into())));
        assert_eq!(lines.next_line(), None);
        assert!(
            lines.capacity <= KEPT_BYTES,
            "{} bytes are kept",
            lines.capacity
        );
        assert_eq!(lines.pending(), 4);
        assert_eq!(lines.finish(), Some(text("rest")));
    }

    #[test]
    fn a_line_shares_the_memory_it_was_read_into() {
        let mut lines = Lines::default();
        lines.spare().extend_from_slice(b"one\ntwo\n");
        let Some(Line::Text(one)) = lines.next_line() else {
            panic!("a line")
        };
        let Some(Line::Text(two)) = lines.next_line() else {
            panic!("a line")
        };
        assert_eq!(one.as_ptr().wrapping_add(4), two.as_ptr());
    }

    #[test]
    fn an_unfinished_line_that_was_too_long_is_not_reported_again_at_the_end() {
        assert_eq!(read(4, &[b"123456", b"7890"]), [Line::TooLong]);
    }
}
