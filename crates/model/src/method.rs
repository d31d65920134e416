//! The methods: one marker type each, with its name, parameters and result.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    AcknowledgedParams, CallToolParams, CallToolResult, CancelledParams, CompleteParams,
    CompleteResult, CreateMessageParams, CreateMessageResult, DetailedTask, DiscoverResult,
    ElicitParams, ElicitResult, ElicitationCompleteParams, EmptyResult, Feature, GetPromptParams,
    GetPromptResult, InitializeParams, InitializeResult, JsonObject, ListParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListTasksResult,
    ListToolsResult, ListenParams, ListenResult, LogMessageParams, NoParams, ProgressParams,
    ReadResourceParams, ReadResourceResult, ResourceUpdatedParams, SetLevelParams, SubscribeParams,
    Task, TaskIdParams, UpdateTaskParams,
};

/// A request method.
pub trait Method: 'static {
    /// Returns the name on the wire.
    const NAME: &'static str;
    /// Type of the parameters.
    type Params: Serialize + DeserializeOwned + Send;
    /// Type of the result.
    type Result: Serialize + DeserializeOwned + Send;
}

/// A notification method.
pub trait Notice: 'static {
    /// Returns the name on the wire.
    const NAME: &'static str;
    /// Type of the parameters.
    type Params: Serialize + DeserializeOwned + Send;
}

/// A method's name; borrowed when it is one of the protocol's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodName(Cow<'static, str>);

impl MethodName {
    /// The name as text.
    #[inline]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for MethodName {
    fn from(name: &str) -> Self {
        let row = NAMES.iter().find(|(row_name, _)| *row_name == name);
        Self(row.map_or_else(
            || Cow::Owned(name.to_owned()),
            |&(row_name, _)| Cow::Borrowed(row_name),
        ))
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the condition for `method`; `None` for methods outside the core.
pub fn support_of(method: &str) -> Option<MethodSupport> {
    NAMES
        .iter()
        .find(|(row_name, _)| *row_name == method)
        .map(|(_, need)| *need)
}

/// Condition under which a revision has a method. Closed: the method is always present, needs one
/// feature, or returned under its name with another meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodSupport {
    /// Every revision has it.
    Always,
    /// Only revisions with the feature have it.
    Feature(Feature),
    /// Revisions with either feature have it, each in its own form.
    Either(Feature, Feature),
}

impl MethodSupport {
    /// Returns true if `revision` meets the condition.
    #[inline]
    pub fn met_by(self, revision: crate::Revision) -> bool {
        match self {
            Self::Always => true,
            Self::Feature(feature) => revision.has(feature),
            Self::Either(one, other) => revision.has(one) || revision.has(other),
        }
    }
}

macro_rules! methods {
    ($( $(#[$meta:meta])* $marker:ident = $name:literal: $params:ty => $result:ty; )+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy)]
            pub enum $marker {}
            impl Method for $marker {
                const NAME: &'static str = $name;
                type Params = $params;
                type Result = $result;
            }
        )+
    };
}

macro_rules! notices {
    ($( $(#[$meta:meta])* $marker:ident = $name:literal: $params:ty; )+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy)]
            pub enum $marker {}
            impl Notice for $marker {
                const NAME: &'static str = $name;
                type Params = $params;
            }
        )+
    };
}

methods! {
    /// Opens a conversation, up to 2025-11-25.
    Initialize = "initialize": InitializeParams => InitializeResult;
    /// Checks that the peer responds, up to 2025-11-25.
    Ping = "ping": NoParams => EmptyResult;
    /// Requests the identity and capabilities of the server, since 2026-07-28.
    Discover = "server/discover": NoParams => DiscoverResult;
    /// Lists tools.
    ListTools = "tools/list": ListParams => ListToolsResult;
    /// Calls a tool.
    CallTool = "tools/call": CallToolParams => CallToolResult;
    /// Lists resources.
    ListResources = "resources/list": ListParams => ListResourcesResult;
    /// Lists resource templates.
    ListResourceTemplates = "resources/templates/list": ListParams => ListResourceTemplatesResult;
    /// Reads a resource.
    ReadResource = "resources/read": ReadResourceParams => ReadResourceResult;
    /// Subscribes to one resource, up to 2025-11-25.
    Subscribe = "resources/subscribe": SubscribeParams => EmptyResult;
    /// Ends a subscription to one resource, up to 2025-11-25.
    Unsubscribe = "resources/unsubscribe": SubscribeParams => EmptyResult;
    /// Lists prompts.
    ListPrompts = "prompts/list": ListParams => ListPromptsResult;
    /// Gets a prompt.
    GetPrompt = "prompts/get": GetPromptParams => GetPromptResult;
    /// Completes an argument.
    Complete = "completion/complete": CompleteParams => CompleteResult;
    /// Sets the log level of the session, up to 2025-11-25.
    SetLevel = "logging/setLevel": SetLevelParams => EmptyResult;
    /// Listens to changes, since 2026-07-28.
    Listen = "subscriptions/listen": ListenParams => ListenResult;
    /// Requests a message of the client's model.
    CreateMessage = "sampling/createMessage": CreateMessageParams => CreateMessageResult;
    /// Sends a question to the client's user.
    Elicit = "elicitation/create": ElicitParams => ElicitResult;
    /// Requests the roots of the client.
    ListRoots = "roots/list": NoParams => ListRootsResult;
    /// Polls a task of the core, in 2025-11-25.
    GetTask = "tasks/get": TaskIdParams => Task;
    /// Waits for the result of a task of the core, in 2025-11-25: what the request that runs as a
    /// task would have been answered with.
    GetTaskPayload = "tasks/result": TaskIdParams => JsonObject;
    /// Cancels a task of the core, in 2025-11-25.
    CancelTask = "tasks/cancel": TaskIdParams => Task;
    /// Lists the tasks of the core, in 2025-11-25.
    ListTasks = "tasks/list": ListParams => ListTasksResult;
    /// Polls a task of the extension, since 2026-07-28.
    GetDetailedTask = "tasks/get": TaskIdParams => DetailedTask;
    /// Answers questions of a task of the extension, since 2026-07-28.
    UpdateTask = "tasks/update": UpdateTaskParams => EmptyResult;
    /// Cancels a task of the extension, since 2026-07-28. The result only acknowledges receipt.
    CancelDetailedTask = "tasks/cancel": TaskIdParams => EmptyResult;
}

notices! {
    /// The client is ready, up to 2025-11-25.
    Initialized = "notifications/initialized": NoParams;
    /// Creates the parameters that cancel a request.
    Cancelled = "notifications/cancelled": CancelledParams;
    /// Reports the progress of a request.
    Progress = "notifications/progress": ProgressParams;
    /// Parameters of a log message.
    LogMessage = "notifications/message": LogMessageParams;
    /// The tools changed.
    ToolsChanged = "notifications/tools/list_changed": NoParams;
    /// The prompts changed.
    PromptsChanged = "notifications/prompts/list_changed": NoParams;
    /// The resources changed.
    ResourcesChanged = "notifications/resources/list_changed": NoParams;
    /// One resource changed.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedParams;
    /// Lists the notifications that a listener will receive, since 2026-07-28.
    Acknowledged = "notifications/subscriptions/acknowledged": AcknowledgedParams;
    /// Reports that the interaction at a visited URL is complete, in 2025-11-25.
    ElicitationComplete = "notifications/elicitation/complete": ElicitationCompleteParams;
    /// The roots changed, up to 2025-11-25.
    RootsChanged = "notifications/roots/list_changed": NoParams;
    /// A task of the core changed, in 2025-11-25.
    TaskStatusChanged = "notifications/tasks/status": Task;
    /// A task of the extension changed, since 2026-07-28.
    TaskChanged = "notifications/tasks": DetailedTask;
}

use MethodSupport::{Always, Either, Feature as Has};

/// Methods of the core, each with its condition.
const NAMES: &[(&str, MethodSupport)] = &[
    (CallTool::NAME, Always),
    (ListTools::NAME, Always),
    (ReadResource::NAME, Always),
    (ListResources::NAME, Always),
    (ListResourceTemplates::NAME, Always),
    (GetPrompt::NAME, Always),
    (ListPrompts::NAME, Always),
    (Complete::NAME, Always),
    (Listen::NAME, Has(Feature::Listen)),
    (Discover::NAME, Has(Feature::Discover)),
    (Initialize::NAME, Has(Feature::Handshake)),
    (Ping::NAME, Has(Feature::Ping)),
    (SetLevel::NAME, Has(Feature::SetLevel)),
    (Subscribe::NAME, Has(Feature::SessionSubscriptions)),
    (Unsubscribe::NAME, Has(Feature::SessionSubscriptions)),
    (CreateMessage::NAME, Has(Feature::ServerRequests)),
    (Elicit::NAME, Has(Feature::Elicitation)),
    (ListRoots::NAME, Has(Feature::ServerRequests)),
    (Initialized::NAME, Has(Feature::Handshake)),
    (Cancelled::NAME, Always),
    (Progress::NAME, Always),
    (LogMessage::NAME, Always),
    (ToolsChanged::NAME, Always),
    (PromptsChanged::NAME, Always),
    (ResourcesChanged::NAME, Always),
    (ResourceUpdated::NAME, Always),
    (Acknowledged::NAME, Has(Feature::Listen)),
    (ElicitationComplete::NAME, Has(Feature::ElicitationIds)),
    (RootsChanged::NAME, Has(Feature::RootsListChanged)),
    (GetTask::NAME, EITHER_TASKS),
    (CancelTask::NAME, EITHER_TASKS),
    (UpdateTask::NAME, Has(Feature::TasksExtension)),
    (GetTaskPayload::NAME, Has(Feature::CoreTasks)),
    (ListTasks::NAME, Has(Feature::CoreTasks)),
    (TaskStatusChanged::NAME, Has(Feature::CoreTasks)),
    (TaskChanged::NAME, Has(Feature::TasksExtension)),
];

const EITHER_TASKS: MethodSupport = Either(Feature::CoreTasks, Feature::TasksExtension);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Revision;

    // spec: 2026-07-28 X-TASK-33
    #[test]
    fn two_methods_of_tasks_are_gone_and_two_changed_their_form() {
        let revisions = |method| {
            let need = support_of(method).unwrap();
            Revision::ALL.map(|revision| need.met_by(revision))
        };

        for method in ["tasks/result", "tasks/list", "notifications/tasks/status"] {
            assert_eq!(revisions(method), [false, false, false, true, false]);
        }
        for method in ["tasks/update", "notifications/tasks"] {
            assert_eq!(revisions(method), [false, false, false, false, true]);
        }
        for method in ["tasks/get", "tasks/cancel"] {
            assert_eq!(revisions(method), [false, false, false, true, true]);
        }
    }
}
