//! Messages on a pipe: one per line.
//!
//! A line that is too long is reported once and dropped up to its end, without being stored. The
//! line after it is read normally.

use std::ops::Range;

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
    /// Bytes of the stream, and room behind them.
    buffer: Vec<u8>,
    /// The end of the bytes of the stream.
    end: usize,
    /// Where the next line starts. The bytes before it were returned.
    start: usize,
    /// The end of the bytes that are known to have no end of line.
    scanned: usize,
    max: usize,
    place: LineState,
}

/// Where in the stream the next line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineState {
    StartOfStream,
    StartOfLine,
    /// Inside of a line that was reported as too long.
    Overrun,
}

/// One line. Closed: a line has a length that is allowed, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line<'a> {
    /// The text, without its end and without blanks around it; never empty. It is in the memory it
    /// was read into.
    Text(&'a [u8]),
    /// A line went past the limit and is being dropped.
    TooLong,
}

/// One line, as a place in the buffer.
enum LineRange {
    Text(Range<usize>),
    TooLong,
}

impl Lines {
    /// Reads lines of at most `max` bytes, counted before the LF.
    pub fn new(max: usize) -> Self {
        Self {
            buffer: Vec::new(),
            end: 0,
            start: 0,
            scanned: 0,
            max,
            place: LineState::StartOfStream,
        }
    }

    /// The buffer to read into, with room for a sensible read. [`Lines::fill`] takes the bytes that were read.
    #[inline]
    pub fn spare(&mut self) -> &mut [u8] {
        self.remove_returned();
        if self.buffer.len() - self.end < READ_BYTES {
            self.make_room(READ_BYTES.max(self.end));
        }
        &mut self.buffer[self.end..]
    }

    /// Takes the first `bytes` bytes of [`Lines::spare`], or all of it if it has fewer.
    #[inline]
    pub fn fill(&mut self, bytes: usize) {
        self.end = self.buffer.len().min(self.end.saturating_add(bytes));
    }

    /// Appends bytes that were read elsewhere.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.remove_returned();
        let bytes = self.outside_dropped_line(bytes);
        self.make_room(bytes.len());
        self.buffer[self.end..self.end + bytes.len()].copy_from_slice(bytes);
        self.end += bytes.len();
    }

    /// Takes the next line; `None` if more bytes are needed.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        let range = self.find_line()?;
        Some(self.line(range))
    }

    /// Takes the bytes after the last end of line, once the stream has ended.
    pub fn finish(&mut self) -> Option<Line<'_>> {
        let range = match self.find_line() {
            Some(range) => range,
            None => self.find_rest()?,
        };
        Some(self.line(range))
    }

    /// How many bytes wait for the end of their line.
    #[inline]
    pub fn pending(&self) -> usize {
        self.end - self.start
    }

    fn line(&self, range: LineRange) -> Line<'_> {
        match range {
            LineRange::Text(place) => Line::Text(&self.buffer[place]),
            LineRange::TooLong => Line::TooLong,
        }
    }

    fn find_line(&mut self) -> Option<LineRange> {
        while let Some(end) = self.find_end() {
            let line = std::mem::replace(&mut self.start, end + 1)..end;
            self.scanned = self.start;
            match std::mem::replace(&mut self.place, LineState::StartOfLine) {
                LineState::Overrun => {}
                _ if line.len() > self.max => return Some(LineRange::TooLong),
                place => {
                    if let Some(text) = self.text_in(line, place) {
                        return Some(LineRange::Text(text));
                    }
                }
            }
        }
        let overran = self.overruns();
        self.release_excess();
        overran.then_some(LineRange::TooLong)
    }

    fn find_rest(&mut self) -> Option<LineRange> {
        let place = std::mem::replace(&mut self.place, LineState::StartOfStream);
        let end = self.end;
        let rest = std::mem::replace(&mut self.start, end)..end;
        self.scanned = end;
        self.text_in(rest, place).map(LineRange::Text)
    }

    /// The place of the text in a line; `None` if the line is blank or dropped.
    fn text_in(&self, line: Range<usize>, place: LineState) -> Option<Range<usize>> {
        if place == LineState::Overrun {
            return None;
        }
        let is_marked = place == LineState::StartOfStream
            && self.buffer[line.clone()].starts_with(BYTE_ORDER_MARK);
        let start = line.start + if is_marked { BYTE_ORDER_MARK.len() } else { 0 };
        let text = self.buffer[start..line.end].trim_ascii_end();
        let end = start + text.len();
        let start = end - text.trim_ascii_start().len();
        (start < end).then_some(start..end)
    }

    // What of `bytes` is not in the middle of a line that is being dropped.
    fn outside_dropped_line<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        if self.place != LineState::Overrun || self.end > 0 {
            return bytes;
        }
        memchr(b'\n', bytes).map_or(&[], |end| &bytes[end..])
    }

    fn find_end(&mut self) -> Option<usize> {
        let rest = &self.buffer[self.scanned..self.end];
        let end = memchr(b'\n', rest).map(|end| end + self.scanned);
        if end.is_none() {
            self.scanned = self.end;
        }
        end
    }

    // Drops the line that has no end yet if it is too long; returns true the first time.
    fn overruns(&mut self) -> bool {
        let is_reported = self.place == LineState::Overrun;
        if !is_reported && self.pending() <= self.max {
            return false;
        }
        self.start = self.end;
        self.remove_returned();
        self.place = LineState::Overrun;
        !is_reported
    }

    /// Makes room for so many bytes behind those of the stream.
    fn make_room(&mut self, bytes: usize) {
        if self.buffer.len() - self.end < bytes {
            let length = self.end.saturating_add(bytes).next_power_of_two();
            self.buffer.resize(length, 0);
        }
    }

    /// Moves the bytes that remain to the front: at most one incomplete line.
    fn remove_returned(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
    }

    // The few bytes that remain must not hold on to the memory of a line that was huge.
    fn release_excess(&mut self) {
        if self.buffer.len() > KEPT_BYTES && self.pending() <= KEPT_BYTES / 4 {
            self.remove_returned();
            self.buffer.truncate(KEPT_BYTES / 4);
            self.buffer.shrink_to_fit();
        }
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new(super::DEFAULT_MAX_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of lines; `None` for a line that is too long.
    type Texts = Vec<Option<Vec<u8>>>;

    fn owned(line: Line<'_>) -> Option<Vec<u8>> {
        match line {
            Line::Text(text) => Some(text.to_vec()),
            Line::TooLong => None,
        }
    }

    fn text(text: &str) -> Option<Vec<u8>> {
        Some(text.into())
    }

    fn take_all(lines: &mut Lines) -> Texts {
        std::iter::from_fn(|| lines.next_line().map(owned)).collect()
    }

    fn read_into(lines: &mut Lines, bytes: &[u8]) {
        lines.spare()[..bytes.len()].copy_from_slice(bytes);
        lines.fill(bytes.len());
    }

    fn read(max: usize, pieces: &[&[u8]]) -> Texts {
        let mut lines = Lines::new(max);
        let mut read = Vec::new();
        for piece in pieces {
            lines.push(piece);
            read.extend(take_all(&mut lines));
        }
        read.extend(lines.finish().map(owned));
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
            reported.extend(take_all(&mut lines));
            assert!(lines.buffer.capacity() < 32 * 1024);
        }
        lines.push(b"\nnext\n");
        assert_eq!(reported, [None]);
        assert_eq!(lines.next_line(), Some(Line::Text(b"next")));
        assert_eq!(lines.next_line(), None);
    }

    #[test]
    fn a_line_may_have_exactly_the_limit() {
        assert_eq!(
            read(4, &[b"1234\n12345\n1234"]),
            [text("1234"), None, text("1234")]
        );
    }

    // hardening: H-122
    #[test]
    fn memory_is_given_back_after_a_huge_line() {
        let mut lines = Lines::default();
        let huge = vec![b'x'; 3 << 20];
        for chunk in huge.chunks(8192) {
            read_into(&mut lines, chunk);
            assert_eq!(lines.next_line(), None);
        }
        lines.push(b"\nrest");
        assert_eq!(lines.next_line(), Some(Line::Text(&huge)));
        assert_eq!(lines.next_line(), None);
        let kept = lines.buffer.capacity();
        assert!(kept <= KEPT_BYTES, "{kept} bytes are kept");
        assert_eq!(lines.pending(), 4);
        assert_eq!(lines.finish(), Some(Line::Text(b"rest")));
    }

    #[test]
    fn lines_of_every_read_share_one_buffer() {
        let mut lines = Lines::default();
        read_into(&mut lines, b"one\ntwo\nth");
        assert_eq!(take_all(&mut lines), [text("one"), text("two")]);
        lines.spare();
        let buffer = lines.buffer.as_ptr();
        for _ in 0..10_000 {
            read_into(&mut lines, b"ree\nfour\nth");
            assert_eq!(take_all(&mut lines), [text("three"), text("four")]);
        }
        assert_eq!(lines.buffer.as_ptr(), buffer);
        assert_eq!(lines.pending(), 2);
    }

    #[test]
    fn an_unfinished_line_that_was_too_long_is_not_reported_again_at_the_end() {
        assert_eq!(read(4, &[b"123456", b"7890"]), [None]);
    }
}
