//! What is checked before a call is sent: in this order, whether its result can be checked, whether
//! its tool is approved, and whether it asks to be a task (2025-11-25).

use bytes::Bytes;
use pintle_model::method::{CallTool, Method};
use pintle_model::{Feature, TaskMetadata, TaskSupport, Tool};
use serde::Deserialize;

use crate::approvals::judge;
use crate::conversation::Session;
use crate::error::CallError;
use crate::output_schema::OutputCheck;
use crate::request::Request;
use crate::state::ClientState;
use crate::tool_lookup::{ToolLookup, is_listed};

/// Sees to it before a call that its result can be checked.
///
/// # Errors
///
/// [`CallError::Uncheckable`] if the tool's schema cannot be used: rather now than when the tool has
/// done what it does.
pub(crate) async fn prepare(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    tool: Option<&str>,
) -> Result<(), CallError> {
    let Some(name) = tool else {
        return Ok(());
    };
    if state.check_output == OutputCheck::Off {
        return Ok(());
    }
    if state.check_output == OutputCheck::Always && !state.knows_output_of(name) {
        // Pages that are kept are read again, and teach what they say.
        Box::pin(is_listed(lookup, name)).await;
    }
    let Some(output) = state.output_of(name) else {
        return Ok(());
    };
    match output.validator(name) {
        Ok(_) => Ok(()),
        Err(source) => Err(CallError::Uncheckable {
            tool: name.to_owned(),
            source: source.clone(),
        }),
    }
}

/// The tool that a request calls, where only approved ones are called.
pub(crate) fn pinned(state: &ClientState, request: &Request) -> Option<String> {
    let pins = state.pins.as_ref()?;
    let is_pinned = pins.refuses && request.method.as_str() == CallTool::NAME;
    is_pinned.then(|| name_in(request))
}

/// Lets a call pass, or not. What is called is looked for in the server's list, unless it was found
/// there and nothing says that the tools have changed since.
///
/// # Errors
///
/// [`CallError::Unapproved`].
pub(crate) async fn admit(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    tool: String,
) -> Result<(), CallError> {
    if !state.is_sure_of(&tool) {
        // Pages that are kept are read again, and teach what they say.
        is_listed(lookup, &tool).await;
    }
    let known = state.known.get(&tool);
    let pins = state.pins.as_ref();
    pins.map_or(Ok(()), |pins| {
        judge(&pins.approvals, &tool, known.as_deref())
    })
    .map_err(|why| CallError::Unapproved { tool, why })
}

/// The name in the parameters, also of a call that was written by hand.
fn name_in(request: &Request) -> String {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let params = request.params.as_deref().unwrap_or_default();
    let named: Option<Named> = serde_json::from_slice(params).ok();
    named.map(|named| named.name).unwrap_or_default()
}

/// Whether a call may ask to be a task.
pub(crate) fn may_wish(session: &Session, request: &Request) -> bool {
    request.tool.is_some() && makes_tasks(session)
}

/// What a call says of the task that it wants to be; none if it wants to be none, or its tool may
/// not.
///
/// # Errors
///
/// [`CallError`] if the tool had to be looked up, and could not be.
pub(crate) async fn wish(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
) -> Result<Option<TaskMetadata>, CallError> {
    let Some(tool) = request.tool.as_deref() else {
        return Ok(None);
    };
    let support = match state.known.get(tool) {
        Some(known) => Some(known.task_support.clone()),
        // Only who wants a task asks before it calls: the others learn it from the answer.
        None if request.wish.is_some() => task_support(lookup, tool).await?,
        None => None,
    };
    Ok(match support {
        Some(TaskSupport::Required) => Some(request.wish.clone().unwrap_or_default()),
        Some(TaskSupport::Optional) => request.wish.clone(),
        _ => None,
    })
}

/// The parameters of a call that wants to be a task.
pub(crate) fn with_task(params: &[u8], wish: &TaskMetadata) -> Bytes {
    let written = serde_json::to_vec(wish).unwrap_or_else(|_| b"{}".to_vec());
    let mut body = Vec::with_capacity(params.len() + written.len() + 8);
    // The name of a tool comes before, so there is a member to follow.
    body.extend_from_slice(params.strip_suffix(b"}").unwrap_or(params));
    body.extend_from_slice(b",\"task\":");
    body.extend_from_slice(&written);
    body.push(b'}');
    body.into()
}

fn makes_tasks(session: &Session) -> bool {
    let tasks = session.info.capabilities.tasks.as_ref();
    session.info.revision.has(Feature::CoreTasks)
        && tasks.is_some_and(|tasks| tasks.has_request(CallTool::NAME))
}

/// Whether a tool runs as a task, as the server's list has it.
///
/// # Errors
///
/// [`CallError`] if the tools cannot be listed.
pub(crate) async fn task_support(
    lookup: &dyn ToolLookup,
    name: &str,
) -> Result<Option<TaskSupport>, CallError> {
    let tool = lookup.look_up(name).await?;
    Ok(tool.as_ref().map(Tool::task_support))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    // spec: 2025-11-25 TASK-14, TASK-15
    #[test]
    fn a_wish_is_one_more_member() {
        let wish = TaskMetadata::keep_for(Duration::from_secs(60));
        let body = with_task(br#"{"name":"t","arguments":{}}"#, &wish);
        let expected = br#"{"name":"t","arguments":{},"task":{"ttl":60000}}"#;
        assert_eq!(&body[..], expected);
        let body = with_task(br#"{"name":"t"}"#, &TaskMetadata::default());
        assert_eq!(&body[..], br#"{"name":"t","task":{}}"#);
    }
}
