//! Values that are never printed: tokens, codes, verifiers, client secrets.

use std::fmt;

use zeroize::{Zeroize, Zeroizing};

/// A value that prints nothing of itself, and is wiped from memory when it is dropped.
///
/// There is no `Display`, and `Debug` shows no part of the value. Code that needs the value calls
/// [`reveal`](Self::reveal), so a search for that word finds every use.
#[derive(Clone)]
pub struct Secret<T: Zeroize = String>(Zeroizing<T>);

impl<T: Zeroize> Secret<T> {
    /// Takes a value in.
    pub fn new(value: T) -> Self {
        Self(Zeroizing::new(value))
    }

    /// Returns the value, for code that must send or compare it.
    pub fn reveal(&self) -> &T {
        &self.0
    }
}

impl Secret<String> {
    /// Compares the value with `other`. The time does not depend on the position of a difference.
    pub fn is(&self, other: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), other.as_bytes());
        let differing = own.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
        own.len() == other.len() && std::hint::black_box(differing) == 0
    }
}

impl From<String> for Secret<String> {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self::new(value.to_owned())
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-46
    #[test]
    fn a_secret_shows_nothing_of_itself() {
        let secret = Secret::from("hunter2");
        assert_eq!(
            format!("{secret:?} {:#?}", Some(&secret)),
            "Secret Some(\n    Secret,\n)"
        );
        assert_eq!(secret.reveal(), "hunter2");
    }

    #[test]
    fn secrets_are_compared_whole() {
        let secret = Secret::from("abc");
        assert!(secret.is("abc"));
        for other in ["", "ab", "abd", "abcd", "ABC"] {
            assert!(!secret.is(other), "{other}");
        }
    }
}
