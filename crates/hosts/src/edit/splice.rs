//! Replaces parts of a text, and finds the style of the rest.

use std::ops::Range;

/// Parts of a text to replace. They do not overlap.
#[derive(Debug, Default)]
pub(super) struct Splices(Vec<(Range<usize>, String)>);

impl Splices {
    /// Replaces a part.
    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push((range, text.into()));
    }

    /// Inserts a text.
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at..at, text);
    }

    /// Deletes a part.
    pub(super) fn delete(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    /// Returns the text with all parts replaced.
    pub(super) fn apply(mut self, text: &str) -> String {
        // A stable sort: of two parts at one place the first stays first.
        self.0.sort_by_key(|(range, _)| range.start);
        let (mut result, mut at) = (String::with_capacity(text.len() + 256), 0);
        for (range, new) in self.0 {
            result.push_str(text.get(at..range.start).unwrap_or_default());
            result.push_str(&new);
            at = range.end.max(at);
        }
        result.push_str(text.get(at..).unwrap_or_default());
        result
    }
}

/// Returns the line end of a text.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the blanks at the beginning of the line of a position.
pub(super) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[..length]
}

/// Returns where the line of a position begins.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    let start = text[..at].rfind('\n').map_or(0, |feed| feed + 1);
    match text[start..at].starts_with('\u{feff}') {
        true => start + '\u{feff}'.len_utf8(),
        false => start,
    }
}

/// Returns where the next line begins; the end of the text after the last line.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |feed| at + feed + 1)
}

/// Whether only blanks precede a position on its line.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at].trim().is_empty()
}

/// Returns where the whitespace before a position begins.
pub(super) fn space_before(text: &str, at: usize) -> usize {
    text[..at].trim_end_matches([' ', '\t', '\r', '\n']).len()
}
