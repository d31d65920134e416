//! The methods that may be called, by the revision and by the capabilities of the server.

use pintle_model::method::{
    CallTool, CancelTask, Complete, CreateMessage, Elicit, GetPrompt, GetTask, GetTaskPayload,
    ListPrompts, ListResourceTemplates, ListResources, ListRoots, ListTasks, ListTools, Listen,
    Method, MethodName, MethodSupport, ReadResource, SetLevel, Subscribe, Unsubscribe, UpdateTask,
    support_of,
};
use pintle_model::{Feature, Revision, ServerCapabilities, TASKS_EXTENSION};

use crate::error::SendError;
use crate::topic::is_any_offered;

/// Whether a client may send a request.
///
/// # Errors
///
/// [`SendError::NoSuchMethod`] when the revision has no such method, [`SendError::NotOffered`] when
/// it is known that the server does not offer it.
pub(crate) fn check(
    method: &MethodName,
    revision: Revision,
    offered: Option<&ServerCapabilities>,
) -> Result<(), SendError> {
    let method_name = method.as_str();
    if support_of(method_name).is_some_and(|need: MethodSupport| !need.met_by(revision)) {
        return Err(SendError::NoSuchMethod {
            method: method.clone(),
            revision,
        });
    }
    // Up to 2024-11-05 completion came without a capability; who has it is asked, not guessed.
    let is_known = method_name != Complete::NAME || revision.has(Feature::CompletionsCapability);
    if is_known && offered.is_some_and(|offered| !is_offered(method_name, revision, offered)) {
        return Err(SendError::NotOffered {
            method: method.clone(),
        });
    }
    Ok(())
}

/// Whether a server with these capabilities answers a method.
pub(crate) fn is_offered(method: &str, revision: Revision, offered: &ServerCapabilities) -> bool {
    match method {
        GetTask::NAME
        | GetTaskPayload::NAME
        | ListTasks::NAME
        | CancelTask::NAME
        | UpdateTask::NAME => has_tasks(method, revision, offered),
        CallTool::NAME | ListTools::NAME => offered.tools.is_some(),
        ListResources::NAME | ListResourceTemplates::NAME | ReadResource::NAME => {
            offered.resources.is_some()
        }
        Subscribe::NAME | Unsubscribe::NAME => offered
            .resources
            .as_ref()
            .is_some_and(|resources| resources.subscribe == Some(true)),
        GetPrompt::NAME | ListPrompts::NAME => offered.prompts.is_some(),
        Complete::NAME => offered.completions.is_some(),
        SetLevel::NAME => offered.logging.is_some(),
        Listen::NAME => is_any_offered(offered),
        // These exist for the other direction only.
        CreateMessage::NAME | Elicit::NAME | ListRoots::NAME => false,
        name => !name.starts_with("notifications/"),
    }
}

fn has_tasks(method: &str, revision: Revision, offered: &ServerCapabilities) -> bool {
    if revision.has(Feature::TasksExtension) {
        return offered.extension(TASKS_EXTENSION).is_some();
    }
    offered.tasks.as_ref().is_some_and(|tasks| match method {
        ListTasks::NAME => tasks.list.is_some(),
        CancelTask::NAME => tasks.cancel.is_some(),
        _ => true,
    })
}
