//! Whether a call asks to be a task (2025-11-25): only where the server can, and the tool lets it.

use bytes::Bytes;
use pintle_model::method::{CallTool, Method};
use pintle_model::{Feature, TaskMetadata, TaskSupport, Tool};

use crate::call::Request;
use crate::client::Client;
use crate::conversation::Session;
use crate::error::CallError;
use crate::list::List;

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
    client: &Client,
    request: &mut Request,
) -> Result<Option<TaskMetadata>, CallError> {
    let Some(tool) = request.tool.as_deref() else {
        return Ok(None);
    };
    let support = match client.0.known.get(tool) {
        Some(known) => Some(known.task_support.clone()),
        // Only who wants a task asks before it calls: the others learn it from the answer.
        None if request.wish.is_some() => look_up(client, tool).await?,
        None => None,
    };
    Ok(match support {
        Some(TaskSupport::Required) => Some(request.wish.clone().unwrap_or_default()),
        Some(TaskSupport::Optional) => request.wish.clone(),
        _ => None,
    })
}

/// Whether a tool that was not found as a plain call is a task only, as the server's list has it:
/// then the call asks to be one from now on.
pub(crate) async fn is_task_only(client: &Client, request: &mut Request) -> bool {
    let session = client.0.current();
    let is_plain = session.is_some_and(|session| may_wish(&session, request));
    let tool = request.tool.as_deref().filter(|_| !request.is_augmented);
    let (true, Some(tool)) = (is_plain, tool) else {
        return false;
    };
    match look_up(client, tool).await {
        Ok(Some(TaskSupport::Required)) => {
            request.wish.get_or_insert_default();
            true
        }
        Ok(_) => false,
        Err(error) => {
            tracing::debug!(%error, "a tool could not be looked up");
            false
        }
    }
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

/// What the server's list says of a tool: page by page, no further than the tool.
async fn look_up(client: &Client, name: &str) -> Result<Option<TaskSupport>, CallError> {
    let mut pages = List::<Tool>::new(client.clone()).restarting_pages();
    while let Some(page) = pages.next().await {
        let tools = page?.items;
        if let Some(tool) = tools.iter().find(|tool| tool.name == name) {
            return Ok(Some(tool.task_support()));
        }
    }
    Ok(None)
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
