//! Tools, resources and prompts that are not known when the server starts.

mod mounted;

use std::future::{Future, ready};

use pintle_model::{
    CompleteResult, Completion, Error, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, ServerCapabilities,
};

use crate::failure::unknown;
use crate::prompt::PromptReply;
use crate::request::{CompleteRequest, ListRequest, PromptRequest, ReadRequest, ToolRequest};
use crate::resource::{ReadReply, resource_not_found};
use crate::tool::ToolReply;

pub(crate) use mounted::{DynProvider, MountedProvider, Provided};

/// Lists and serves what a server does not know when it starts: a provider forwards requests to
/// another server, or makes tools at run time. See [`Server::provider`](crate::Server::provider).
///
/// The server asks its own tools, resources and prompts first. Each method has a default that
/// provides nothing.
///
/// A handler of a provider may ask the client questions, as any handler: where results may ask
/// (2026-07-28), its future is dropped, and the retry calls the method again.
///
/// ```
/// use pintle_model::{CallToolResult, Error, ListToolsResult, Outcome, ServerCapabilities, Tool};
/// use pintle_server::{ListRequest, Provider, Server, ToolReply, ToolRequest};
///
/// /// One tool for each measuring station.
/// struct Stations(Vec<String>);
///
/// impl Provider for Stations {
///     fn capabilities(&self) -> ServerCapabilities {
///         let mut capabilities = ServerCapabilities::default();
///         capabilities.tools = Some(Default::default());
///         capabilities
///     }
///
///     async fn list_tools(&self, _request: ListRequest) -> Result<ListToolsResult, Error> {
///         let tools = self.0.iter().map(|name| Tool::without_arguments(name.clone()));
///         Ok(ListToolsResult::new(tools.collect()))
///     }
///
///     async fn call_tool(&self, request: ToolRequest) -> ToolReply {
///         if !self.0.iter().any(|name| **name == *request.name) {
///             return Err(Error::invalid_params("unknown station"));
///         }
///         Ok(Outcome::Complete(CallToolResult::text("4.2 m")))
///     }
/// }
///
/// let server = Server::new("tide", "1.0.0").provider(Stations(vec!["brest".to_owned()]));
/// # server.build()?;
/// # Ok::<(), pintle_server::StartError>(())
/// ```
///
/// # Limits
///
/// The server checks neither arguments nor structured results of provided tools against their
/// schemas, and provided tools do not run as tasks. A cursor of a provider has at most 60 KiB.
pub trait Provider: Send + Sync + 'static {
    /// Returns the lists and abilities that clients see: tools, resources, prompts, completions.
    /// The server reads it once, when it starts.
    fn capabilities(&self) -> ServerCapabilities;

    /// Returns a page of tools.
    ///
    /// # Errors
    ///
    /// A protocol error, which the client receives.
    fn list_tools(
        &self,
        request: ListRequest,
    ) -> impl Future<Output = Result<ListToolsResult, Error>> + Send {
        drop(request);
        ready(Ok(ListToolsResult::default()))
    }

    /// Returns a page of resources.
    ///
    /// # Errors
    ///
    /// A protocol error, which the client receives.
    fn list_resources(
        &self,
        request: ListRequest,
    ) -> impl Future<Output = Result<ListResourcesResult, Error>> + Send {
        drop(request);
        ready(Ok(ListResourcesResult::default()))
    }

    /// Returns a page of resource templates.
    ///
    /// # Errors
    ///
    /// A protocol error, which the client receives.
    fn list_resource_templates(
        &self,
        request: ListRequest,
    ) -> impl Future<Output = Result<ListResourceTemplatesResult, Error>> + Send {
        drop(request);
        ready(Ok(ListResourceTemplatesResult::default()))
    }

    /// Returns a page of prompts.
    ///
    /// # Errors
    ///
    /// A protocol error, which the client receives.
    fn list_prompts(
        &self,
        request: ListRequest,
    ) -> impl Future<Output = Result<ListPromptsResult, Error>> + Send {
        drop(request);
        ready(Ok(ListPromptsResult::default()))
    }

    /// Calls a tool. The name has no prefix of a mount.
    ///
    /// # Errors
    ///
    /// A protocol error, -32602 for an unknown tool. A tool that fails is a result.
    fn call_tool(&self, request: ToolRequest) -> impl Future<Output = ToolReply> + Send {
        ready(Err(unknown("tool", &request.name)))
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// A protocol error. With the code of an unknown resource (-32002, and -32602 as of 2026-07-28)
    /// the server asks its next provider.
    fn read_resource(&self, request: ReadRequest) -> impl Future<Output = ReadReply> + Send {
        let revision = request.cx.terms().revision;
        ready(Err(resource_not_found(&request.uri, revision)))
    }

    /// Gets a prompt. The name has no prefix of a mount.
    ///
    /// # Errors
    ///
    /// A protocol error, -32602 for an unknown prompt.
    fn get_prompt(&self, request: PromptRequest) -> impl Future<Output = PromptReply> + Send {
        ready(Err(unknown("prompt", &request.name)))
    }

    /// Completes an argument of a prompt, or a variable of a resource template.
    ///
    /// # Errors
    ///
    /// A protocol error, -32602 for an unknown reference.
    fn complete(
        &self,
        request: CompleteRequest,
    ) -> impl Future<Output = Result<CompleteResult, Error>> + Send {
        drop(request);
        ready(Ok(Completion::new([""; 0]).into()))
    }
}
