//! The places of versions.

use std::fmt;

/// A version and the place that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) place: String,
    pub(crate) version: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has {}", self.place, self.version)
    }
}
