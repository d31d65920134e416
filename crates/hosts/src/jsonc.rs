//! JSON as people write it: with comments, trailing commas, and a byte order mark.
//!
//! Text that is not JSON becomes blanks. So lines and columns stay the same as in an editor.

/// The same text as JSON.
pub(super) fn plain(text: &str) -> String {
    let mut bytes = without_comments(text).into_bytes();
    blank_trailing_commas(&mut bytes);
    // Only commas were overwritten.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// The same text without comments and without a byte order mark.
pub(super) fn without_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if text.starts_with('\u{feff}') {
        blank(&mut bytes, 0, 3);
    }
    blank_comments(&mut bytes);
    // Only whole comments and ASCII were overwritten, and only with ASCII.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn blank_comments(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = match (byte, bytes.get(at + 1)) {
            (b'"', _) => {
                at = end_of_string(bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => end_of_line(bytes, at),
            (b'/', Some(b'*')) => end_of_block(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        blank(bytes, at, end);
        at = end;
    }
}

fn blank_trailing_commas(bytes: &mut [u8]) {
    let mut at = 0;
    let mut comma = None;
    while let Some(&byte) = bytes.get(at) {
        match (byte, comma) {
            (b'"', _) => {
                comma = None;
                at = end_of_string(bytes, at);
                continue;
            }
            (b',', _) => comma = Some(at),
            (b'}' | b']', Some(trailing)) => {
                blank(bytes, trailing, trailing + 1);
                comma = None;
            }
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            _ => comma = None,
        }
        at += 1;
    }
}

/// Where the string that begins at `at` is over; the end of the text if it never is.
pub(super) fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let length = rest.iter().position(|byte| *byte == b'\n');
    length.map_or(bytes.len(), |length| at + length)
}

fn end_of_block(bytes: &[u8], at: usize) -> usize {
    let inside = at + 2;
    let rest = bytes.get(inside..).unwrap_or_default();
    let length = rest.windows(2).position(|pair| pair == b"*/");
    length.map_or(bytes.len(), |length| inside + length + 2)
}

fn blank(bytes: &mut [u8], from: usize, to: usize) {
    for byte in bytes.get_mut(from..to).into_iter().flatten() {
        if !matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::plain;

    fn read(text: &str) -> Value {
        serde_json::from_str(&plain(text)).expect(text)
    }

    #[test]
    fn comments_and_trailing_commas_are_ignored() {
        let text =
            "\u{feff}{ // one\n \"a\": [1, 2, /* , */ ], /* é\n */ \"b\": {\"c\": 1,},\n}\n// end";
        assert_eq!(read(text), json!({ "a": [1, 2], "b": { "c": 1 } }));
    }

    #[test]
    fn comment_marks_in_a_string_are_text() {
        let text = r#"{"a": "http://x, ]", "b": "\\\" // no", "c": "/* no */,}"}"#;
        let value = json!({ "a": "http://x, ]", "b": "\\\" // no", "c": "/* no */,}" });
        assert_eq!(read(text), value);
    }

    #[test]
    fn nothing_moves() {
        let text = "{ /* a\nb */ \"x\": 1,\n}";
        let plain = plain(text);
        assert_eq!(plain.len(), text.len());
        assert_eq!(plain.find("\"x\""), text.find("\"x\""));
        assert_eq!(plain.lines().count(), text.lines().count());
    }

    #[test]
    fn unterminated_text_is_left_to_the_parser() {
        for text in ["{\"a", "/* a", "// a", "\"\\", "/", "{,}"] {
            assert_eq!(plain(text).len(), text.len(), "{text}");
        }
        assert!(serde_json::from_str::<Value>(&plain("{\"a\": 1,, }")).is_err());
    }

    proptest! {
        #[test]
        fn any_text_keeps_its_length(text in "\\PC*|[\\{\\}\\[\\],\"/*\\\\ \n]*") {
            prop_assert_eq!(plain(&text).len(), text.len());
        }

        #[test]
        fn json_stays_as_it_is(text in "[a-z,/*\\]]{0,12}") {
            let json = json!({ "a": [text] }).to_string();
            prop_assert_eq!(plain(&json), json);
        }
    }
}
