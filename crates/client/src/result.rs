//! Tasks: work that goes on after its answer, on either side.
//!
//! - Calls of ours that become tasks are followed to their end: `follow`, as fast as `pace` says
//!   and as `told` hears. Whether a call asks to be a task is decided in `augment`; what the
//!   caller holds of one is in `handle`.
//! - Questions of the server that become tasks here (2025-11-25) are in `own`.
//!
//! Spec: [2025-11-25, Tasks][core]; extension `io.modelcontextprotocol/tasks` (SEP-2663).
//!
//! [core]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks

use std::borrow::Cow;

use pintle_model::method::{CallTool, Method};
use pintle_model::{
    CallToolResult, Feature, Outcome, OutcomeFault, ResultType, TASKS_EXTENSION, Task as Record,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::Request;
use crate::conversation::Session;
use crate::error::Misbehavior;
use crate::execute::unreadable;

/// The task that a call was answered with; none if it was answered with something else.
///
/// # Errors
///
/// [`Misbehavior::UnexpectedTask`] where no task may be.
pub(crate) fn task_in(
    raw: &RawValue,
    session: &Session,
    request: &Request,
) -> Result<Option<Record>, Misbehavior> {
    let is_told = session.info.revision.has(Feature::ResultType);
    if !is_told && !request.is_augmented {
        return Ok(None);
    }
    let peek: Peek<'_> = serde_json::from_str(raw.get())
        .map_err(|error| unreadable(OutcomeFault::Malformed(error)))?;
    let kind = peek.result_type.as_deref().map(ResultType::from);
    if is_told && kind != Some(ResultType::Task) {
        return Ok(None);
    }
    if is_told && !may_become_task(request, session) {
        return Err(Misbehavior::UnexpectedTask);
    }
    match Outcome::<CallToolResult>::decode_augmented(raw) {
        Ok(Outcome::Task(handle)) => Ok(Some(Record::from(handle))),
        // What is wrong with it, whoever reads it will say.
        Ok(_) => Ok(None),
        Err(_) if !is_told => Ok(None),
        Err(fault) => Err(unreadable(fault)),
    }
}

/// The member that says what a result is.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(rename = "resultType", borrow)]
    result_type: Option<Cow<'a, str>>,
}

/// Whether the server may make a task of a call: of a tool, and if both sides speak the extension.
fn may_become_task(request: &Request, session: &Session) -> bool {
    let declares = |terms: &pintle_proto::Terms| {
        let declared = terms.capabilities.extension(TASKS_EXTENSION);
        terms.has(Feature::TasksExtension) && declared.is_some()
    };
    let offered = session.info.capabilities.extension(TASKS_EXTENSION);
    request.method.as_str() == CallTool::NAME
        && offered.is_some()
        && session.terms().is_some_and(|terms| declares(&terms))
}
