//! Text for the terminal: makes text of servers and files safe to print, shortens it, counts nouns.

use std::borrow::Cow;
use std::fmt::Write as _;

use pintle_surface::is_hidden;

/// Escapes characters that could move the cursor, change colours, or reverse the reading direction. Line
/// ends and tabs stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    match text.contains(|c| !matches!(c, '\n' | '\t') && is_hidden(c)) {
        true => Cow::Owned(escaped(text)),
        false => Cow::Borrowed(text),
    }
}

/// Escapes the same characters, and joins a text that has some to one line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        true => Cow::Owned(escaped(
            &text.split_whitespace().collect::<Vec<_>>().join(" "),
        )),
        false => Cow::Borrowed(text),
    }
}

/// Escapes the same characters in JSON. Its value stays, because they only occur in strings.
pub(crate) fn clean_json(json: &str) -> Cow<'_, str> {
    let is_bad = |c: char| !matches!(c, '\n' | '\t') && is_hidden(c);
    if !json.contains(is_bad) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_bad(c) {
            false => safe.push(c),
            true => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(safe, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(safe)
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    let mut before = None;
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => safe.push(c),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\u{fe0f}' | '\u{200d}' if before.is_some_and(is_pictograph) => safe.push(c),
            c if is_hidden(c) => safe.extend(c.escape_default()),
            c => safe.push(c),
        }
        before = Some(c);
    }
    safe
}

/// Returns true for a pictograph. One selector or joiner after it is part of the visible character. A second
/// one is escaped, because it does not follow a pictograph. So no text can hide in them.
fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns a text of at most so many bytes unchanged, and the beginning of a longer one with a remark.
pub(crate) fn cut(text: &str, bytes: usize) -> Cow<'_, str> {
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let mut ends = (0..=bytes).rev();
    let end = ends.find(|end| text.is_char_boundary(*end));
    let (head, rest) = text.split_at(end.unwrap_or(0));
    let rest = rest.len();
    Cow::Owned(format!("{head}… ({rest} more bytes; --json prints all)"))
}

/// Returns a count with its noun, such as `1 tool` or `2 tools`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn characters_that_move_the_cursor_are_escaped() {
        for (text, safe) in [
            ("plain é 漢 👩‍🚀", "plain é 漢 👩‍🚀"),
            ("a\nb\tc\r\n", "a\nb\tc\n"),
            ("a\rb", "a\\rb"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("\u{9b}2J\u{7f}\0", "\\u{9b}2J\\u{7f}\\u{0}"),
            ("\u{202e}gpj\u{2066}", "\\u{202e}gpj\\u{2066}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("a\u{200b}\u{feff}\u{ad}b", "a\\u{200b}\\u{feff}\\u{ad}b"),
            (
                "\u{3164}\u{115f}\u{180e}\u{2060}",
                "\\u{3164}\\u{115f}\\u{180e}\\u{2060}",
            ),
            ("a\u{fe0f}\u{200d}", "a\\u{fe0f}\\u{200d}"),
            ("⚠\u{fe0f}\u{fe0f}\u{e0100}", "⚠\u{fe0f}\\u{fe0f}\\u{e0100}"),
        ] {
            assert_eq!(clean(text), safe);
        }
        assert_eq!(line("a\n  b\tc \u{1b}"), "a b c \\u{1b}");
    }

    #[test]
    fn json_is_safe_and_means_the_same() {
        let value = json!({ "a\u{9b}": "\u{1b}[2J\u{202e}\u{7f}\u{e0041}é" });
        let text = value.to_string();
        let safe = clean_json(&text);
        assert!(!safe.contains(is_hidden), "{safe}");
        assert_eq!(serde_json::from_str::<Value>(&safe).expect("JSON"), value);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short", 5), "short");
        let long = cut("aéb", 2);
        assert_eq!(long, "a… (3 more bytes; --json prints all)");
    }

    /// Returns true for a character that is never printed. A selector or joiner after a pictograph is.
    fn is_bad(c: char) -> bool {
        is_hidden(c) && !matches!(c, '\u{fe0f}' | '\u{200d}')
    }

    proptest! {
        #[test]
        fn no_control_character_passes(text in any::<String>()) {
            prop_assert!(!clean(&text).contains(|c| !matches!(c, '\n' | '\t') && is_bad(c)));
            prop_assert!(!line(&text).contains(is_bad));
        }
    }
}
