//! A proxy beside the tools of a server: as its provider.

use pintle::model::{
    CallToolResult, CompleteResult, Error, GetPromptResult, InputResponses, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Meta, Outcome,
    ReadResourceResult, ServerCapabilities,
};
use pintle::proto::{Rendered, Reply};
use pintle::runtime::Context;
use pintle::server::{
    CompleteRequest, ListRequest, PromptReply, PromptRequest, Provider, ReadReply, ReadRequest,
    ToolReply, ToolRequest,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::error::internal;
use crate::proxy::Proxy;

/// The parameters of a call that a server passes to its provider.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallParams<'a, A> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<A>,
    #[serde(flatten)]
    retry: RetryParams,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

/// The answers of a retry, and the state of the server behind the proxy, which the server in front has sealed.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct RetryParams {
    #[serde(skip_serializing_if = "Option::is_none")]
    input_responses: Option<InputResponses>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_state: Option<String>,
}

/// Serves what the server behind the proxy has beside the tools of another server, with its layers around:
/// `Server::mount("files", Server::new("files", "1.0.0").provider(proxy))`. Tools are called as plain calls: a call waits
/// for the end of the task that it becomes at the server behind the proxy. Log messages, changes and subscriptions of
/// that server do not reach clients this way.
impl Provider for Proxy {
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        let of_server = self.0.profile();
        let of_server = of_server.capabilities();
        capabilities.tools = of_server.tools.clone();
        capabilities.resources = of_server.resources.clone();
        capabilities.prompts = of_server.prompts.clone();
        capabilities.completions = of_server.completions.clone();
        capabilities
    }

    async fn list_tools(&self, request: ListRequest) -> Result<ListToolsResult, Error> {
        let mut listed: ListToolsResult = self.list(&request).await?;
        for tool in &mut listed.tools {
            tool.execution.take_if(|execution| {
                execution.task_support = None;
                execution.extra.is_empty()
            });
        }
        Ok(listed)
    }

    async fn list_resources(&self, request: ListRequest) -> Result<ListResourcesResult, Error> {
        self.list(&request).await
    }

    async fn list_resource_templates(
        &self,
        request: ListRequest,
    ) -> Result<ListResourceTemplatesResult, Error> {
        self.list(&request).await
    }

    async fn list_prompts(&self, request: ListRequest) -> Result<ListPromptsResult, Error> {
        self.list(&request).await
    }

    async fn call_tool(&self, request: ToolRequest) -> ToolReply {
        let params = CallParams {
            name: &request.name,
            arguments: request.arguments.as_deref(),
            retry: retry_of(&request.cx),
            meta: meta_of(&request.cx),
        };
        let params = serde_json::to_string(&params).map_err(unwritable)?;
        outcome::<CallToolResult>(self.0.call_to_end(&request.cx, &params).await?)
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadReply {
        let retry = serde_json::to_value(retry_of(&request.cx)).map_err(unwritable)?;
        let mut params = json!({ "uri": request.uri });
        if let (Value::Object(params), Value::Object(retry)) = (&mut params, retry) {
            params.extend(retry);
        }
        outcome::<ReadResourceResult>(self.exchange(&request.cx, &params).await?)
    }

    async fn get_prompt(&self, request: PromptRequest) -> PromptReply {
        let params = CallParams {
            name: &request.name,
            arguments: Some(&request.arguments),
            retry: retry_of(&request.cx),
            meta: meta_of(&request.cx),
        };
        outcome::<GetPromptResult>(self.exchange(&request.cx, &params).await?)
    }

    async fn complete(&self, request: CompleteRequest) -> Result<CompleteResult, Error> {
        complete(self.exchange(&request.cx, &request.params).await?)
    }
}

impl Proxy {
    async fn list<R: DeserializeOwned>(&self, request: &ListRequest) -> Result<R, Error> {
        let params = match &request.cursor {
            Some(cursor) => json!({ "cursor": cursor }),
            None => json!({}),
        };
        complete(self.exchange(&request.cx, &params).await?)
    }

    /// Passes parameters to the server in the request of a client.
    async fn exchange(&self, cx: &Context, params: &impl Serialize) -> Result<Reply, Error> {
        let params = serde_json::to_string(params).map_err(unwritable)?;
        self.0.answer_with(cx, &params).await
    }
}

fn unwritable(error: serde_json::Error) -> Error {
    internal(&format!("the request cannot be passed on: {error}"))
}

fn retry_of(cx: &Context) -> RetryParams {
    let responses = cx.input_responses();
    RetryParams {
        input_responses: Some(responses).filter(|responses| !responses.is_empty()),
        request_state: cx.request_state(),
    }
}

/// Returns the `_meta` of the request. The client behind it removes the members of the envelope.
fn meta_of(cx: &Context) -> Option<Value> {
    #[derive(serde::Deserialize)]
    struct WithMeta<'a> {
        #[serde(borrow, rename = "_meta")]
        meta: Option<&'a RawValue>,
    }
    let read: WithMeta<'_> = serde_json::from_str(cx.request().params.text()).ok()?;
    serde_json::from_str(read.meta?.get()).ok()
}

fn complete<R: DeserializeOwned>(reply: Reply) -> Result<R, Error> {
    match reply {
        Reply::Complete(rendered) => decoded(&rendered),
        _ => Err(internal("the result of the server is not complete")),
    }
}

fn outcome<R: DeserializeOwned>(reply: Reply) -> Result<Outcome<R>, Error> {
    match reply {
        Reply::Complete(rendered) => decoded(&rendered).map(Outcome::Complete),
        Reply::InputRequired(rendered) => decoded(&rendered).map(Outcome::InputRequired),
        _ => Err(internal("the result of the server is a task")),
    }
}

fn decoded<R: DeserializeOwned>(rendered: &Rendered) -> Result<R, Error> {
    let unreadable = |error| internal(&format!("invalid result of the server: {error}"));
    let mut value: Value = serde_json::from_slice(&rendered.json()).map_err(unreadable)?;
    if let Some(mut meta) = rendered.meta().cloned() {
        // The result names the server in front.
        meta.remove(Meta::SERVER_INFO);
        value["_meta"] = serde_json::to_value(meta).map_err(unreadable)?;
    }
    serde_json::from_value(value).map_err(unreadable)
}
