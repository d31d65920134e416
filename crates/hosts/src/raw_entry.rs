//! The unchecked entry of a server in a file, the lines of a text, and the error of its syntax.

use std::collections::BTreeMap;

use pintle_model::JsonObject;

/// One server in a file, before its members are checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawEntry {
    pub(super) name: String,
    /// The line on which it begins; from 1.
    pub(super) line: usize,
    /// Its members; `None` if the value is not an object.
    pub(super) members: Option<JsonObject>,
    /// The lines on which its members begin.
    pub(super) lines: BTreeMap<String, usize>,
}

/// A syntax error in the text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SyntaxError {
    pub(super) line: usize,
    pub(super) reason: String,
}

/// Size of the blocks in which lines are counted, in bytes.
const BLOCK: usize = 1024;

/// The lines of a text. The line of a byte is found without reading everything before it.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// The number of line ends before each block, and before the end of the text.
    before: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut count = 0;
        let mut before = vec![0];
        for block in text.as_bytes().chunks(BLOCK) {
            count += line_ends(block);
            before.push(count);
        }
        Self { text, before }
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// The line on which a byte stands; from 1.
    pub(super) fn at(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = offset / BLOCK;
        let rest = self.text.as_bytes().get(block * BLOCK..offset);
        let before = self.before.get(block).copied().unwrap_or_default();
        1 + before + rest.map_or(0, line_ends)
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_is_counted_from_the_beginning(text in "[a\n]{0,3000}", offset in 0usize..3100) {
            let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
            prop_assert_eq!(Lines::new(&text).at(offset), 1 + line_ends(before));
        }
    }

    #[test]
    fn the_end_of_a_block_is_on_its_line() {
        for length in [0, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
            let text = "\n".repeat(length);
            let lines = Lines::new(&text);
            for offset in [0, length / 2, length, length + 1] {
                assert_eq!(lines.at(offset), 1 + offset.min(length), "{length}");
            }
        }
    }
}
