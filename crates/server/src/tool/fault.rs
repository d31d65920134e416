//! Why a tool cannot be offered.

use std::error::Error;
use std::fmt;

use pintle_model::names::NameFault;
use pintle_schema::SchemaError;

/// What is wrong with a tool. Its author is to blame; servers say it when they start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFault {
    /// Its name is empty.
    Name(NameFault),
    /// Its arguments' schema cannot be offered or enforced.
    Input(SchemaError),
    /// The schema of its structured content cannot be offered or enforced.
    Output(SchemaError),
    /// Two parameters of its handler take all arguments.
    Ambiguous,
    /// It has no handler.
    Idle,
}

impl fmt::Display for ToolFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name(_) => "a tool cannot have this name",
            Self::Input(_) => "the schema of the arguments cannot be used",
            Self::Output(_) => "the schema of the result cannot be used",
            Self::Ambiguous => "two parameters of the handler take all arguments: make them one",
            Self::Idle => "the tool runs nothing: give it a handler",
        })
    }
}

impl Error for ToolFault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Name(fault) => Some(fault),
            Self::Input(error) | Self::Output(error) => Some(error),
            Self::Ambiguous | Self::Idle => None,
        }
    }
}
