//! Regular expressions that are matched in linear time, and what matching costs.

use std::borrow::Cow;
use std::fmt;

use regex_lite::{Regex, RegexBuilder};

/// Sizes of compiled patterns in bytes, and what each character costs then, in eighths of a step: it
/// may visit every state.
const SIZES: [(usize, usize); 5] = [
    (1 << 10, 1),
    (4 << 10, 4),
    (16 << 10, 64),
    (64 << 10, 512),
    (256 << 10, 2048),
];

/// How large a compiled pattern of a foreign schema may be, in bytes.
pub(super) const FOREIGN_SIZE: usize = 64 << 10;

/// How large a compiled pattern of ours may be, in bytes.
pub(super) const OUR_SIZE: usize = 256 << 10;

/// The white space of ECMA-262, as the inside of a character class.
const WHITE_SPACE: &str =
    r"\s\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    source: Box<str>,
    regex: Regex,
    weight: usize,
}

impl Pattern {
    /// Compiles a pattern of at most so many bytes.
    ///
    /// # Errors
    ///
    /// The reason: the pattern is invalid or too large.
    pub(super) fn new(source: &str, limit: usize) -> Result<Self, regex_lite::Error> {
        let translated = with_white_space(source);
        let build = |limit| RegexBuilder::new(&translated).size_limit(limit).build();
        let mut sizes = SIZES.iter().take_while(|(size, _)| *size < limit);
        let smallest = sizes.find_map(|(size, weight)| Some((build(*size).ok()?, *weight)));
        let (regex, weight) = match smallest {
            Some(found) => found,
            None => (build(limit)?, weight_of(limit)),
        };
        Ok(Self {
            source: source.into(),
            regex,
            weight: weight.max(1 + source.len() / 16),
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// The cost of matching a text, in steps.
    pub(super) fn cost(&self, text: &str) -> usize {
        1 + text.len().saturating_mul(self.weight) / 8
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

/// Writes out `\s` and `\S`, because the white space of ECMA-262 is more than that of ASCII.
///
/// A `\S` inside a character class stays as it is.
fn with_white_space(source: &str) -> Cow<'_, str> {
    if !source.contains("\\s") && !source.contains("\\S") {
        return source.into();
    }
    let mut translated = String::with_capacity(source.len() + 2 * WHITE_SPACE.len());
    let mut is_in_class = false;
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '\\' => {
                push_escape(&mut translated, letters.next(), is_in_class);
                continue;
            }
            _ => {}
        }
        translated.push(letter);
    }
    translated.into()
}

fn push_escape(translated: &mut String, escaped: Option<char>, is_in_class: bool) {
    match (escaped, is_in_class) {
        (Some('s'), true) => translated.push_str(WHITE_SPACE),
        (Some('s'), false) => translated.extend(["[", WHITE_SPACE, "]"]),
        (Some('S'), false) => translated.extend(["[^", WHITE_SPACE, "]"]),
        (escaped, _) => {
            translated.push('\\');
            translated.extend(escaped);
        }
    }
}

fn weight_of(limit: usize) -> usize {
    let row = SIZES.iter().find(|(size, _)| *size >= limit);
    row.map_or(usize::MAX, |(_, weight)| *weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_that_of_ecma_262() {
        let is_match = |source, text| Pattern::new(source, OUR_SIZE).unwrap().is_match(text);
        for space in [" ", "\n", "\u{a0}", "\u{2003}", "\u{2029}", "\u{feff}"] {
            for pattern in [r"^\s$", r"^[\s]$", r"^[a\s-]$", r"^[^\S]$", r"^\[*\s\]*$"] {
                let is_ascii = space.is_ascii();
                let is_known = is_ascii || !pattern.contains('S');
                assert_eq!(is_match(pattern, space), is_known, "{pattern} {space:?}");
            }
            assert!(!is_match(r"^\S$", space), "{space:?}");
            assert!(!is_match(r"^[^\s]$", space), "{space:?}");
        }
        assert!(is_match(r"^\S\\s$", "a\\s"));
        assert!(!is_match(r"^\s$", "a"));
        let shown = Pattern::new(r"\s", OUR_SIZE).unwrap().to_string();
        assert_eq!(shown, r"\s");
    }

    // spec: 2026-07-28 N-SCH-08
    #[test]
    fn a_short_pattern_is_charged_for_its_compiled_size() {
        let cost = |source| {
            Pattern::new(source, OUR_SIZE)
                .unwrap()
                .cost("0123456789abcdef")
        };
        assert_eq!(cost("^[a-z]+$"), 3);
        assert!(cost("(a{60}){60}") > 1_000);
        assert!(Pattern::new("(a{60}){60}", 1 << 10).is_err());
        assert!(Pattern::new("(?=a)", OUR_SIZE).is_err());
    }
}
