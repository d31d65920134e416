//! Reading the status of a task of the extension.

use std::sync::Arc;

use pintle_model::method::{CallTool, GetDetailedTask, Method, MethodName};
use pintle_model::{DetailedTask, OutcomeError, ResultType};
use serde_json::value::RawValue;

use super::ask::Made;
use crate::conversation::Conversation;
use crate::error::{CallError, Misbehavior};
use crate::result::unreadable;

/// Reads the answer to `tasks/get` of the extension. Examples of its specification call the answer
/// itself a task, so that is read, too.
///
/// # Errors
///
/// [`Misbehavior::Unreadable`].
pub(super) fn detailed(raw: &RawValue) -> Result<DetailedTask, Misbehavior> {
    let read = serde_json::from_str::<DetailedTask>(raw.get());
    let mut task = read.map_err(|error| unreadable(OutcomeError::Malformed(error)))?;
    let kind = task.handle.extra.shift_remove("resultType");
    let kind = kind.as_ref().and_then(|kind| kind.as_str());
    match kind.map(ResultType::from) {
        None | Some(ResultType::Complete | ResultType::Task) => Ok(task),
        Some(other) => Err(unreadable(OutcomeError::UnknownType {
            result_type: other.as_str().into(),
        })),
    }
}

/// Returns the result of a completed task.
///
/// # Errors
///
/// [`Misbehavior::NoOutcome`] if there is none.
pub(super) fn result_of(
    detail: DetailedTask,
    session: Arc<Conversation>,
) -> Result<Made, CallError> {
    let result = detail.result.and_then(|result| {
        let text = serde_json::to_string(&result).ok()?;
        RawValue::from_string(text).ok()
    });
    match result {
        Some(raw) => Ok((raw, session)),
        None => Err(misbehaved(GetDetailedTask::NAME, Misbehavior::NoOutcome)),
    }
}

/// Returns the error of a failed task.
pub(super) fn failure_of(detail: DetailedTask) -> CallError {
    match detail.error {
        Some(error) => CallError::Answered {
            method: CallTool::NAME.into(),
            error: Box::new(error),
        },
        None => misbehaved(GetDetailedTask::NAME, Misbehavior::NoOutcome),
    }
}

/// Returns the error for a violation of the protocol in an answer to `method`.
pub(super) fn misbehaved(method: &str, source: Misbehavior) -> CallError {
    CallError::Misbehaved {
        method: MethodName::from(method),
        source,
    }
}
