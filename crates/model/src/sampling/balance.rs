//! Tool uses and tool results must answer each other, turn by turn.
//!
//! Spec: [2026-07-28, Sampling, Message content constraints][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#message-content-constraints

use std::collections::BTreeSet;

use super::SamplingMessage;
use crate::{ContentBlock, Role};

errors! {
    /// Fault of a sampling request: its tools, uses and results do not match.
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum SamplingRequestError {
        /// A tool must be used, but the request has no tools.
        NothingToUse => "`toolChoice` requires a tool, but the request has no tools",
        /// A turn has a tool use, but is not the assistant's.
        UseOutsideAssistant {
            /// The place of the turn, from 0.
            turn: usize,
        } => "message {turn} uses a tool, but is not the assistant's",
        /// A turn has a tool result, but is not the user's.
        ResultOutsideUser {
            /// The place of the turn, from 0.
            turn: usize,
        } => "message {turn} has a tool result, but is not the user's",
        /// A turn has tool results and something else.
        Mixed {
            /// The place of the turn, from 0.
            turn: usize,
        } => "message {turn} mixes tool results with other content",
        /// The turn after a tool use has no result for it.
        Unanswered {
            /// The id of the tool use.
            id: String,
        } => "tool use {id:?} has no result",
        /// A tool result answers no tool use of the turn before.
        Stray {
            /// The id the result names.
            id: String,
        } => "tool result {id:?} answers no tool use",
        /// Two tool uses, or two results, of one turn have the same id.
        Repeated {
            /// The id.
            id: String,
        } => "tool use id {id:?} occurs twice",
    }
}

impl From<SamplingRequestError> for crate::Error {
    /// -32602, with the fault as its message.
    fn from(fault: SamplingRequestError) -> Self {
        Self::invalid_params(fault.to_string())
    }
}

/// Checks that every tool use is answered by the very next turn, and every result answers one.
///
/// # Errors
///
/// The first fault in the order of the turns.
pub fn check_tool_results(messages: &[SamplingMessage]) -> Result<(), SamplingRequestError> {
    let mut open = BTreeSet::new();
    for (turn, message) in messages.iter().enumerate() {
        let (uses, results) = ids_of(turn, message)?;
        check_answers(&open, &results)?;
        open = uses;
    }
    check_answers(&open, &BTreeSet::new())
}

type Ids<'a> = BTreeSet<&'a str>;

/// The ids a turn uses and answers.
fn ids_of(
    turn: usize,
    message: &SamplingMessage,
) -> Result<(Ids<'_>, Ids<'_>), SamplingRequestError> {
    let (mut uses, mut results, mut others) = (Ids::new(), Ids::new(), 0);
    for block in message.content.blocks() {
        match block {
            ContentBlock::ToolUse(_) if message.role != Role::Assistant => {
                return Err(SamplingRequestError::UseOutsideAssistant { turn });
            }
            ContentBlock::ToolResult(_) if message.role != Role::User => {
                return Err(SamplingRequestError::ResultOutsideUser { turn });
            }
            ContentBlock::ToolUse(tool_use) => note(&mut uses, &tool_use.id)?,
            ContentBlock::ToolResult(result) => note(&mut results, &result.tool_use_id)?,
            _ => others += 1,
        }
    }
    if others > 0 && !results.is_empty() {
        return Err(SamplingRequestError::Mixed { turn });
    }
    Ok((uses, results))
}

fn note<'a>(ids: &mut Ids<'a>, id: &'a str) -> Result<(), SamplingRequestError> {
    if ids.insert(id) {
        return Ok(());
    }
    Err(SamplingRequestError::Repeated { id: id.to_owned() })
}

/// Checks that the results of a turn answer the open tool uses of the turn before.
fn check_answers(open: &Ids<'_>, results: &Ids<'_>) -> Result<(), SamplingRequestError> {
    if let Some(id) = open.difference(results).next() {
        return Err(SamplingRequestError::Unanswered {
            id: (*id).to_owned(),
        });
    }
    match results.difference(open).next() {
        Some(id) => Err(SamplingRequestError::Stray {
            id: (*id).to_owned(),
        }),
        None => Ok(()),
    }
}
