//! The name of a replica.

use std::fmt;
use std::str::FromStr;

use pintle_model::errors;

use crate::random::{RandomnessError, random_bytes};

/// Name of one process in a fleet: 40 random bits, as 8 characters of base32.
///
/// A process draws it when it joins, so a process that starts again has another name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaId([u8; Self::CHARACTERS]);

errors! {
    /// A text is not the name of a replica.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct ReplicaIdError => "invalid replica id: it is not 8 characters of a-z and 2-7";
}

const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
const BITS_PER_CHARACTER: usize = 5;

impl ReplicaId {
    /// Length of the text.
    pub const CHARACTERS: usize = 8;

    pub(super) fn random() -> Result<Self, RandomnessError> {
        Ok(Self::from_bytes(random_bytes()?))
    }

    fn from_bytes(bytes: [u8; 5]) -> Self {
        let number = bytes
            .iter()
            .fold(0, |sum, byte| (sum << 8) | usize::from(*byte));
        let character = |at: usize| {
            let digit = number >> (BITS_PER_CHARACTER * (Self::CHARACTERS - 1 - at));
            ALPHABET[digit % ALPHABET.len()]
        };
        Self(std::array::from_fn(character))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet is ASCII")
    }
}

impl FromStr for ReplicaId {
    type Err = ReplicaIdError;

    fn from_str(text: &str) -> Result<Self, ReplicaIdError> {
        let bytes: [u8; Self::CHARACTERS] =
            text.as_bytes().try_into().map_err(|_| ReplicaIdError)?;
        if bytes.iter().all(|byte| ALPHABET.contains(byte)) {
            Ok(Self(bytes))
        } else {
            Err(ReplicaIdError)
        }
    }
}

impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplicaId({})", self.as_str())
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_replica_id_has_eight_characters_of_base32() {
        for (bytes, text) in [
            ([0; 5], "aaaaaaaa"),
            ([0xff; 5], "77777777"),
            ([0, 0, 0, 0, 1], "aaaaaaab"),
            (*b"hello", "nbswy3dp"),
        ] {
            let id = ReplicaId::from_bytes(bytes);
            assert_eq!(id.as_str(), text);
            assert_eq!(text.parse(), Ok(id));
        }
    }

    #[test]
    fn a_text_of_another_form_is_not_a_replica_id() {
        for text in [
            "",
            "aaaaaaa",
            "aaaaaaaaa",
            "AAAAAAAA",
            "aaaaaaa1",
            "aaaaaaé",
        ] {
            assert_eq!(text.parse::<ReplicaId>(), Err(ReplicaIdError), "{text}");
        }
    }
}
