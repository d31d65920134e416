//! Parameters that the program sets.

use std::fmt;

use crate::parameter::Place;

/// A header, or a parameter of the query, that the program sets in each request.
#[derive(Clone)]
pub(crate) struct FixedParameter {
    pub(crate) place: Place,
    pub(crate) name: Box<str>,
    pub(crate) value: Box<str>,
}

impl FixedParameter {
    /// Returns true if the parameter is this one. Header names have no case.
    pub(crate) fn sets(&self, place: Place, name: &str) -> bool {
        self.place == place
            && match place {
                Place::Header => self.name.eq_ignore_ascii_case(name),
                _ => *self.name == *name,
            }
    }
}

impl fmt::Debug for FixedParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The value is omitted, because it may be a secret.
        write!(f, "{} in {}", self.name, self.place.name())
    }
}
