//! Neutral types for every revision of the Model Context Protocol. Data only.
//!
//! - [`jsonrpc`]: the envelope, read in one pass, bodies left raw.
//! - [`Revision`] and [`Feature`]: the five revisions and the one table of their differences.
//! - One module per feature of the protocol, all re-exported here. The types hold the union of the
//!   revisions and keep unknown members. They are *fitted* to a revision before they are sent
//!   ([`Fit`]).
//! - [`method`]: one marker type per method, with its name, parameters and result.

#[macro_use]
mod errors;

pub mod jsonrpc;
pub mod method;
pub mod responses;
pub mod write;

mod empty;
mod extra;
mod json;
mod open_enum;
mod raw_json;
mod raw_members;
mod revision;
mod span;
mod special;

pub use empty::{EmptyResult, NoParams};
pub use extra::Extra;
pub use json::JsonObject;
pub use jsonrpc::{Error, ErrorCode, ProgressToken, RequestId};
pub use raw_json::RawJson;
pub use raw_members::RawMembers;
pub use revision::{Feature, ParseRevisionError, Revision};

// Part A: content, tools, resources, prompts, completion, capabilities, identity, lifecycle, lists.
pub mod names;

mod annotations;
mod base64;
mod capabilities;
mod completion;
mod content;
mod discover;
mod fit;
mod freshness;
mod identity;
mod initialize;
mod level;
mod logging;
mod number;
mod object;
mod page;
mod present;
mod progress;
mod progress_notice;
mod prompts;
mod read;
mod read_json;
mod resources;
mod schema;
mod tagged;
mod time;
mod tools;

pub use annotations::{Annotations, Role};
pub use base64::{Base64, Base64Error};
pub use capabilities::{
    ClientCapabilities, ElicitationCapability, PromptsCapability, ResourcesCapability,
    RootsCapability, SamplingCapability, ServerCapabilities, TasksCapability, ToolsCapability,
};
pub use completion::{
    CompleteParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference, PromptReference, ResourceTemplateReference,
};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent,
    ToolResultContent, ToolUseContent,
};
pub use discover::DiscoverResult;
pub use fit::{Fit, FitError};
pub use freshness::{CacheScope, Freshness};
pub use identity::{Icon, IconTheme, Implementation};
pub use initialize::{InitializeParams, InitializeResult};
pub use level::LoggingLevel;
pub use logging::{LogMessageParams, SetLevelParams};
pub use page::{Cursor, ListParams};
pub use progress::{CancelledParams, ProgressParams};
pub use progress_notice::{ProgressHead, ProgressNotice};
pub use prompts::{
    GetPromptParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
};
pub use read_json::ReadJson;
pub use resources::{
    BlobResourceContents, ListResourceTemplatesResult, ListResourcesResult, ReadResourceParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, TextResourceContents,
};
pub use schema::Schema;
pub use time::Timestamp;
pub use tools::{
    CallToolParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations,
    ToolExecution,
};

// Part B: metadata, elicitation, sampling, roots, subscriptions, outcomes, input, tasks.
mod elicitation;
mod input;
mod input_responses;
mod meta;
mod outcome;
mod roots;
mod sampling;
mod subscription;
mod task_metadata;
mod tasks;

pub use elicitation::{
    BooleanSchema, Choice, ElicitAction, ElicitFields, ElicitFormParams, ElicitMode, ElicitParams,
    ElicitResult, ElicitSchema, ElicitUrlParams, ElicitationCompleteParams, LegacyTitledEnumSchema,
    MultiSelectItems, NumberKind, NumberSchema, PrimitiveSchema, StringFormat, StringSchema,
    TitledMultiSelectEnumSchema, TitledMultiSelectItems, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema, UrlElicitationRequired,
};
pub use input::{InputKind, InputRequest, InputRequests, InputRequired, InputResponse};
pub use input_responses::InputResponses;
pub use meta::{EnvelopeError, Meta, RequestEnvelope};
pub use outcome::{Outcome, OutcomeError, ResultType};
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingContent, SamplingMessage, SamplingRequestError, StopReason, ToolChoice, ToolChoiceMode,
    ToolSampling, check_tool_results,
};
pub use subscription::{
    AcknowledgedParams, ListenParams, ListenResult, ResourceUpdatedParams, SubscribeParams,
    SubscriptionFilter,
};
pub use task_metadata::TaskMetadata;
pub use tasks::{
    CreateTaskResult, DetailedTask, ListTasksResult, RelatedTask, TASKS_EXTENSION, Task,
    TaskHandle, TaskIdParams, TaskStatus, UpdateTaskParams,
};
