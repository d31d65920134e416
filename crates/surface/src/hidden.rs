//! Characters that a reader does not see, and their escapes.

use std::borrow::Cow;

/// Returns true for a character that is not only visible: control characters of both sets, those that
/// change the direction of the text, those that separate lines, tags, selectors, joiners, and invisible ones.
///
/// Line ends and tabs are control characters, too.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        )
        || matches!(
            c,
            '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        )
        || matches!(
            c,
            '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        )
        || matches!(
            c,
            '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        )
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the text with an escape such as `\u{200b}` in place of each hidden character, and `\n` for a line end.
///
/// The result is one line without terminal codes.
pub fn show_hidden(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.chars().fold(String::new(), |mut shown, c| {
            match is_hidden(c) {
                true => shown.extend(c.escape_default()),
                false => shown.push(c),
            }
            shown
        })),
    }
}

/// Returns JSON with `\uXXXX` in place of each hidden character. The value stays, because hidden characters
/// only occur in strings. Line ends between members stay, too.
pub(crate) fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c != '\n' && is_hidden(c) {
            false => escaped.push(c),
            true => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn hidden_characters_become_escapes() {
        for (text, shown) in [
            ("plain é 漢", "plain é 漢"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("\u{202e}gpj\u{2066}", "\\u{202e}gpj\\u{2066}"),
            ("\u{e0041}", "\\u{e0041}"),
            ("a\nb\t\u{1b}[2J", "a\\nb\\t\\u{1b}[2J"),
        ] {
            assert_eq!(show_hidden(text), shown);
        }
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let value = json!({ "a\u{9b}": "\u{1b}[2J\u{202e}\u{7f}\u{e0041}é\n" });
        let escaped = escape_json(&value.to_string());
        assert!(!escaped.contains(is_hidden), "{escaped}");
        let read: Value = serde_json::from_str(&escaped).expect("JSON");
        assert_eq!(read, value);
    }

    proptest! {
        #[test]
        fn no_hidden_character_is_shown(text in any::<String>()) {
            prop_assert!(!show_hidden(&text).contains(is_hidden));
        }
    }
}
