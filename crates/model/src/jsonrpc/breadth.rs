//! About how many values a JSON text has, without reading them.
//!
//! Every value follows a comma or an opening bracket, except the first: counting these is as good as
//! counting values, but for an empty object or array, which counts as two.

use super::depth::string_end;

/// Whether `json` (a syntactically valid JSON text) has more than `max` commas and opening brackets
/// outside of strings.
pub(crate) fn exceeds(json: &str, max: usize) -> bool {
    let bytes = json.as_bytes();
    // A short text cannot have many. Counting bytes vectorises, the exact pass does not.
    let may_exceed = || bytes.len() > max && all_marks(json) > max;
    may_exceed() && marks_outside_strings(bytes) > max
}

/// Counts the commas and opening brackets of a text, also inside of strings.
pub(crate) fn all_marks(json: &str) -> usize {
    json.as_bytes().chunks(128).map(marks_of).sum()
}

/// The marks of a chunk that is too short to overflow the count.
fn marks_of(chunk: &[u8]) -> usize {
    let marks = chunk.iter().map(|byte| u8::from(is_mark(*byte)));
    usize::from(marks.sum::<u8>())
}

fn is_mark(byte: u8) -> bool {
    matches!(byte, b',' | b'{' | b'[')
}

fn marks_outside_strings(bytes: &[u8]) -> usize {
    let (mut marks, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            byte => marks += usize::from(is_mark(*byte)),
        }
        at += 1;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_itself_is_accepted_and_one_more_is_not() {
        for text in [
            "[1,2,3]",
            r#"{"a":1,"b":2,"c":3}"#,
            r#"[{"a":0}]   "#,
            "[[],[]]",
        ] {
            let marks = marks_outside_strings(text.as_bytes());
            assert!(!exceeds(text, marks) && exceeds(text, marks - 1), "{text}");
        }
        assert_eq!(marks_outside_strings(b"[1,2,3]"), 3);
        assert_eq!(marks_outside_strings(br#"[{"a":{}}]"#), 3);
    }

    #[test]
    fn marks_inside_strings_do_not_count() {
        let text = format!("[\"{}\\\"{}\"]", ",".repeat(200), "{[".repeat(200));
        assert!(!exceeds(&text, 1) && exceeds(&text, 0));
    }
}
