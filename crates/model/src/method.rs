//! The methods: one marker type each, with its name, parameters and result.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{
    AcknowledgedParams, CallToolParams, CallToolResult, CancelledParams, CompleteParams,
    CompleteResult, CreateMessageParams, CreateMessageResult, DiscoverResult, ElicitParams,
    ElicitResult, ElicitationCompleteParams, EmptyResult, Feature, GetPromptParams,
    GetPromptResult, InitializeParams, InitializeResult, ListParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListToolsResult,
    ListenParams, ListenResult, LogMessageParams, NoParams, ProgressParams, ReadResourceParams,
    ReadResourceResult, ResourceUpdatedParams, SetLevelParams, SubscribeParams,
};

/// A request method.
pub trait Method: 'static {
    /// The name on the wire.
    const NAME: &'static str;
    /// What it takes.
    type Params: Serialize + DeserializeOwned + Send;
    /// What it gives.
    type Result: Serialize + DeserializeOwned + Send;
}

/// A notification method.
pub trait Notice: 'static {
    /// The name on the wire.
    const NAME: &'static str;
    /// What it carries.
    type Params: Serialize + DeserializeOwned + Send;
}

/// A method's name; borrowed when it is one of the protocol's own.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodName(Cow<'static, str>);

impl MethodName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for MethodName {
    fn from(name: &str) -> Self {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        Self(known.map_or_else(
            || Cow::Owned(name.to_owned()),
            |&(known, _)| Cow::Borrowed(known),
        ))
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which feature a revision must have to know `method`; none for methods outside the core.
pub fn feature_of(method: &str) -> Option<Need> {
    NAMES
        .iter()
        .find(|(known, _)| *known == method)
        .map(|(_, need)| *need)
}

/// What a revision needs to know a method. Closed: a method is always there or needs one feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every revision has it.
    Always,
    /// Only revisions with the feature have it.
    Feature(Feature),
}

impl Need {
    /// Whether `revision` meets the need.
    pub fn met_by(self, revision: crate::Revision) -> bool {
        match self {
            Self::Always => true,
            Self::Feature(feature) => revision.has(feature),
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
    /// Asks whether the peer is there, up to 2025-11-25.
    Ping = "ping": NoParams => EmptyResult;
    /// Asks what the server is, since 2026-07-28.
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
    /// Asks the client for a model's message.
    CreateMessage = "sampling/createMessage": CreateMessageParams => CreateMessageResult;
    /// Asks the client's user.
    Elicit = "elicitation/create": ElicitParams => ElicitResult;
    /// Asks the client for its roots.
    ListRoots = "roots/list": NoParams => ListRootsResult;
}

notices! {
    /// The client is ready, up to 2025-11-25.
    Initialized = "notifications/initialized": NoParams;
    /// A request is no longer wanted.
    Cancelled = "notifications/cancelled": CancelledParams;
    /// How far a request has come.
    Progress = "notifications/progress": ProgressParams;
    /// A log message.
    LogMessage = "notifications/message": LogMessageParams;
    /// The tools changed.
    ToolsChanged = "notifications/tools/list_changed": NoParams;
    /// The prompts changed.
    PromptsChanged = "notifications/prompts/list_changed": NoParams;
    /// The resources changed.
    ResourcesChanged = "notifications/resources/list_changed": NoParams;
    /// One resource changed.
    ResourceUpdated = "notifications/resources/updated": ResourceUpdatedParams;
    /// What a listener will hear, since 2026-07-28.
    Acknowledged = "notifications/subscriptions/acknowledged": AcknowledgedParams;
    /// What a visited URL asked for is done, in 2025-11-25.
    ElicitationComplete = "notifications/elicitation/complete": ElicitationCompleteParams;
    /// The roots changed, up to 2025-11-25.
    RootsChanged = "notifications/roots/list_changed": NoParams;
}

use Need::{Always, Feature as Has};

/// Names of the core with what a revision needs to know them.
const NAMES: &[(&str, Need)] = &[
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
];
