//! Regular expressions that are matched in linear time, and what matching costs.

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

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    regex: Regex,
    weight: usize,
}

impl Pattern {
    /// Compiles a pattern of at most so many bytes.
    ///
    /// # Errors
    ///
    /// What is wrong with it: it is none, or it is too large.
    pub(super) fn new(source: &str, limit: usize) -> Result<Self, regex_lite::Error> {
        let build = |limit| RegexBuilder::new(source).size_limit(limit).build();
        let mut sizes = SIZES.iter().take_while(|(size, _)| *size < limit);
        let smallest = sizes.find_map(|(size, weight)| Some((build(*size).ok()?, *weight)));
        let (regex, weight) = match smallest {
            Some(found) => found,
            None => (build(limit)?, weight_of(limit)),
        };
        Ok(Self {
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
        self.regex.fmt(f)
    }
}

fn weight_of(limit: usize) -> usize {
    let row = SIZES.iter().find(|(size, _)| *size >= limit);
    row.map_or(usize::MAX, |(_, weight)| *weight)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2026-07-28 N-SCH-08
    #[test]
    fn what_a_short_pattern_hides_is_paid_for() {
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
