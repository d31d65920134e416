//! The answer of a call, and how the client reads it.
//!
//! Spec: [2025-11-25, Tasks][core]; extension `io.modelcontextprotocol/tasks` (SEP-2663).
//!
//! [core]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks

use std::sync::Arc;

use pintle_model::method::{CallTool, Method};
use pintle_model::{
    CallToolResult, EmptyResult, Feature, InputRequired, Outcome, OutcomeError, ResultType,
    TASKS_EXTENSION, Task as Record,
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::conversation::Conversation;
use crate::error::{CallError, Misbehavior};
use crate::request::Request;
use crate::state::ClientState;

/// The answer of a call. Closed: a call has no other outcomes.
pub(crate) enum RawOutcome {
    /// The complete result.
    Result(Box<RawValue>),
    /// A task, whose result comes later.
    Task(Box<Record>),
}

/// A complete result with its conversation and tool.
pub(crate) struct RawResult<'a> {
    pub(crate) raw: &'a RawValue,
    pub(crate) session: &'a Conversation,
    pub(crate) state: &'a ClientState,
    /// Name of the called tool.
    pub(crate) tool: Option<&'a str>,
}

/// Reads a complete result.
pub(crate) type Reader<R> = fn(&RawResult<'_>) -> Result<R, Misbehavior>;

/// How a call reads its result.
pub(crate) enum Reading<R> {
    /// By a function.
    By(Reader<R>),
    /// The result is its text, which is not copied.
    Text(fn(Box<RawValue>) -> R),
}

/// Reads the answer of a request.
///
/// # Errors
///
/// [`CallError::Misbehaved`].
pub(crate) fn read_as<R>(
    state: &ClientState,
    request: &Request,
    read: Reading<R>,
    raw: Box<RawValue>,
    session: &Conversation,
) -> Result<R, CallError> {
    let read = match read {
        Reading::By(read) => read,
        Reading::Text(read) => return Ok(read(raw)),
    };
    let given = RawResult {
        raw: &raw,
        session,
        state,
        tool: request.tool.as_deref(),
    };
    read(&given).map_err(|source| misbehaved(request, source))
}

/// Reads a result that must be complete.
// Its callers share it, because it has the readers of all parts of `R`.
#[inline(never)]
pub(crate) fn complete<R: DeserializeOwned>(given: &RawResult<'_>) -> Result<R, Misbehavior> {
    let raw = given.raw;
    if !given.session.info.revision.has(Feature::ResultType) {
        let read = serde_json::from_str(raw.get());
        return read.map_err(|error| unreadable(OutcomeError::Malformed(error)));
    }
    match Outcome::<R>::decode(raw) {
        Ok(Outcome::Complete(result)) => Ok(result),
        Ok(Outcome::InputRequired(_)) => Err(Misbehavior::UnexpectedQuestion),
        Ok(Outcome::Task(_)) => Err(Misbehavior::UnexpectedTask),
        Err(fault) => Err(unreadable(fault)),
    }
}

/// Reads the result of a tool, and validates it if the tool's output schema is known.
///
/// # Errors
///
/// [`Misbehavior`].
pub(crate) fn tool_result(given: &RawResult<'_>) -> Result<CallToolResult, Misbehavior> {
    let result: CallToolResult = complete(given)?;
    let promised = given
        .tool
        .and_then(|tool| Some((tool, given.state.output_of(tool)?)));
    match promised {
        Some((tool, output)) => output
            .check(tool, result)
            .map_err(|unfit| Misbehavior::Output(unfit.into())),
        None => Ok(result),
    }
}

pub(crate) fn unreadable(fault: OutcomeError) -> Misbehavior {
    Misbehavior::Unreadable(Arc::new(fault))
}

pub(crate) fn misbehaved(request: &Request, source: Misbehavior) -> CallError {
    CallError::Misbehaved {
        method: request.method.clone(),
        source,
    }
}

/// Reads the kind of an answer, if the revision has kinds or the request may become a task.
///
/// # Errors
///
/// [`Misbehavior::Unreadable`].
pub(crate) fn kind_of(
    raw: &RawValue,
    session: &Conversation,
    request: &Request,
) -> Result<Option<ResultType>, Misbehavior> {
    match session.info.revision.has(Feature::ResultType) || request.is_augmented {
        true => ResultType::of(raw).map_err(unreadable),
        false => Ok(None),
    }
}

/// Returns the questions in a result, if the revision allows them.
pub(crate) fn question_in(
    raw: &RawValue,
    kind: Option<&ResultType>,
    session: &Conversation,
    request: &Request,
) -> Result<Option<InputRequired>, CallError> {
    if !session.info.revision.has(Feature::InputRequired) {
        return Ok(None);
    }
    match kind {
        Some(ResultType::InputRequired) if may_ask(request) => {
            match Outcome::<EmptyResult>::decode(raw) {
                Ok(Outcome::InputRequired(required)) => Ok(Some(required)),
                Ok(_) => Ok(None),
                Err(fault) => Err(misbehaved(request, unreadable(fault))),
            }
        }
        Some(ResultType::InputRequired) => {
            Err(misbehaved(request, Misbehavior::UnexpectedQuestion))
        }
        _ => Ok(None),
    }
}

fn may_ask(request: &Request) -> bool {
    use pintle_model::method::{CallTool, GetPrompt, Method, ReadResource};
    let asking = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];
    asking.contains(&request.method.as_str())
}

/// Returns the task in an answer; none if the answer is not a task.
///
/// # Errors
///
/// [`Misbehavior::UnexpectedTask`] if the request cannot become a task.
pub(crate) fn task_in(
    raw: &RawValue,
    kind: Option<&ResultType>,
    session: &Conversation,
    request: &Request,
) -> Result<Option<Record>, Misbehavior> {
    let is_told = session.info.revision.has(Feature::ResultType);
    if !is_told && !request.is_augmented {
        return Ok(None);
    }
    if is_told && kind != Some(&ResultType::Task) {
        return Ok(None);
    }
    if is_told && !may_become_task(request, session) {
        return Err(Misbehavior::UnexpectedTask);
    }
    match Outcome::<CallToolResult>::decode_augmented(raw) {
        Ok(Outcome::Task(handle)) => Ok(Some(Record::from(*handle))),
        // The reader of the result reports its defects.
        Ok(_) => Ok(None),
        Err(_) if !is_told => Ok(None),
        Err(fault) => Err(unreadable(fault)),
    }
}

/// Returns true if the server may turn the call into a task: a tool call, if both sides support the
/// extension.
fn may_become_task(request: &Request, session: &Conversation) -> bool {
    let declares = |terms: &pintle_proto::Terms| {
        let declared = terms.capabilities.extension(TASKS_EXTENSION);
        terms.has(Feature::TasksExtension) && declared.is_some()
    };
    let offered = session.info.capabilities.extension(TASKS_EXTENSION);
    request.method.as_str() == CallTool::NAME
        && offered.is_some()
        && session.terms().is_some_and(|terms| declares(&terms))
}
