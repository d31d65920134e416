//! A short name for a long description. It is the same in every run.

use std::fmt;

/// FNV-1a in 64 bits. It identifies a server. It must not get a secret, because it can be reversed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds a part and its length, so that the boundary between parts matters.
    pub(super) fn add(&mut self, part: &[u8]) {
        let length = part.len().to_le_bytes();
        for byte in length.iter().chain(part) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a list of parts and their number, so that the end of the list matters.
    pub(super) fn add_all<'a>(&mut self, parts: impl IntoIterator<Item = &'a [u8]>) {
        let mut count: usize = 0;
        for part in parts {
            self.add(part);
            count += 1;
        }
        self.add(&count.to_le_bytes());
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(lists: &[&[&[u8]]]) -> String {
        let mut print = Fingerprint::default();
        for list in lists {
            print.add_all(list.iter().copied());
        }
        print.to_string()
    }

    #[test]
    fn a_fingerprint_depends_on_the_ends_of_parts_and_lists() {
        let prints = [
            print(&[&[b"ab", b"c"]]),
            print(&[&[b"a", b"bc"]]),
            print(&[&[b"abc"]]),
            print(&[&[b"ab"], &[b"c"]]),
            print(&[&[], &[b"ab", b"c"]]),
        ];
        for (at, one) in prints.iter().enumerate() {
            assert!(!prints[at + 1..].contains(one), "{prints:?}");
        }
    }

    /// Fingerprints are stored on disk: another algorithm would orphan the stored data.
    #[test]
    fn the_fingerprint_of_a_description_never_changes() {
        assert_eq!(print(&[]), "cbf29ce484222325");
        assert_eq!(print(&[&[b"npx", b"-y"]]), print(&[&[b"npx", b"-y"]]));
    }
}
