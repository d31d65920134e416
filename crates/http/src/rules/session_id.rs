//! Names of sessions: 128 random bits.

use std::fmt;
use std::hash::Hasher;

use http::HeaderValue;

/// The name of a session. Knowing it is not permission, but it cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionId(u128);

impl SessionId {
    /// A session id of these bytes. They must be random, because the id must not be guessed.
    pub(crate) fn new(random: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(random))
    }

    /// Reads a name as we write it: 32 hexadecimal digits in lower case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (high, low) = text.as_bytes().split_at_checked(16)?;
        let (high, low) = (high.try_into().ok()?, low.try_into().ok()?);
        Some(Self(u128::from(half(high)?) << 64 | u128::from(half(low)?)))
    }

    /// The random bits.
    pub(crate) fn bits(self) -> u128 {
        self.0
    }

    /// The name as a header value.
    pub(crate) fn to_header(self) -> HeaderValue {
        HeaderValue::from_bytes(&self.digits()).expect("hexadecimal digits are a header value")
    }

    fn digits(self) -> [u8; 32] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 32];
        for (pair, byte) in digits
            .as_chunks_mut()
            .0
            .iter_mut()
            .zip(self.0.to_be_bytes())
        {
            *pair = [byte >> 4, byte & 15].map(|value| DIGITS[usize::from(value)]);
        }
        digits
    }
}

/// Hashes ids of sessions. Their bits are random and drawn by servers, so a part of them is a hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RandomBits(u64);

impl Hasher for RandomBits {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, id: u128) {
        let [a, b, c, d, e, f, g, h, ..] = id.to_be_bytes();
        self.0 = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Reads one half of a name, all digits together.
fn half(digits: [u8; 16]) -> Option<u64> {
    let values = u128::from_be_bytes(digits.map(value_of));
    let is_valid = values & repeated(0xF0, 8) == 0;
    let number = JOINS
        .iter()
        .fold(values, |parts, (bits, mask)| (parts | parts >> bits) & mask);
    u64::try_from(number).ok().filter(|_| is_valid)
}

/// Each join puts two neighbours of so many bits together, and the mask removes the rest.
const JOINS: [(u32, u128); 4] = [
    (4, repeated(0xFF, 16)),
    (8, repeated(0xFFFF, 32)),
    (16, repeated(0xFFFF_FFFF, 64)),
    (32, repeated(0xFFFF_FFFF_FFFF_FFFF, 128)),
];

/// Returns a number with `part` in each of its parts of so many bits.
const fn repeated(part: u128, bits: u32) -> u128 {
    u128::MAX / (u128::MAX >> (128 - bits)) * part
}

/// Returns the value of a digit; more than 15 for all other bytes. It has no branches, because it is
/// applied to many bytes together.
fn value_of(byte: u8) -> u8 {
    let (digit, letter) = (byte.wrapping_sub(b'0'), byte.wrapping_sub(b'a'));
    match (digit < 10, letter < 6) {
        (true, _) => digit,
        (_, true) => letter + 10,
        _ => u8::MAX,
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The beginning only: whole names do not belong into logs.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}…", self.0 >> 112)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_spelling_is_a_name() {
        let id = SessionId::new([0x5a; 16]);
        assert_eq!(SessionId::parse(&id.to_string()), Some(id));
        assert_eq!(id.to_header(), id.to_string());
        for text in [
            "",
            "x",
            "0x123",
            "+123456789abcdef0123456789abcdef0",
            "0123456789ABCDEF0123456789ABCDEF",
        ] {
            assert_eq!(SessionId::parse(text), None);
        }
    }
}
