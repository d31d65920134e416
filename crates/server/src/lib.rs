//! The MCP server framework: typed tools, resources and prompts.
//!
//! [`Server`] describes a server, [`Server::build`] checks the description, and the [`App`] it
//! gives is a [`Service`](pintle_runtime::Service) for any transport.
//!
//! ```
//! use pintle_server::{Args, Server, Tool};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! let add = Tool::new("add")
//!     .description("Adds two numbers.")
//!     .handler(async |Args(add): Args<Add>| add.a + add.b);
//! let app = Server::new("calculator", "1.0.0").add_tool(add).build()?;
//! # Ok::<(), pintle_server::StartError>(())
//! ```
//!
//! - Handlers are async functions. What they take is recognised by type: arguments, and abilities
//!   such as [`Context`](pintle_runtime::Context) and [`State`].
//! - An `Err` of a tool is for the model to read; protocol errors are made here.
//! - What is wrong with a server is an error at its start, not at the first call.

#![cfg_attr(docsrs, feature(doc_cfg))]
// Without tasks and replicas, nothing uses the seams to them.
#![cfg_attr(not(feature = "replicas"), allow(dead_code))]

pub mod page;

// Tools.
mod ability;
mod erase;
mod locked;
mod locked_values;
mod rejection;
mod text;
mod tool;
mod tuples;

#[cfg(test)]
mod testing;

pub use ability::{Ability, Extension, ExtractContext, MissingAbilityError, RequiredState, State};
pub use locked::Locked;
pub use rejection::{ArgumentsError, Rejection};
pub use tool::{
    Args, FromCall, Handler, Image, IntoTool, IntoToolResult, Json, ProtocolError, Tool, ToolCall,
    ToolDefinitionError, ToolReply, ToolSet, ViaAbility, ViaArgs, ViaArguments, blocking,
};

// Resources, prompts and completion.
mod bundle;
mod completion;
mod failure;
#[cfg(test)]
mod faulty_store;
mod file_content;
mod prompt;
mod resource;

pub use bundle::{IntoPrompt, IntoResource, PromptSet, ResourceSet};
pub use completion::{
    CompleteFuture, Completer, CompletionCall, CompletionFuture, FromCompletion, IntoCompletion,
    OtherArguments, ViaFuture, ViaList, ViaOtherArguments, ViaTyped, ViaValue,
};
pub use file_content::FileContent;
pub use prompt::{
    FromPrompt, IntoPromptResult, Prompt, PromptCall, PromptDefinitionError, PromptFuture,
    PromptHandler, PromptOutcome, PromptReply,
};
pub use resource::{
    FromRead, FromVariable, IntoReadResult, NotFound, PathSegment, ReadCall, ReadError, ReadFuture,
    ReadOutcome, ReadReply, Reader, RelativePath, Resource, ResourceDefinitionError, Template,
    TemplateError, VariableError, VariableErrorKind, VariableValue, Variables, ViaVariable,
    ViaVariables, resource_not_found,
};

// Extensions of the protocol.
mod extension;

pub use extension::{
    ExtensionDefinitionError, ExtensionMethod, FromMethod, MethodCall, MethodHandler,
    ProtocolExtension, ViaParams,
};
pub use failure::{BoxError, HandlerError};

// Input from the client.
mod input;

pub use input::{MemoryStateStore, SealError, SealFuture, StateSeal, UnsealError};

// State that replicas share.
#[cfg(feature = "replicas")]
mod kept_ring;
#[cfg(feature = "replicas")]
mod sealed_sessions;
#[cfg(feature = "replicas")]
mod shared_counter;
#[cfg(feature = "replicas")]
mod shared_fleet;
#[cfg(feature = "replicas")]
mod state_backend;

#[cfg(feature = "replicas")]
pub use state_backend::StateBackend;

// Tasks.
#[cfg(feature = "tasks")]
mod tasks;

#[cfg(feature = "tasks")]
pub use tasks::TaskOptions;

// The server itself.
mod app;
mod ask_code;
mod changes;
#[cfg(feature = "tasks")]
mod circuit_breaker;
mod core;
mod entry;
#[cfg(feature = "tasks")]
mod guarded_store;
mod handle;
mod hooks;
mod log;
mod operation;
mod provider;
mod replica;
mod request;
mod server;
mod set;
#[cfg(feature = "tasks")]
#[cfg_attr(feature = "replicas", allow(dead_code))]
mod sole_process;
mod start_error;
mod store_check;
mod tags;
mod task_code;
mod typed_layer;

pub use app::App;
#[doc(hidden)]
pub use ask_code::AskCode;
pub use changes::Changes;
pub use handle::ServerHandle;
pub use log::forward_event;
pub use provider::Provider;
pub use request::{CompleteRequest, ListRequest, PromptRequest, ReadRequest, ToolRequest};
pub use server::{Methods, Server};
pub use set::DuplicateNameError;
pub use start_error::StartError;
pub use typed_layer::Next;
