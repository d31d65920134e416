//! Text between quotes.
//!
//! A long text is taken in parts: what must be escaped in a part is found first, all of it at once, in a
//! loop that compilers turn into vector instructions; then the pieces between are copied, each with a
//! copy of fixed length that is cut to its own. A short text, and the end of a long one, is searched
//! eight bytes at a time.

use super::memory::keep_memory;
use crate::special::{PART, has_special, is_special, mask};

/// A text of so many bytes is examined as a part: its words take more instructions.
const MANY_WORDS: usize = 32;

/// Adds `text` as a JSON string.
pub(crate) fn quoted(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    // The quotes, and a line end or two; text that is full of escapes makes its own room.
    make_room(out, text.len() + text.len() / 16 + 4);
    out.push(b'"');
    let rest = match text.len() {
        short if short < 2 * PART => text,
        _ => parts(out, text),
    };
    words(out, rest);
    out.push(b'"');
}

/// Reserves room for so many more bytes.
///
/// A buffer that must grow gets a power of two as its capacity, like one that grows byte by byte.
/// Allocators reuse blocks of a recurring size.
fn make_room(out: &mut Vec<u8>, bytes: usize) {
    let whole = out.len().saturating_add(bytes);
    if whole > out.capacity() {
        let capacity = whole.next_power_of_two();
        keep_memory(capacity);
        out.reserve(capacity - out.len());
    }
}

/// Adds a long text without its end; returns the end.
fn parts<'t>(out: &mut Vec<u8>, text: &'t [u8]) -> &'t [u8] {
    let mut rest = text;
    // There is as much behind a part, so that a copy of that length from within it stays inside.
    while rest.len() >= 2 * PART {
        let Some((part, after)) = rest.split_first_chunk() else {
            break;
        };
        let mut begin = 0;
        let mut mask = mask(part);
        while mask != 0 {
            let at = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            piece(out, &rest[begin..], at - begin);
            escaped(out, part[at]);
            begin = at + 1;
        }
        piece(out, &rest[begin..], PART - begin);
        rest = after;
    }
    rest
}

/// Adds the first `length` bytes of a text that has more than a part; at most a part of it.
fn piece(out: &mut Vec<u8>, text: &[u8], length: usize) {
    let end = out.len() + length;
    if let Some(part) = text.first_chunk::<PART>() {
        out.extend_from_slice(part);
        out.truncate(end);
    }
}

/// Adds a short text.
fn words(out: &mut Vec<u8>, text: &[u8]) {
    if is_plain(text) {
        return out.extend_from_slice(text);
    }
    let mut rest = text;
    while let Some(at) = first_special(rest) {
        out.extend_from_slice(&rest[..at]);
        escaped(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Returns true if a text needs no escapes, as most short ones.
fn is_plain(text: &[u8]) -> bool {
    let word = |word: &[u8; 8]| marks(u64::from_le_bytes(*word));
    // The last part overlaps the part before it, if the parts do not fill the text. So do words.
    if let Some(last) = text.last_chunk() {
        let (parts, _) = text.as_chunks();
        return !parts.iter().chain([last]).any(has_special);
    }
    if text.len() >= MANY_WORDS {
        let mut padded = [b' '; PART];
        padded[..text.len()].copy_from_slice(text);
        return !has_special(&padded);
    }
    if let Some(last) = text.last_chunk() {
        let (words, _) = text.as_chunks();
        let found = words
            .iter()
            .fold(word(last), |found, next| found | word(next));
        return found == 0;
    }
    match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some([a, b, c, d]), Some([e, f, g, h])) => word(&[*a, *b, *c, *d, *e, *f, *g, *h]) == 0,
        _ => !text.iter().any(|byte| is_special(*byte)),
    }
}

/// Returns the position of the first byte that needs an escape.
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

/// The top bits of the special bytes among eight; the lowest one is exact, bits above it may be too
/// many.
fn marks(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    let below = |word: u64, min: u64| word.wrapping_sub(ONES * min) & !word;
    let is = |byte: u8| {
        let zero_where = word ^ (ONES * u64::from(byte));
        below(zero_where, 1)
    };
    (below(word, 0x20) | is(b'"') | is(b'\\')) & TOPS
}

/// Adds the escape of a byte.
fn escaped(out: &mut Vec<u8>, byte: u8) {
    match SHORT.get(usize::from(byte)) {
        Some(0) | None => out.extend_from_slice(&spelt(byte)),
        Some(short) => out.extend_from_slice(&[b'\\', *short]),
    }
}

/// Letter after the backslash for a byte; 0 for bytes without such a letter.
static SHORT: [u8; 0x5D] = {
    let mut short = [0; 0x5D];
    short[0x08] = b'b';
    short[b'\t' as usize] = b't';
    short[b'\n' as usize] = b'n';
    short[0x0C] = b'f';
    short[b'\r' as usize] = b'r';
    short[b'"' as usize] = b'"';
    short[b'\\' as usize] = b'\\';
    short
};

/// Adds a control character by its number.
fn spelt(byte: u8) -> [u8; 6] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| DIGITS[usize::from(value & 15)];
    [b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte)]
}
