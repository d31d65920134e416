//! How deep a JSON text nests, without recursion.

/// Deepest nesting a message may have, counted in open brackets, the message itself included.
pub(crate) const MAX_DEPTH: usize = 128;

/// Whether `json` (a syntactically valid JSON text) nests deeper than `max`.
pub(crate) fn exceeds(json: &str, max: usize) -> bool {
    let bytes = json.as_bytes();
    // Few brackets cannot nest deeply. Counting them in bytes vectorises, the exact pass does not.
    let openings: usize = bytes.chunks(128).map(openings_of).sum();
    openings > max && deepest(bytes) > max
}

/// The open brackets of a chunk that is too short to overflow the count.
fn openings_of(chunk: &[u8]) -> usize {
    let openings = chunk.iter().map(|b| u8::from(matches!(b, b'{' | b'[')));
    usize::from(openings.sum::<u8>())
}

fn deepest(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut at) = (0usize, 0usize, 0usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1),
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// The index of the quote that closes the string whose text begins at `at`.
pub(super) fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(step) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += step;
        if bytes.get(at) == Some(&b'"') {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    // hardening: H-113
    #[test]
    fn the_limit_itself_is_accepted_and_one_more_is_not() {
        assert!(!exceeds(&nested(MAX_DEPTH), MAX_DEPTH));
        assert!(exceeds(&nested(MAX_DEPTH + 1), MAX_DEPTH));
    }

    #[test]
    fn brackets_inside_strings_do_not_nest() {
        let text = format!("[\"{}\\\"{}\"]", "[".repeat(200), "{".repeat(200));
        assert!(!exceeds(&text, MAX_DEPTH));
    }

    #[test]
    fn siblings_do_not_nest() {
        let text = format!("[{}[]]", "[],".repeat(500));
        assert!(!exceeds(&text, MAX_DEPTH));
    }
}
