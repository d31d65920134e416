//! Names of sessions: 128 random bits.

use std::fmt;

use http::HeaderValue;

/// The name of a session. Knowing it is not permission, but it cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionId(u128);

/// The operating system had no randomness to give.
#[derive(Debug)]
pub(crate) struct NoRandomness;

impl SessionId {
    /// Draws a new name.
    ///
    /// # Errors
    ///
    /// [`NoRandomness`]: no session is better than one that can be guessed.
    pub(crate) fn draw() -> Result<Self, NoRandomness> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| NoRandomness)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    /// Reads a name as we write it: 32 hexadecimal digits in lower case.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let append = |id: u128, byte: u8| {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            Some(id << 4 | u128::from(digit))
        };
        let ours = text.len() == 32;
        ours.then(|| text.bytes().try_fold(0, append).map(Self))?
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
    use std::collections::HashSet;

    use super::*;

    // spec: 2025-11-25 TRANS-SESS-02, TRANS-SESS-03, SEC-17
    // hardening: H-12
    #[test]
    fn names_are_visible_ascii_and_never_repeat() {
        let drawn: HashSet<_> = (0..20)
            .map(|_| SessionId::draw().expect("randomness").to_string())
            .collect();
        assert_eq!(drawn.len(), 20);
        assert!(
            drawn
                .iter()
                .all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_graphic()))
        );
    }

    #[test]
    fn only_our_own_spelling_is_a_name() {
        let id = SessionId::draw().expect("randomness");
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
