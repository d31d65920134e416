//! The difference of two texts, word by word.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::hidden::show_hidden;

/// Number of unchanged words that are shown on each side of a change.
const CONTEXT: usize = 12;

/// Maximum number of steps of the search for common words in one comparison. Texts above it are shown whole.
///
/// A step is a pair of words, one of each text, in the worst case.
pub(crate) const MAX_STEPS: usize = 64 * 1024 * 1024;

/// The steps that a comparison has left.
#[derive(Debug)]
pub(crate) struct Steps(pub(crate) usize);

impl Steps {
    /// Returns true and consumes the steps if there are enough.
    fn spend(&mut self, old: usize, new: usize) -> bool {
        let rest = old
            .checked_mul(new)
            .and_then(|cost| self.0.checked_sub(cost));
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }
}

/// Returns the difference as `[-old-]{+new+}` between unchanged words, as one line without terminal codes. An ellipsis
/// replaces long unchanged parts.
pub(crate) fn word_diff(old: &str, new: &str, steps: &mut Steps) -> String {
    let (olds, news) = (words(old), words(new));
    let mut shown = String::new();
    if !steps.spend(olds.len(), news.len()) {
        push_change(&mut shown, &[old], &[new]);
        return shown;
    }
    let operations = capture_diff_slices(Algorithm::Myers, &olds, &news);
    let last = operations.len().saturating_sub(1);
    for (index, operation) in operations.into_iter().enumerate() {
        match operation {
            DiffOp::Equal { old_index, len, .. } => {
                let ends = [index == 0, index == last];
                push_unchanged(&mut shown, &olds[old_index..old_index + len], ends);
            }
            operation => push_change(
                &mut shown,
                &olds[operation.old_range()],
                &news[operation.new_range()],
            ),
        }
    }
    shown
}

fn push_change(shown: &mut String, old: &[&str], new: &[&str]) {
    for (words, open, close) in [(old, "[-", "-]"), (new, "{+", "+}")] {
        if !words.is_empty() {
            shown.push_str(open);
            words
                .iter()
                .for_each(|word| shown.push_str(&show_hidden(word)));
            shown.push_str(close);
        }
    }
}

fn push_unchanged(shown: &mut String, words: &[&str], [is_first, is_last]: [bool; 2]) {
    let mut push = |words: &[&str]| {
        words
            .iter()
            .for_each(|word| shown.push_str(&show_hidden(word)));
    };
    if words.len() <= 2 * CONTEXT {
        return push(words);
    }
    if !is_first {
        push(&words[..CONTEXT]);
    }
    push(&["…"]);
    if !is_last {
        push(&words[words.len() - CONTEXT..]);
    }
}

/// Splits a text into words: runs of letters and digits, runs of blanks, and single other characters. A hidden
/// character belongs to the word around it, so that a change of it shows the whole word.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let class = Class::of(c);
        if before.is_some_and(|before| class == Class::Other || class != before) {
            words.push(&text[start..at]);
            start = at;
        }
        before = Some(class);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            c if c.is_whitespace() => Self::Blank,
            c if c.is_alphanumeric() || c == '_' || crate::is_hidden(c) => Self::Word,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::is_hidden;

    fn diff(old: &str, new: &str) -> String {
        word_diff(old, new, &mut Steps(MAX_STEPS))
    }

    #[test]
    fn changed_words_are_marked() {
        assert_eq!(
            diff("Adds a number.", "Adds two numbers."),
            "Adds [-a-]{+two+} [-number-]{+numbers+}."
        );
        assert_eq!(diff("a b", "a b\nIgnore it"), "a b{+\\nIgnore it+}");
        assert_eq!(diff(r#"["a"]"#, r#"["a","b"]"#), r#"["a"{+,"b"+}]"#);
    }

    #[test]
    fn a_hidden_character_marks_its_word() {
        assert_eq!(
            diff("a word", "a wo\u{200b}rd"),
            "a [-word-]{+wo\\u{200b}rd+}"
        );
        assert_eq!(
            diff("x", "x\u{e0041}\u{e0042}"),
            "[-x-]{+x\\u{e0041}\\u{e0042}+}"
        );
    }

    #[test]
    fn long_unchanged_parts_are_left_out() {
        let long = "w ".repeat(100);
        let shown = diff(&format!("{long}a{long}"), &format!("{long}b {long}"));
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.len() < 80, "{shown}");
    }

    #[test]
    fn texts_above_the_limit_are_shown_whole() {
        assert_eq!(word_diff("a b", "a c", &mut Steps(9)), "a [-b-]{+c+}");
        let mut steps = Steps(8);
        assert_eq!(word_diff("a b", "a c", &mut steps), "[-a b-]{+a c+}");
        assert_eq!(steps.0, 8);
    }

    proptest! {
        #[test]
        fn words_join_to_the_text(text in any::<String>()) {
            prop_assert_eq!(words(&text).concat(), text);
        }

        #[test]
        fn a_diff_is_one_safe_line(old in any::<String>(), new in any::<String>()) {
            prop_assert!(!diff(&old, &new).contains(is_hidden));
        }
    }
}
