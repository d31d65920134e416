//! Splits a stream of bytes into lines, with bounded memory.

/// A line of a stream, without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The bytes of the line, up to the limit of the splitter.
    pub bytes: Vec<u8>,
    /// Size of the whole line, in bytes.
    pub size: u64,
    /// Whether a line end follows. False at the end of a stream.
    pub has_end: bool,
}

impl Line {
    /// Returns true if the line is longer than the stored bytes.
    pub fn is_cut(&self) -> bool {
        self.size > self.bytes.len() as u64
    }
}

/// Splits a stream of bytes into lines. It stores at most one line, up to a limit.
#[derive(Debug)]
pub struct LineSplitter {
    max_bytes: usize,
    bytes: Vec<u8>,
    size: u64,
    /// Whether a part of the current line is unknown, so that the line is not returned.
    is_broken: bool,
}

impl LineSplitter {
    /// Creates a splitter that stores at most `max_bytes` of a line.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: Vec::new(),
            size: 0,
            is_broken: false,
        }
    }

    /// Adds bytes, and calls `each` with the lines that they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.store(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if let Some(line) = self.take(true) {
                each(line);
            }
        }
        self.store(bytes);
    }

    /// Records that bytes of the stream are unknown. The rest of the current line is ignored.
    pub fn skip(&mut self) {
        self.is_broken = true;
    }

    /// Returns the bytes after the last line end. The stream has ended.
    pub fn finish(&mut self) -> Option<Line> {
        match self.size {
            0 => None,
            _ => self.take(false),
        }
    }

    fn store(&mut self, bytes: &[u8]) {
        let room = self.max_bytes - self.bytes.len();
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.size += bytes.len() as u64;
    }

    fn take(&mut self, has_end: bool) -> Option<Line> {
        let line = Line {
            bytes: std::mem::take(&mut self.bytes),
            size: std::mem::take(&mut self.size),
            has_end,
        };
        (!std::mem::take(&mut self.is_broken)).then_some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(splitter: &mut LineSplitter, bytes: &[u8]) -> Vec<(String, u64)> {
        let mut lines = Vec::new();
        splitter.push(bytes, |line| {
            lines.push((String::from_utf8_lossy(&line.bytes).into_owned(), line.size));
        });
        lines
    }

    #[test]
    fn lines_do_not_depend_on_the_pieces() {
        let bytes = b"one\n\ntwo and more\nrest";
        for piece in 1..bytes.len() {
            let mut splitter = LineSplitter::new(7);
            let pieces = bytes.chunks(piece);
            let found: Vec<_> = pieces
                .flat_map(|piece| lines(&mut splitter, piece))
                .collect();
            let expected = [("one", 3), ("", 0), ("two and", 12)];
            assert_eq!(found, expected.map(|(text, size)| (text.to_owned(), size)));
            let rest = splitter.finish().expect("a rest");
            assert_eq!((&rest.bytes[..], rest.has_end), (&b"rest"[..], false));
            assert_eq!(splitter.finish(), None);
        }
    }

    #[test]
    fn a_line_with_unknown_bytes_is_not_returned() {
        let mut splitter = LineSplitter::new(64);
        assert_eq!(lines(&mut splitter, b"one\ntw"), [("one".to_owned(), 3)]);
        splitter.skip();
        let found = lines(&mut splitter, b"hree\nfour\n");
        assert_eq!(found, [("four".to_owned(), 4)]);
    }

    #[test]
    fn a_long_line_needs_no_more_memory_than_the_limit() {
        let mut splitter = LineSplitter::new(16);
        for _ in 0..1000 {
            assert!(lines(&mut splitter, &[b'x'; 100]).is_empty());
        }
        assert!(
            splitter.bytes.capacity() <= 64,
            "{}",
            splitter.bytes.capacity()
        );
        assert_eq!(lines(&mut splitter, b"\n")[0].1, 100_000);
    }
}
