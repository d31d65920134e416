//! Printing the result of a tool.

use std::path::Path;

use pintle::model::CallToolResult;

use crate::args::Format;
use crate::conversation::Conversation;
use crate::exit::{CliError, Exit};
use crate::output::{self, Saving};
use crate::show;

/// Prints the result of a tool.
///
/// # Errors
///
/// The output cannot be written.
pub(crate) fn print(
    conversation: &Conversation,
    tool: &str,
    save: Option<&Path>,
    result: &CallToolResult,
) -> Result<(), CliError> {
    let screen = &conversation.screen;
    if conversation.format == Format::Json {
        return output::json(screen, result);
    }
    let saving = Saving::new(tool, save);
    if result.content.is_empty() {
        return match &result.structured_content {
            Some(data) => output::json(screen, data),
            None => Ok(()),
        };
    }
    output::parts(screen, show::blocks(&result.content, screen.output), saving)
}

/// The error for a tool that reports a failure; its content is printed before.
pub(super) fn tool_failed(tool: &str) -> CliError {
    CliError::new(Exit::Failed, format!("the tool `{tool}` reports a failure"))
}
