//! A handler as a provider.

use pintle_model::{
    CompleteResult, Error, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, ServerCapabilities,
};
use pintle_runtime::Context;
use pintle_server::{
    Changes, CompleteRequest, ListRequest, PromptReply, PromptRequest, Provider, ReadReply,
    ReadRequest, ToolReply, ToolRequest,
};
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, GetPromptRequestParams, InputResponses,
    PaginatedRequestParams, ReadResourceRequestParams,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::convert;
use crate::request;

/// A handler with its capabilities.
pub(crate) struct Served<H> {
    pub(crate) handler: H,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) changes: Changes,
}

impl<H: ServerHandler> Served<H> {
    /// Runs a method of the handler with a context of rmcp.
    async fn run<R, Fut>(
        &self,
        cx: &Context,
        method: impl FnOnce(RequestContext<RoleServer>) -> Fut,
    ) -> Result<R, Error>
    where
        Fut: Future<Output = Result<R, ErrorData>>,
    {
        let result = request::run(cx, &self.changes, method).await;
        result.map_err(|error| convert::error(error, cx.terms().revision))
    }
}

/// The parameters of a page.
fn page(request: &ListRequest) -> Option<PaginatedRequestParams> {
    let cursor = request.cursor.as_ref()?.as_str().to_owned();
    Some(PaginatedRequestParams::default().with_cursor(Some(cursor)))
}

/// The answers of this retry, and the state that the handler gave to the client.
fn retry(cx: &Context) -> Result<(Option<InputResponses>, Option<String>), Error> {
    let responses = cx.input_responses();
    let responses = (!responses.is_empty()).then(|| convert::params(&responses));
    Ok((responses.transpose()?, cx.request_state()))
}

/// Implements a list.
macro_rules! list {
    ($method:ident, $result:ident) => {
        async fn $method(&self, request: ListRequest) -> Result<$result, Error> {
            let page = page(&request);
            let list = |context| self.handler.$method(page, context);
            convert::result(&self.run(&request.cx, list).await?)
        }
    };
}

impl<H: ServerHandler> Provider for Served<H> {
    fn capabilities(&self) -> ServerCapabilities {
        self.capabilities.clone()
    }

    list!(list_tools, ListToolsResult);
    list!(list_resources, ListResourcesResult);
    list!(list_resource_templates, ListResourceTemplatesResult);
    list!(list_prompts, ListPromptsResult);

    async fn call_tool(&self, request: ToolRequest) -> ToolReply {
        let ToolRequest {
            name,
            arguments,
            cx,
            ..
        } = request;
        let mut params = CallToolRequestParams::new(String::from(name));
        params.arguments = arguments
            .map(|arguments| convert::params(&arguments))
            .transpose()?;
        (params.input_responses, params.request_state) = retry(&cx)?;
        let call = |context| self.handler.call_tool(params, context);
        convert::called(self.run(&cx, call).await?)
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadReply {
        let ReadRequest { uri, cx, .. } = request;
        let mut params = ReadResourceRequestParams::new(uri);
        (params.input_responses, params.request_state) = retry(&cx)?;
        let read = |context| self.handler.read_resource(params, context);
        convert::read(self.run(&cx, read).await?)
    }

    async fn get_prompt(&self, request: PromptRequest) -> PromptReply {
        let PromptRequest {
            name,
            arguments,
            cx,
            ..
        } = request;
        let mut params = GetPromptRequestParams::new(name);
        params.arguments = Some(convert::params(&arguments)?);
        (params.input_responses, params.request_state) = retry(&cx)?;
        let get = |context| self.handler.get_prompt(params, context);
        convert::got(self.run(&cx, get).await?)
    }

    async fn complete(&self, request: CompleteRequest) -> Result<CompleteResult, Error> {
        let params: CompleteRequestParams = convert::params(&request.params)?;
        let complete = |context| self.handler.complete(params, context);
        convert::result(&self.run(&request.cx, complete).await?)
    }
}
