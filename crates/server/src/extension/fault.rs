//! What is wrong with an extension.

use std::fmt;

use pintle_model::names::NameFault;

/// Why an extension cannot be offered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtensionFault {
    /// Its id breaks the grammar, has no prefix, or has one that is not its author's.
    Id(NameFault),
    /// There is another extension of this id.
    Taken,
    /// A method or notice of this name is the protocol's own.
    CoreName(Box<str>),
    /// A method or notice has this name, which cannot be one.
    BadName(Box<str>),
    /// Another extension has a method or notice of this name.
    TakenName(Box<str>),
    /// The filter of listeners has this member already.
    TakenTopic(Box<str>),
}

impl fmt::Display for ExtensionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(_) => f.write_str("its id is none an extension may have"),
            Self::Taken => f.write_str("the server has an extension of this id already"),
            Self::CoreName(name) => write!(f, "`{name}` is the protocol's own"),
            Self::BadName(name) => write!(
                f,
                "`{name}` cannot be its name: methods are named like `tides/get`, notices like \
                 `notifications/tides/changed`"
            ),
            Self::TakenName(name) => write!(f, "another extension has `{name}`"),
            Self::TakenTopic(topic) => write!(f, "listeners ask for something else by `{topic}`"),
        }
    }
}

impl std::error::Error for ExtensionFault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Id(fault) => Some(fault),
            _ => None,
        }
    }
}
