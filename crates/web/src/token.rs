//! The token that a browser needs: only the URL that the user opened has it.

use std::fmt;

use pintle_runtime::{RandomnessError, random_bytes};

/// A random token of 256 bits. It is not shown by `Debug`.
pub(crate) struct Token(String);

impl Token {
    /// Draws a token.
    ///
    /// # Errors
    ///
    /// [`RandomnessError`] if the system has no randomness.
    pub(crate) fn draw() -> Result<Self, RandomnessError> {
        let bytes: [u8; 32] = random_bytes()?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Returns true if the bytes are the token. The time does not depend on the position of a difference.
    pub(crate) fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let difference = own
            .iter()
            .zip(given)
            .fold(0, |difference, (a, b)| difference | (a ^ b));
        // The length of the token is not a secret.
        own.len() == given.len() && std::hint::black_box(difference) == 0
    }

    /// Returns the text of the token, for the URL.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_equals_only_itself() {
        let (token, other) = (Token::draw().expect("drawn"), Token::draw().expect("drawn"));
        assert!(token.is(token.reveal().as_bytes()));
        assert!(!token.is(other.reveal().as_bytes()));
        assert!(!token.is(b""));
        assert!(!token.is(&token.reveal().as_bytes()[1..]));
        let longer = format!("{}0", token.reveal());
        assert!(!token.is(longer.as_bytes()));
        assert_eq!(format!("{token:?}"), "Token");
    }
}
