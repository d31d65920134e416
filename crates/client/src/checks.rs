//! The checks before a call is sent, in this order: the output schema of its tool, the approval of
//! its tool, and whether the call requests a task (2025-11-25).

use bytes::Bytes;
use pintle_model::method::{CallTool, Method};
use pintle_model::{Feature, TaskMetadata, TaskSupport, Tool};
use serde::Deserialize;

use crate::approvals::check_approval;
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::output_schema::OutputCheck;
use crate::request::Request;
use crate::state::ClientState;
use crate::tool_lookup::{ToolLookup, is_listed};

/// Checks before a call that its result can be validated.
///
/// # Errors
///
/// [`CallError::UnusableOutputSchema`] if the tool's schema cannot be used. The check comes before
/// the call, because the tool may have effects.
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
        // The lookup also reads cached pages, so that the client learns their tools again.
        Box::pin(is_listed(lookup, name)).await;
    }
    let Some(output) = state.output_of(name) else {
        return Ok(());
    };
    match output.validator(name) {
        Ok(_) => Ok(()),
        Err(source) => Err(CallError::UnusableOutputSchema {
            tool: name.to_owned(),
            source: source.clone(),
        }),
    }
}

/// Returns the name of the called tool if only approved tools may be called.
pub(crate) fn pinned(state: &ClientState, request: &Request) -> Option<String> {
    let pins = state.pins.as_ref()?;
    let is_pinned = pins.refuses && request.method.as_str() == CallTool::NAME;
    is_pinned.then(|| name_in(request))
}

/// Checks the approval of a called tool. The tool is looked up in the server's list, unless it was
/// listed and no change was reported since.
///
/// # Errors
///
/// [`CallError::NotApproved`].
pub(crate) async fn admit(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    tool: String,
) -> Result<(), CallError> {
    if !state.is_sure_of(&tool) {
        // The lookup also reads cached pages, so that the client learns their tools again.
        is_listed(lookup, &tool).await;
    }
    let cached = state.tool_cache.get(&tool);
    let pins = state.pins.as_ref();
    pins.map_or(Ok(()), |pins| {
        check_approval(&pins.approvals, &tool, cached.as_deref())
    })
    .map_err(|why| CallError::NotApproved { tool, why })
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

/// Returns true if the server supports a task for the call.
pub(crate) fn may_wish(session: &Conversation, request: &Request) -> bool {
    request.tool.is_some() && makes_tasks(session)
}

/// Returns the task parameters of a call; none if the call requests no task, or its tool does not
/// allow one.
///
/// # Errors
///
/// [`CallError`] if the tool had to be looked up, and the lookup failed.
pub(crate) async fn wish(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
) -> Result<Option<TaskMetadata>, CallError> {
    let Some(tool) = request.tool.as_deref() else {
        return Ok(None);
    };
    let support = match state.tool_cache.get(tool) {
        Some(cached) => Some(cached.task_support.clone()),
        // Only a call that requests a task looks the tool up. Other calls learn it from the answer.
        None if request.wish.is_some() => task_support(lookup, tool).await?,
        None => None,
    };
    Ok(match support {
        Some(TaskSupport::Required) => Some(request.wish.clone().unwrap_or_default()),
        Some(TaskSupport::Optional) => request.wish.clone(),
        _ => None,
    })
}

/// Returns the parameters of a call with a `task` member.
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

fn makes_tasks(session: &Conversation) -> bool {
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
    use crate::approvals::Approvals;
    use crate::client::Client;
    use crate::error::ApprovalError;
    use crate::tool_lookup::fake::{FakeLookup, offline, tool};

    #[tokio::test]
    async fn only_a_strict_output_check_looks_an_unknown_tool_up() {
        for (check, names) in [
            (OutputCheck::Off, vec![]),
            (OutputCheck::Listed, vec![]),
            (OutputCheck::Always, vec!["t"]),
        ] {
            let client = offline(Client::builder().check_output(check));
            let lookup = FakeLookup::failing();
            let prepared = prepare(&client.0, &lookup, Some("t")).await;
            assert!(prepared.is_ok(), "{prepared:?}");
            assert_eq!(lookup.names(), names, "{check:?}");
        }
    }

    // hardening: H-76
    #[tokio::test]
    async fn a_pinned_tool_that_cannot_be_found_is_not_called() {
        for lookup in [FakeLookup::new(Ok(None)), FakeLookup::failing()] {
            let client = offline(Client::builder().pin_tools(Approvals::default()));
            let refused = admit(&client.0, &lookup, "t".to_owned()).await;
            let Err(CallError::NotApproved { why, .. }) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(
                (why, lookup.names()),
                (ApprovalError::Unlisted, vec!["t".to_owned()])
            );
        }
    }

    #[tokio::test]
    async fn a_pinned_tool_that_is_known_is_not_looked_up() {
        let approvals = Approvals::default();
        approvals.approve(&tool("t"));
        let client = offline(Client::builder().pin_tools(approvals));
        let fingerprint = Approvals::fingerprint(&tool("t")).into();
        let tool_cache = &client.0.tool_cache;
        tool_cache.learn(&tool("t"), Vec::new(), Some(fingerprint), 0, 1);
        let lookup = FakeLookup::failing();
        let admitted = admit(&client.0, &lookup, "t".to_owned()).await;
        assert!(
            admitted.is_ok() && lookup.names().is_empty(),
            "{admitted:?}"
        );
    }

    // spec: 2025-11-25 TASK-14, TASK-15
    #[tokio::test]
    async fn a_tool_is_looked_up_only_for_a_call_that_requests_a_task() {
        let mut found = tool("t");
        found.execution = Some(TaskSupport::Optional.into());
        let client = offline(Client::builder());
        let lookup = FakeLookup::new(Ok(Some(found)));
        let mut request = Request::new(CallTool::NAME);
        request.tool = Some("t".into());
        let plain = wish(&client.0, &lookup, &mut request)
            .await
            .expect("a wish");
        assert!(plain.is_none() && lookup.names().is_empty());
        request.wish = Some(TaskMetadata::default());
        let wished = wish(&client.0, &lookup, &mut request)
            .await
            .expect("a wish");
        assert_eq!(wished, Some(TaskMetadata::default()));
        assert_eq!(lookup.names(), ["t"]);
        let failed = wish(&client.0, &FakeLookup::failing(), &mut request).await;
        assert!(failed.is_err());
    }

    // spec: 2025-11-25 TASK-14, TASK-15
    #[test]
    fn a_wish_is_one_more_member() {
        let wish = TaskMetadata::with_ttl(Duration::from_secs(60));
        let body = with_task(br#"{"name":"t","arguments":{}}"#, &wish);
        let expected = br#"{"name":"t","arguments":{},"task":{"ttl":60000}}"#;
        assert_eq!(&body[..], expected);
        let body = with_task(br#"{"name":"t"}"#, &TaskMetadata::default());
        assert_eq!(&body[..], br#"{"name":"t","task":{}}"#);
    }
}
