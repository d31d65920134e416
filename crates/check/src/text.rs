//! Bounded, printable texts of messages.

use serde_json::Value;

/// Maximum length of a text in a finding, in characters.
const MAX_CHARS: usize = 600;

/// Returns the beginning of a text in one line. Control characters are escapes.
pub(crate) fn clip(text: &str) -> String {
    let mut clipped = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == MAX_CHARS {
            clipped.push('…');
            break;
        }
        match character.is_control() || is_hidden(character) {
            true => clipped.extend(character.escape_default()),
            false => clipped.push(character),
        }
    }
    clipped
}

/// Returns the beginning of bytes as text.
pub(crate) fn clip_bytes(bytes: &[u8]) -> String {
    let head = bytes.get(..MAX_CHARS * 4).unwrap_or(bytes);
    clip(&String::from_utf8_lossy(head))
}

/// Returns the beginning of a value as text.
pub(crate) fn shown(value: &Value) -> String {
    clip(&value.to_string())
}

fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_and_control_characters_are_escaped() {
        assert_eq!(clip("a\u{1b}[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
        let long = "ä".repeat(MAX_CHARS + 1);
        assert_eq!(clip(&long).chars().count(), MAX_CHARS + 1);
        assert!(clip(&long).ends_with('…'));
        assert_eq!(clip(&"b".repeat(MAX_CHARS)).len(), MAX_CHARS);
    }

    #[test]
    fn bytes_are_cut_before_they_are_read() {
        let bytes = vec![0xff; 1 << 20];
        assert!(clip_bytes(&bytes).chars().count() <= MAX_CHARS + 1);
    }
}
