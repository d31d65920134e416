//! Changes to bytes that were interesting once.

use pintle_testkit::Rng;

/// How long an input may grow, in bytes.
const LONGEST: usize = 16 << 10;

/// Pieces of text that may matter at another place.
const WORDS: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\t",
    b"\0",
    b"\xEF\xBB\xBF",
    b"\xFF",
    b"\xC0\xAF",
    b"\xED\xA0\x80",
    b"null",
    b"true",
    b"1",
    b"-0",
    b"1e999",
    b"1.0",
    b"18446744073709551616",
    b"9007199254740993",
    b"data:",
    b"id:",
    b"event:",
    b"retry:",
    b"\"id\":",
    b"\"jsonrpc\":\"2.0\"",
    b"\"method\":",
    b"\"params\":",
    b"\"result\":{}",
    b"\"error\":{}",
    b"\"$ref\":\"#\"",
    b"\"type\":",
    b"{+",
    b"{?",
    b"{/x*}",
    b"%2F",
    b"%",
    b"Bearer ",
    b"scope=\"a b\"",
    b"=?base64?",
    b"?=",
    b"/*",
    b"//",
    b"#",
    b"&a",
    b"*a",
    b"- ",
    b"\"enum\":[",
    b"\"oneOf\":[",
    b"\"pattern\":\"",
    b"2026-07-28",
    b"2025-11-25",
    b"localhost",
];

/// One of the corpus, changed at random.
pub(super) fn from(corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = rng.pick(corpus).cloned().unwrap_or_default();
    for _ in 0..=rng.below(6) {
        change(&mut bytes, corpus, rng);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], rng: &mut Rng) {
    let at = rng.below(bytes.len() + 1);
    let to = at + rng.below(bytes.len() - at + 1).min(64);
    match rng.below(8) {
        0 => flip(bytes, at, rng),
        1 => drop(bytes.drain(at..to)),
        2 => bytes.truncate(at),
        3 => {
            let again = bytes[at..to].to_vec();
            insert(bytes, at, &again);
        }
        4 => {
            // The same many times over, for whatever counts or nests.
            let again = bytes[at..to].repeat(1 + rng.below(200));
            insert(bytes, at, &again);
        }
        5 => {
            let other = rng.pick(corpus).cloned().unwrap_or_default();
            let from = rng.below(other.len() + 1);
            insert(bytes, at, &other[from..]);
        }
        _ => {
            let word = rng.pick(WORDS).copied().unwrap_or_default();
            insert(bytes, at, word);
        }
    }
}

fn flip(bytes: &mut [u8], at: usize, rng: &mut Rng) {
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << rng.below(8);
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, what: &[u8]) {
    if bytes.len() + what.len() <= 2 * LONGEST {
        bytes.splice(at..at, what.iter().copied());
    }
}
