//! Text between quotes.

/// Adds `text` as a JSON string.
pub(super) fn quoted(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    // Room for the quotes and for a line end or two; text that is full of escapes makes its own.
    out.reserve(rest.len() + rest.len() / 16 + 4);
    out.push(b'"');
    while let Some(at) = first_special(rest) {
        out.extend_from_slice(&rest[..at]);
        escaped(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Where the first byte is that cannot stand in a string: a quote, a backslash, or a control
/// character.
fn first_special(text: &[u8]) -> Option<usize> {
    let (words, rest) = text.as_chunks::<8>();
    for (nth, word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return Some(nth * 8 + marks.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|byte| is_special(*byte))?;
    Some(words.len() * 8 + at)
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || matches!(byte, b'"' | b'\\')
}

/// The top bits of the special bytes among eight; the lowest one is exact, bits above it may be too
/// many.
fn marks(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |word: u64, least: u64| word.wrapping_sub(ONES * least) & !word;
    let is = |byte: u8| {
        let zero_where = word ^ (ONES * u64::from(byte));
        below(zero_where, 1)
    };
    (below(word, 0x20) | is(b'"') | is(b'\\')) & TOPS
}

fn escaped(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            let digit = |value: u8| DIGITS[usize::from(value & 15)];
            return out.extend_from_slice(&[
                b'\\',
                b'u',
                b'0',
                b'0',
                digit(byte >> 4),
                digit(byte),
            ]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}
