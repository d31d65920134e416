//! The table: each definition with its type, or the reason why it has no type.

use std::fmt::Debug;

use pintle_model::method::{self, Method, Notice};
use pintle_model::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How a row is checked.
pub(crate) enum Check {
    /// By a sample of the definition.
    Sample(fn(Value) -> Result<(), String>),
    /// Not at all, for this reason.
    Because(&'static str),
}

use Check::{Because, Sample};

/// A value of this type.
fn value<T: DeserializeOwned + Serialize + Debug>(sample: Value) -> Result<(), String> {
    let text = sample.to_string();
    let read: T = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let debug = format!("{read:?}");
    if debug.contains("extra: {\"") || debug.contains("Unknown({") {
        return Err(format!("a member is unknown to the type: {debug}"));
    }
    let written = serde_json::to_value(&read).map_err(|error| error.to_string())?;
    match is_within(&sample, &written) {
        true => Ok(()),
        false => Err(format!("a member is lost: {written}")),
    }
}

/// A result of this type; `resultType` is not one of its members.
fn result<T: DeserializeOwned + Serialize + Debug>(mut sample: Value) -> Result<(), String> {
    if let Some(members) = sample.as_object_mut() {
        members.remove("resultType");
    }
    value::<T>(sample)
}

/// A request of this method.
fn request<M: Method>(sample: Value) -> Result<(), String>
where
    M::Params: Debug,
{
    message_of::<M::Params>(sample, M::NAME)
}

/// A notification of this method.
fn notice<N: Notice>(sample: Value) -> Result<(), String>
where
    N::Params: Debug,
{
    message_of::<N::Params>(sample, N::NAME)
}

fn message_of<P: DeserializeOwned + Serialize + Debug>(
    sample: Value,
    name: &str,
) -> Result<(), String> {
    if sample["method"] != name {
        return Err(format!("the method is not {name}"));
    }
    value::<P>(sample.get("params").cloned().unwrap_or(json!({})))
}

/// A request with these parameters; its method has two meanings and no marker type.
macro_rules! asks {
    ($params:ty, $name:literal) => {
        Sample(|sample| message_of::<$params>(sample, $name))
    };
}

/// A whole message.
fn message(mut sample: Value) -> Result<(), String> {
    if let Some(members) = sample.as_object_mut() {
        members.entry("jsonrpc").or_insert(json!("2.0"));
    }
    let text = sample.to_string();
    jsonrpc::Message::parse(text.as_bytes())
        .map(drop)
        .map_err(|malformed| format!("{malformed:?}"))
}

/// Whether every member of `part` is in `whole` with the same value.
fn is_within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => part
            .iter()
            .all(|(name, value)| whole.get(name).is_some_and(|other| is_within(value, other))),
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len()
                && part
                    .iter()
                    .zip(whole)
                    .all(|(part, whole)| is_within(part, whole))
        }
        (Value::Number(part), Value::Number(whole)) => part.as_f64() == whole.as_f64(),
        _ => part == whole,
    }
}

const MIX_IN: Check = Because("a part of other definitions; every type has these members itself");
const DIRECTION: Check =
    Because("all messages of one direction; decoded by method, never by trial");
const ANSWER: Check =
    Because("an envelope around a named result; `jsonrpc::Response` reads the envelope");

pub(crate) const TABLE: &[(&str, Check)] = &[
    // Envelopes.
    ("JSONRPCRequest", Sample(message)),
    ("JSONRPCNotification", Sample(message)),
    ("JSONRPCResponse", Sample(message)),
    ("JSONRPCResultResponse", Sample(message)),
    ("JSONRPCError", Sample(message)),
    ("JSONRPCErrorResponse", Sample(message)),
    ("JSONRPCMessage", Sample(message)),
    (
        "JSONRPCBatchRequest",
        Because("an array of messages; `jsonrpc` reads its elements one by one"),
    ),
    (
        "JSONRPCBatchResponse",
        Because("an array of messages; `jsonrpc` reads its elements one by one"),
    ),
    ("RequestId", Sample(value::<RequestId>)),
    ("Error", Sample(value::<Error>)),
    ("ParseError", Sample(value::<Error>)),
    ("InvalidRequestError", Sample(value::<Error>)),
    ("MethodNotFoundError", Sample(value::<Error>)),
    ("InvalidParamsError", Sample(value::<Error>)),
    ("InternalError", Sample(value::<Error>)),
    ("HeaderMismatchError", Sample(message)),
    ("MissingRequiredClientCapabilityError", Sample(message)),
    ("UnsupportedProtocolVersionError", Sample(message)),
    (
        "URLElicitationRequiredError",
        Sample(url_elicitation_required),
    ),
    ("Request", MIX_IN),
    ("Notification", MIX_IN),
    ("RequestParams", Sample(value::<NoParams>)),
    ("NotificationParams", Sample(value::<NoParams>)),
    ("Result", Sample(any_result)),
    ("EmptyResult", Sample(any_result)),
    ("ClientRequest", DIRECTION),
    ("ClientNotification", DIRECTION),
    ("ClientResult", DIRECTION),
    ("ServerRequest", DIRECTION),
    ("ServerNotification", DIRECTION),
    ("ServerResult", DIRECTION),
    ("CallToolResultResponse", ANSWER),
    ("CompleteResultResponse", ANSWER),
    ("DiscoverResultResponse", ANSWER),
    ("GetPromptResultResponse", ANSWER),
    ("ListPromptsResultResponse", ANSWER),
    ("ListResourceTemplatesResultResponse", ANSWER),
    ("ListResourcesResultResponse", ANSWER),
    ("ListToolsResultResponse", ANSWER),
    ("ReadResourceResultResponse", ANSWER),
    ("SubscriptionsListenResultResponse", ANSWER),
    // Common.
    ("JSONValue", Sample(value::<Value>)),
    ("JSONObject", Sample(value::<JsonObject>)),
    ("JSONArray", Sample(value::<Vec<Value>>)),
    ("MetaObject", Sample(value::<Meta>)),
    ("RequestMetaObject", Sample(value::<Meta>)),
    ("NotificationMetaObject", Sample(value::<Meta>)),
    ("ResultMetaObject", Sample(value::<Meta>)),
    ("SubscriptionsListenResultMetaObject", Sample(value::<Meta>)),
    ("ResultType", Sample(value::<ResultType>)),
    ("ProgressToken", Sample(value::<ProgressToken>)),
    ("Cursor", Sample(value::<Cursor>)),
    ("Role", Sample(value::<Role>)),
    ("LoggingLevel", Sample(value::<LoggingLevel>)),
    ("Annotations", Sample(value::<Annotations>)),
    ("Annotated", MIX_IN),
    ("BaseMetadata", MIX_IN),
    ("Icons", MIX_IN),
    ("Icon", Sample(value::<Icon>)),
    ("Implementation", Sample(value::<Implementation>)),
    ("ClientCapabilities", Sample(value::<ClientCapabilities>)),
    ("ServerCapabilities", Sample(value::<ServerCapabilities>)),
    ("PaginatedRequest", MIX_IN),
    ("PaginatedRequestParams", Sample(value::<ListParams>)),
    ("PaginatedResult", MIX_IN),
    ("CacheableResult", MIX_IN),
    ("ResourceRequestParams", Sample(value::<SubscribeParams>)),
    ("TaskAugmentedRequestParams", MIX_IN),
    ("InputResponseRequestParams", MIX_IN),
    // Life of a conversation.
    ("InitializeRequest", Sample(request::<method::Initialize>)),
    ("InitializeRequestParams", Sample(value::<InitializeParams>)),
    ("InitializeResult", Sample(result::<InitializeResult>)),
    (
        "InitializedNotification",
        Sample(notice::<method::Initialized>),
    ),
    ("PingRequest", Sample(request::<method::Ping>)),
    ("DiscoverRequest", Sample(request::<method::Discover>)),
    ("DiscoverResult", Sample(result::<DiscoverResult>)),
    ("CancelledNotification", Sample(notice::<method::Cancelled>)),
    (
        "CancelledNotificationParams",
        Sample(value::<CancelledParams>),
    ),
    ("ProgressNotification", Sample(notice::<method::Progress>)),
    (
        "ProgressNotificationParams",
        Sample(value::<ProgressParams>),
    ),
    ("SetLevelRequest", Sample(request::<method::SetLevel>)),
    ("SetLevelRequestParams", Sample(value::<SetLevelParams>)),
    (
        "LoggingMessageNotification",
        Sample(notice::<method::LogMessage>),
    ),
    (
        "LoggingMessageNotificationParams",
        Sample(value::<LogMessageParams>),
    ),
    // Subscriptions.
    ("SubscriptionFilter", Sample(value::<SubscriptionFilter>)),
    (
        "SubscriptionsListenRequest",
        Sample(request::<method::Listen>),
    ),
    (
        "SubscriptionsListenRequestParams",
        Sample(value::<ListenParams>),
    ),
    ("SubscriptionsListenResult", Sample(result::<ListenResult>)),
    (
        "SubscriptionsAcknowledgedNotification",
        Sample(notice::<method::Acknowledged>),
    ),
    (
        "SubscriptionsAcknowledgedNotificationParams",
        Sample(value::<AcknowledgedParams>),
    ),
    ("SubscribeRequest", Sample(request::<method::Subscribe>)),
    ("SubscribeRequestParams", Sample(value::<SubscribeParams>)),
    ("UnsubscribeRequest", Sample(request::<method::Unsubscribe>)),
    ("UnsubscribeRequestParams", Sample(value::<SubscribeParams>)),
    (
        "ResourceUpdatedNotification",
        Sample(notice::<method::ResourceUpdated>),
    ),
    (
        "ResourceUpdatedNotificationParams",
        Sample(value::<ResourceUpdatedParams>),
    ),
    (
        "ResourceListChangedNotification",
        Sample(notice::<method::ResourcesChanged>),
    ),
    (
        "PromptListChangedNotification",
        Sample(notice::<method::PromptsChanged>),
    ),
    (
        "ToolListChangedNotification",
        Sample(notice::<method::ToolsChanged>),
    ),
    (
        "RootsListChangedNotification",
        Sample(notice::<method::RootsChanged>),
    ),
    // Content.
    ("ContentBlock", Sample(value::<ContentBlock>)),
    ("TextContent", Sample(value::<ContentBlock>)),
    ("ImageContent", Sample(value::<ContentBlock>)),
    ("AudioContent", Sample(value::<ContentBlock>)),
    ("ResourceLink", Sample(value::<ContentBlock>)),
    ("EmbeddedResource", Sample(value::<ContentBlock>)),
    ("ToolUseContent", Sample(value::<ContentBlock>)),
    ("ToolResultContent", Sample(value::<ContentBlock>)),
    ("ResourceContents", MIX_IN),
    ("TextResourceContents", Sample(value::<ResourceContents>)),
    ("BlobResourceContents", Sample(value::<ResourceContents>)),
    // Tools.
    ("Tool", Sample(value::<Tool>)),
    ("ToolAnnotations", Sample(value::<ToolAnnotations>)),
    ("ToolExecution", Sample(value::<ToolExecution>)),
    ("ListToolsRequest", Sample(request::<method::ListTools>)),
    ("ListToolsResult", Sample(result::<ListToolsResult>)),
    ("CallToolRequest", Sample(request::<method::CallTool>)),
    ("CallToolRequestParams", Sample(value::<CallToolParams>)),
    ("CallToolResult", Sample(result::<CallToolResult>)),
    // Resources.
    ("Resource", Sample(value::<Resource>)),
    ("ResourceTemplate", Sample(value::<ResourceTemplate>)),
    (
        "ListResourcesRequest",
        Sample(request::<method::ListResources>),
    ),
    ("ListResourcesResult", Sample(result::<ListResourcesResult>)),
    (
        "ListResourceTemplatesRequest",
        Sample(request::<method::ListResourceTemplates>),
    ),
    (
        "ListResourceTemplatesResult",
        Sample(result::<ListResourceTemplatesResult>),
    ),
    (
        "ReadResourceRequest",
        Sample(request::<method::ReadResource>),
    ),
    (
        "ReadResourceRequestParams",
        Sample(value::<ReadResourceParams>),
    ),
    ("ReadResourceResult", Sample(result::<ReadResourceResult>)),
    // Prompts and completion.
    ("Prompt", Sample(value::<Prompt>)),
    ("PromptArgument", Sample(value::<PromptArgument>)),
    ("PromptMessage", Sample(value::<PromptMessage>)),
    ("ListPromptsRequest", Sample(request::<method::ListPrompts>)),
    ("ListPromptsResult", Sample(result::<ListPromptsResult>)),
    ("GetPromptRequest", Sample(request::<method::GetPrompt>)),
    ("GetPromptRequestParams", Sample(value::<GetPromptParams>)),
    ("GetPromptResult", Sample(result::<GetPromptResult>)),
    ("CompleteRequest", Sample(request::<method::Complete>)),
    ("CompleteRequestParams", Sample(value::<CompleteParams>)),
    ("CompleteResult", Sample(result::<CompleteResult>)),
    ("PromptReference", Sample(value::<CompletionReference>)),
    ("ResourceReference", Sample(value::<CompletionReference>)),
    (
        "ResourceTemplateReference",
        Sample(value::<CompletionReference>),
    ),
    // Questions to the user.
    ("ElicitRequest", Sample(request::<method::Elicit>)),
    ("ElicitRequestParams", Sample(value::<ElicitParams>)),
    ("ElicitRequestFormParams", Sample(value::<ElicitParams>)),
    ("ElicitRequestURLParams", Sample(value::<ElicitParams>)),
    ("ElicitResult", Sample(value::<ElicitResult>)),
    (
        "ElicitationCompleteNotification",
        Sample(notice::<method::ElicitationComplete>),
    ),
    (
        "PrimitiveSchemaDefinition",
        Sample(value::<PrimitiveSchema>),
    ),
    ("StringSchema", Sample(value::<PrimitiveSchema>)),
    ("NumberSchema", Sample(value::<PrimitiveSchema>)),
    ("BooleanSchema", Sample(value::<PrimitiveSchema>)),
    ("EnumSchema", Sample(value::<PrimitiveSchema>)),
    ("SingleSelectEnumSchema", Sample(value::<PrimitiveSchema>)),
    ("MultiSelectEnumSchema", Sample(value::<PrimitiveSchema>)),
    (
        "UntitledSingleSelectEnumSchema",
        Sample(value::<PrimitiveSchema>),
    ),
    (
        "TitledSingleSelectEnumSchema",
        Sample(value::<PrimitiveSchema>),
    ),
    (
        "UntitledMultiSelectEnumSchema",
        Sample(value::<PrimitiveSchema>),
    ),
    (
        "TitledMultiSelectEnumSchema",
        Sample(value::<PrimitiveSchema>),
    ),
    ("LegacyTitledEnumSchema", Sample(value::<PrimitiveSchema>)),
    // Sampling and roots.
    (
        "CreateMessageRequest",
        Sample(request::<method::CreateMessage>),
    ),
    (
        "CreateMessageRequestParams",
        Sample(value::<CreateMessageParams>),
    ),
    ("CreateMessageResult", Sample(value::<CreateMessageResult>)),
    ("SamplingMessage", Sample(value::<SamplingMessage>)),
    ("SamplingMessageContentBlock", Sample(value::<ContentBlock>)),
    ("ModelPreferences", Sample(value::<ModelPreferences>)),
    ("ModelHint", Sample(value::<ModelHint>)),
    ("ToolChoice", Sample(value::<ToolChoice>)),
    ("Root", Sample(value::<Root>)),
    ("ListRootsRequest", Sample(request::<method::ListRoots>)),
    ("ListRootsResult", Sample(value::<ListRootsResult>)),
    // Questions inside results.
    ("InputRequest", Sample(value::<InputRequest>)),
    ("InputRequests", Sample(value::<InputRequests>)),
    ("InputRequiredResult", Sample(result::<InputRequired>)),
    ("InputResponses", Sample(value::<InputResponses>)),
    (
        "InputResponse",
        Because("`InputResponse`; only the question tells how an answer is decoded"),
    ),
    // Tasks of 2025-11-25.
    ("Task", Sample(value::<Task>)),
    ("TaskStatus", Sample(value::<TaskStatus>)),
    ("TaskMetadata", Sample(value::<TaskMetadata>)),
    ("RelatedTaskMetadata", Sample(value::<RelatedTask>)),
    ("CreateTaskResult", Sample(result::<CreateTaskResult>)),
    ("GetTaskRequest", asks!(TaskIdParams, "tasks/get")),
    ("GetTaskResult", Sample(task_result)),
    ("GetTaskPayloadRequest", asks!(TaskIdParams, "tasks/result")),
    ("GetTaskPayloadResult", Sample(value::<JsonObject>)),
    ("CancelTaskRequest", asks!(TaskIdParams, "tasks/cancel")),
    ("CancelTaskResult", Sample(task_result)),
    ("ListTasksRequest", asks!(ListParams, "tasks/list")),
    ("ListTasksResult", Sample(result::<ListTasksResult>)),
    (
        "TaskStatusNotification",
        asks!(Task, "notifications/tasks/status"),
    ),
    ("TaskStatusNotificationParams", Sample(value::<Task>)),
];

/// Any members are allowed, so the sample has some that no type knows.
fn any_result(sample: Value) -> Result<(), String> {
    serde_json::from_value::<EmptyResult>(sample)
        .map(drop)
        .map_err(|error| error.to_string())
}

/// A task, and any members.
fn task_result(mut sample: Value) -> Result<(), String> {
    if let Some(members) = sample.as_object_mut() {
        members.remove("key");
    }
    value::<Task>(sample)
}

fn url_elicitation_required(sample: Value) -> Result<(), String> {
    value::<UrlElicitationRequired>(sample["error"]["data"].clone())?;
    message(sample)
}

#[test]
fn the_check_sees_members_that_are_unknown_or_lost() {
    assert_eq!(value::<Root>(json!({"uri": "file:///x"})), Ok(()));
    assert!(value::<Root>(json!({"uri": "file:///x", "size": 1})).is_err());
    assert!(value::<ListParams>(json!({"cursor": "x", "size": 1})).is_err());
    assert!(value::<ContentBlock>(json!({"type": "future"})).is_err());
    assert!(request::<method::Ping>(json!({"method": "pong"})).is_err());
}
