//! Calls, reads and retrievals of prompts, through the typed layers of their server.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_model::RawJson;
use pintle_runtime::Context;

use crate::ability::ExtractContext;
use crate::entry::Entry;
use crate::prompt::{Prompt, PromptReply};
use crate::request::{PromptRequest, ReadRequest, ToolRequest};
use crate::resource::{ReadReply, Resource};
use crate::tool::{Tool, ToolReply};
use crate::typed_layer::{Next, TypedLayer};
use pintle_runtime::BoxFuture;

/// Calls a tool through the layers of its server and its own; without layers nothing is copied.
// Not `async`, because the handler has a future of its own.
pub(crate) fn call_tool<'a>(
    entry: &'a Arc<Entry<Tool>>,
    arguments: Option<RawJson<'_>>,
    cx: &Context,
) -> BoxFuture<'a, ToolReply> {
    if entry.mount_context.tool_layers.is_empty() && entry.item.layers.is_empty() {
        let scope = ExtractContext::new(cx, &entry.mount_context.state);
        return entry.item.call(arguments, scope);
    }
    let layers = tool_layers(entry);
    let request = ToolRequest {
        name: entry.item.name().into(),
        arguments: arguments.map(RawJson::to_raw_value),
        cx: cx.clone(),
    };
    let call = |entry: Arc<Entry<Tool>>, request: ToolRequest| async move {
        let scope = ExtractContext::new(&request.cx, &entry.mount_context.state);
        let arguments = request.arguments.as_deref().map(RawJson::from);
        entry.item.call(arguments, scope).await
    };
    Box::pin(through(layers, request, Arc::clone(entry), call))
}

/// The layers of the server, and within them those of the tool.
fn tool_layers(entry: &Entry<Tool>) -> Arc<[TypedLayer<ToolRequest, ToolReply>]> {
    let outer = &entry.mount_context.tool_layers;
    match entry.item.layers.as_slice() {
        [] => Arc::clone(outer),
        own => outer.iter().chain(own).cloned().collect(),
    }
}

/// Reads a resource through the layers of its server.
pub(crate) async fn read_resource<E>(entry: Arc<E>, uri: String, cx: Context) -> ReadReply
where
    E: AsRef<Entry<Resource>> + Send + Sync + 'static,
{
    let Entry {
        item,
        mount_context,
        ..
    } = (*entry).as_ref();
    if mount_context.read_layers.is_empty() {
        return item
            .read(&uri, ExtractContext::new(&cx, &mount_context.state))
            .await;
    }
    let layers = Arc::clone(&mount_context.read_layers);
    let read = |entry: Arc<E>, request: ReadRequest| async move {
        let Entry {
            item,
            mount_context,
            ..
        } = (*entry).as_ref();
        let scope = ExtractContext::new(&request.cx, &mount_context.state);
        item.read(&request.uri, scope).await
    };
    through(layers, ReadRequest { uri, cx }, entry, read).await
}

/// Gets a prompt through the layers of its server.
pub(crate) async fn get_prompt(
    entry: Arc<Entry<Prompt>>,
    arguments: BTreeMap<String, String>,
    cx: Context,
) -> PromptReply {
    if entry.mount_context.prompt_layers.is_empty() {
        let scope = ExtractContext::new(&cx, &entry.mount_context.state);
        return entry.item.get(arguments, scope).await;
    }
    let layers = Arc::clone(&entry.mount_context.prompt_layers);
    let request = PromptRequest {
        name: entry.item.name().into(),
        arguments,
        cx,
    };
    let get = |entry: Arc<Entry<Prompt>>, request: PromptRequest| async move {
        let scope = ExtractContext::new(&request.cx, &entry.mount_context.state);
        entry.item.get(request.arguments, scope).await
    };
    through(layers, request, entry, get).await
}

/// Sends a request through layers to the operation of an entry, or of a provider.
pub(crate) async fn through<Q, R, E, F, Fut>(
    layers: Arc<[TypedLayer<Q, R>]>,
    request: Q,
    entry: Arc<E>,
    operation: F,
) -> R
where
    Q: Send + 'static,
    R: Send + 'static,
    E: Send + Sync + 'static,
    F: Fn(Arc<E>, Q) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send + 'static,
{
    let innermost =
        move |request| Box::pin(operation(Arc::clone(&entry), request)) as BoxFuture<'static, R>;
    Next::new(layers, Arc::new(innermost)).run(request).await
}
