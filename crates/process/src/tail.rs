//! The last bytes of a stream.

use std::collections::VecDeque;

/// Maximum size of an excerpt in an error message, in bytes.
const SHOWN_BYTES: usize = 2 << 10;
/// Maximum number of lines of an excerpt in an error message.
const SHOWN_LINES: usize = 20;

/// The last bytes of a stream, up to a limit. The oldest bytes are dropped.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            most,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(self.most)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.most);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// Returns the stored bytes as text. Invalid UTF-8 is replaced.
    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }
}

/// Returns the end of a text for a message: whole lines without control characters.
pub(super) fn excerpt(text: &str) -> String {
    let text = text.trim_end();
    let mut at = text.len().saturating_sub(SHOWN_BYTES);
    while !text.is_char_boundary(at) {
        at += 1;
    }
    let end = &text[at..];
    // A cut line is omitted, because it can mislead; the only line is shown all the same.
    let whole = match end.split_once('\n') {
        Some((_, rest)) if at > 0 => rest,
        _ => end,
    };
    let lines: Vec<&str> = whole.lines().collect();
    let shown = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    shown
        .iter()
        .map(|line| plain(line))
        .collect::<Vec<_>>()
        .join("\n")
}

fn plain(line: &str) -> String {
    line.chars()
        .map(|c| if c == '\t' { ' ' } else { c })
        .filter(|c| !c.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-167
    #[test]
    fn the_oldest_bytes_are_dropped_at_the_limit() {
        let mut tail = Tail::new(8);
        tail.push(b"12345678");
        assert_eq!(tail.text(), "12345678");

        tail.push(b"9");
        assert_eq!(tail.text(), "23456789");

        tail.push(b"a whole page of words");
        assert_eq!(tail.text(), "of words");
    }

    #[test]
    fn invalid_utf_8_is_replaced() {
        let mut tail = Tail::new(8);
        tail.push(b"a\xffb");
        assert_eq!(tail.text(), "a\u{fffd}b");
    }

    #[test]
    fn an_excerpt_has_whole_lines_and_no_control_characters() {
        let page: String = (1..=100).map(|n| format!("line {n}\n")).collect();
        let shown = excerpt(&page);
        assert_eq!(shown.lines().count(), SHOWN_LINES);
        assert!(
            shown.starts_with("line 81\n") && shown.ends_with("line 100"),
            "{shown}"
        );

        assert_eq!(excerpt("\u{1b}[31mred\u{7}\ttext\r\n"), "[31mred text");
        assert_eq!(excerpt(""), "");
    }

    #[test]
    fn an_excerpt_of_one_long_line_is_its_end() {
        let shown = excerpt(&"ä".repeat(SHOWN_BYTES));
        assert_eq!(shown.chars().count(), SHOWN_BYTES / 2);
    }
}
