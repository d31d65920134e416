//! A short name for a long description, the same in every run.

use std::fmt;

/// FNV-1a in 64 bits. It tells servers apart; it hides nothing, so no secret goes in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds a part. Where it ends matters.
    pub(super) fn add(&mut self, part: &[u8]) {
        let length = part.len().to_le_bytes();
        for byte in length.iter().chain(part) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a list of parts. Where it ends matters.
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
    fn it_tells_descriptions_apart_by_where_their_parts_end() {
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

    /// It is kept on disk: another algorithm forgets what was learned.
    #[test]
    fn it_stays_what_it_is() {
        assert_eq!(print(&[]), "cbf29ce484222325");
        assert_eq!(print(&[&[b"npx", b"-y"]]), print(&[&[b"npx", b"-y"]]));
    }
}
