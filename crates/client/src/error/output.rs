//! Outputs that do not match the schema of their tool.

use std::fmt;

use pintle_model::CallToolResult;
use pintle_schema::Violation;

/// Output of a tool that violates the tool's output schema.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OutputError {
    /// Name of the tool.
    pub tool: Box<str>,
    /// The violation.
    pub fault: OutputErrorKind,
    /// The result as received: for inspection only, because it is not valid.
    pub result: CallToolResult,
}

/// The violation of an output schema.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutputErrorKind {
    /// The result has no structured content.
    Missing,
    /// The structured content violates the schema: the violations with their places, from 1 to 16.
    Violations(Vec<Violation>),
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.fault {
            OutputErrorKind::Missing => write!(
                f,
                "the tool {tool:?} has an output schema, but its result has no structured content"
            ),
            OutputErrorKind::Violations(violations) => {
                write!(
                    f,
                    "the structured content of the tool {tool:?} does not match its output schema"
                )?;
                let mut separator = ": ";
                for violation in violations {
                    write!(f, "{separator}{violation}")?;
                    separator = "; ";
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for OutputError {}
