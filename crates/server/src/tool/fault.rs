//! Why a tool cannot be offered.

use std::error::Error;
use std::fmt;

use pintle_model::names::NameError;
use pintle_schema::SchemaError;

/// What is wrong with a tool. Its author is to blame; servers say it when they start.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolDefinitionError {
    /// Its name is empty.
    Name(NameError),
    /// Its arguments' schema cannot be offered or enforced.
    Input(SchemaError),
    /// The schema of its structured content cannot be offered or enforced.
    Output(SchemaError),
    /// Two parameters of its handler take all arguments.
    Ambiguous,
    /// It has no handler.
    NoHandler,
}

impl fmt::Display for ToolDefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name(_) => "a tool cannot have this name",
            Self::Input(_) => "the schema of the arguments cannot be used",
            Self::Output(_) => "the schema of the result cannot be used",
            Self::Ambiguous => "two parameters of the handler take all arguments: make them one",
            Self::NoHandler => "the tool runs nothing: give it a handler",
        })
    }
}

impl Error for ToolDefinitionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Name(fault) => Some(fault),
            Self::Input(error) | Self::Output(error) => Some(error),
            Self::Ambiguous | Self::NoHandler => None,
        }
    }
}
