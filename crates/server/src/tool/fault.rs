//! Why a tool cannot be offered.

use pintle_model::names::NameFault;

use crate::schema::SchemaError;

/// What is wrong with a tool. Its author is to blame; servers say it when they start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolFault {
    /// Its name is outside the grammar of tool names.
    #[error("a tool cannot have this name")]
    Name(#[source] NameFault),
    /// Its arguments' schema cannot be offered or enforced.
    #[error("the schema of the arguments cannot be used")]
    Input(#[source] SchemaError),
    /// The schema of its structured content cannot be offered or enforced.
    #[error("the schema of the result cannot be used")]
    Output(#[source] SchemaError),
    /// Two parameters of its handler take all arguments.
    #[error("two parameters of the handler take all arguments: make them one type")]
    Ambiguous,
    /// It has no handler.
    #[error("the tool runs nothing: give it a handler")]
    Idle,
}
