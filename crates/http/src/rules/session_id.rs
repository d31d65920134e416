//! Names of sessions: 128 random bits.

use std::fmt;

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
        HeaderValue::try_from(self.to_string()).expect("hexadecimal digits are a header value")
    }
}

/// Reads one half of a name. It looks at all digits before it decides, because that takes fewer steps.
fn half(digits: [u8; 16]) -> Option<u64> {
    let (mut number, mut all) = (0, 0);
    for byte in digits {
        let digit = VALUES[usize::from(byte)];
        number = number << 4 | u64::from(digit & 15);
        all |= digit;
    }
    (all < 16).then_some(number)
}

/// The values of digits; 255 for all other bytes.
static VALUES: [u8; 256] = {
    let mut values = [u8::MAX; 256];
    let mut digit = 0;
    while digit < 16 {
        values[b"0123456789abcdef"[digit] as usize] = digit as u8;
        digit += 1;
    }
    values
};

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
