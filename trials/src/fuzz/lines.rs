//! Bytes of a pipe, cut anywhere.

use pintle::proto::frame::{Line, Lines};

use super::pieces;

/// Lines are the same however the bytes were cut, and what a plain reading of the rules gives.
///
/// # Panics
///
/// If not.
pub fn lines(data: &[u8]) {
    let Some((max, data)) = data.split_first() else {
        return;
    };
    let max = usize::from(*max);
    let expected = by_the_rules(data, max);
    assert_eq!(read(&[data], max), expected, "in one piece");
    assert_eq!(read(&pieces(data), max), expected, "in pieces");
}

fn read(pieces: &[&[u8]], max: usize) -> Vec<Option<Vec<u8>>> {
    let mut lines = Lines::new(max);
    let mut read = Vec::new();
    for piece in pieces {
        lines.push(piece);
        read.extend(std::iter::from_fn(|| lines.next_line().map(text_of)));
        assert!(lines.pending() <= max, "{} bytes wait", lines.pending());
    }
    read.extend(lines.finish().map(text_of));
    read
}

/// None for a line that is too long.
fn text_of(line: Line<'_>) -> Option<Vec<u8>> {
    match line {
        Line::Text(text) => Some(text.to_vec()),
        Line::TooLong => None,
    }
}

/// None for a line that is too long.
fn by_the_rules(data: &[u8], max: usize) -> Vec<Option<Vec<u8>>> {
    let lines = data.split(|byte| *byte == b'\n').enumerate();
    let line = |(at, line): (usize, &[u8])| {
        if line.len() > max {
            return Some(None);
        }
        let marked = (at == 0).then(|| line.strip_prefix(b"\xEF\xBB\xBF"));
        let text = marked.flatten().unwrap_or(line).trim_ascii();
        (!text.is_empty()).then(|| Some(text.to_vec()))
    };
    lines.filter_map(line).collect()
}
