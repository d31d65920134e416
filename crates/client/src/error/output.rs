//! Outputs that do not match the schema of their tool.

use std::fmt;

use pintle_model::CallToolResult;
use pintle_schema::Violation;

/// What a tool gave, although its output schema promises something else.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OutputError {
    /// The tool.
    pub tool: Box<str>,
    /// What is wrong.
    pub fault: OutputErrorKind,
    /// The result as it came: to be looked at, not to be relied on.
    pub result: CallToolResult,
}

/// What is wrong with an output.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OutputErrorKind {
    /// There is no structured content.
    Missing,
    /// It is not what the schema asks for: where, and what belongs there. At least one, 16 at most.
    Violations(Vec<Violation>),
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = &self.tool;
        match &self.fault {
            OutputErrorKind::Missing => write!(
                f,
                "the tool {tool:?} promises structured content, and gave none"
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
