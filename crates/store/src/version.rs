//! The version of a record.

/// Which put of a key a record comes from. Only equality means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Version(u64);

impl Version {
    /// A version, for those who write a store.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, for those who write a store.
    pub const fn get(self) -> u64 {
        self.0
    }
}
