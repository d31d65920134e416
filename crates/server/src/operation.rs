//! Calls, reads and retrievals of prompts, through the typed layers of their server.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_runtime::Context;
use serde_json::value::RawValue;

use crate::ability::Scope;
use crate::around::{Innermost, Next};
use crate::entry::Entry;
use crate::prompt::{Prompt, PromptReply};
use crate::request::{PromptRequest, ReadRequest, ToolRequest};
use crate::resource::{ReadReply, Resource};
use crate::tool::{Tool, ToolReply};

/// Calls a tool through the layers of its server; without layers nothing is copied.
pub(crate) async fn call_tool(
    entry: Arc<Entry<Tool>>,
    arguments: Option<&RawValue>,
    cx: Context,
) -> ToolReply {
    if entry.home.tool_layers.is_empty() {
        return entry
            .item
            .call(arguments, Scope::new(&cx, &entry.home.state))
            .await;
    }
    let layers = Arc::clone(&entry.home.tool_layers);
    let request = ToolRequest {
        name: entry.item.name().into(),
        arguments: arguments.map(ToOwned::to_owned),
        cx,
    };
    let innermost: Innermost<_, _> = Arc::new(move |request: ToolRequest| {
        let entry = Arc::clone(&entry);
        Box::pin(async move {
            let scope = Scope::new(&request.cx, &entry.home.state);
            entry.item.call(request.arguments.as_deref(), scope).await
        })
    });
    Next::new(layers, innermost).run(request).await
}

/// Reads a resource through the layers of its server.
pub(crate) async fn read_resource<E>(entry: Arc<E>, uri: String, cx: Context) -> ReadReply
where
    E: AsRef<Entry<Resource>> + Send + Sync + 'static,
{
    let home = Arc::clone(&(*entry).as_ref().home);
    if home.read_layers.is_empty() {
        return (*entry)
            .as_ref()
            .item
            .read(&uri, Scope::new(&cx, &home.state))
            .await;
    }
    let layers = Arc::clone(&home.read_layers);
    let innermost: Innermost<_, _> = Arc::new(move |request: ReadRequest| {
        let (entry, home) = (Arc::clone(&entry), Arc::clone(&home));
        Box::pin(async move {
            let scope = Scope::new(&request.cx, &home.state);
            (*entry).as_ref().item.read(&request.uri, scope).await
        })
    });
    Next::new(layers, innermost)
        .run(ReadRequest { uri, cx })
        .await
}

/// Gets a prompt through the layers of its server.
pub(crate) async fn get_prompt(
    entry: Arc<Entry<Prompt>>,
    arguments: BTreeMap<String, String>,
    cx: Context,
) -> PromptReply {
    if entry.home.prompt_layers.is_empty() {
        return entry
            .item
            .get(arguments, Scope::new(&cx, &entry.home.state))
            .await;
    }
    let layers = Arc::clone(&entry.home.prompt_layers);
    let request = PromptRequest {
        name: entry.item.name().into(),
        arguments,
        cx,
    };
    let innermost: Innermost<_, _> = Arc::new(move |request: PromptRequest| {
        let entry = Arc::clone(&entry);
        Box::pin(async move {
            let scope = Scope::new(&request.cx, &entry.home.state);
            entry.item.get(request.arguments, scope).await
        })
    });
    Next::new(layers, innermost).run(request).await
}
