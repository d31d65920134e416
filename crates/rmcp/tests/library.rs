//! Resources, prompts, completion and sampling of a handler that is written by hand.

use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult,
    CompletionInfo, ContentBlock, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::answered;
use crate::peer::{MODERN, Peer, REVISIONS};

/// Books, chapters, a summary and an index.
pub(crate) struct Library;

/// How many questions of a request are open at the same time.
const OPEN: usize = 64;

/// How many calls of `summarize` began.
static SUMMARIES: AtomicUsize = AtomicUsize::new(0);

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a value of rmcp")
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

/// Lists of one item, or of two pages.
impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        read(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "tools": { "listChanged": true },
                "resources": { "subscribe": true },
                "prompts": {},
                "completions": {},
                "logging": {},
                "extensions": { "io.modelcontextprotocol/tasks": {}, "org.example/shelf": { "rows": 3 } }
            },
            "serverInfo": { "name": "library", "version": "1" }
        }))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(read(
            json!({ "tools": [{ "name": "summarize", "inputSchema": { "type": "object" } }] }),
        ))
    }

    #[expect(deprecated, reason = "handlers sample")]
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "add_book" {
            context
                .peer
                .notify_tool_list_changed()
                .await
                .map_err(failed)?;
            let updated = read(json!({ "uri": "book://1" }));
            context
                .peer
                .notify_resource_updated(updated)
                .await
                .map_err(failed)?;
            return Ok(CallToolResult::success(vec![]).into());
        }
        if request.name == "roots" {
            let asked = (0..=OPEN).map(|_| context.peer.list_roots());
            futures_util::future::try_join_all(asked)
                .await
                .map_err(failed)?;
            return Ok(CallToolResult::success(vec![]).into());
        }
        SUMMARIES.fetch_add(1, Ordering::Relaxed);
        let question = json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Summarize." } }],
            "maxTokens": 10
        });
        let sampled = context.peer.create_message(read(question)).await;
        let sampled = serde_json::to_string(&sampled.map_err(failed)?.model).map_err(failed)?;
        Ok(CallToolResult::success(vec![ContentBlock::text(sampled)]).into())
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(read(match page.and_then(|page| page.cursor).as_deref() {
            None => {
                json!({ "resources": [{ "uri": "book://1", "name": "one" }], "nextCursor": "2" })
            }
            Some("2") => json!({ "resources": [{ "uri": "book://2", "name": "two" }] }),
            Some(_) => return Err(ErrorData::invalid_params("unknown page", None)),
        }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(read(
            json!({ "resourceTemplates": [{ "uriTemplate": "book://{id}", "name": "book" }] }),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != "book://1" {
            let data = json!({ "uri": request.uri });
            return Err(ErrorData::resource_not_found("no such book", Some(data)));
        }
        let contents = json!({ "contents": [{ "uri": "book://1", "text": "Call me Ishmael." }] });
        Ok(read::<ReadResourceResult>(contents).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(read(
            json!({ "prompts": [{ "name": "review", "arguments": [{ "name": "book" }] }] }),
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let book = request
            .arguments
            .and_then(|arguments| arguments.get("book").cloned());
        let text = format!("Review {}.", book.unwrap_or_default());
        let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
        Ok(GetPromptResult::new(vec![read(message)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = vec![format!("{}by Dick", request.argument.value)];
        Ok(CompleteResult::new(
            CompletionInfo::new(values).map_err(failed)?,
        ))
    }
}

#[tokio::test]
async fn resources_prompts_and_completion_work_in_every_revision() {
    for revision in REVISIONS {
        let mut peer = Peer::of(pintle_rmcp::server(Library), revision).await;
        let first = peer.result("resources/list", json!({})).await;
        assert_eq!(first["resources"][0]["uri"], "book://1", "{revision}");
        let next = json!({ "cursor": first["nextCursor"] });
        let second = peer.result("resources/list", next).await;
        assert_eq!(second["resources"][0]["uri"], "book://2", "{revision}");
        let templates = peer.result("resources/templates/list", json!({})).await;
        let template = &templates["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(template, "book://{id}", "{revision}");
        let book = peer.result("resources/read", json!({ "uri": "book://1" }));
        assert_eq!(book.await["contents"][0]["text"], "Call me Ishmael.");
        let missing = peer
            .error("resources/read", json!({ "uri": "book://3" }))
            .await;
        let code = if peer.is_modern() { -32602 } else { -32002 };
        assert_eq!(missing["code"], code, "{revision}: {missing}");
        let prompts = peer.result("prompts/list", json!({})).await;
        assert_eq!(prompts["prompts"][0]["name"], "review", "{revision}");
        let prompt = json!({ "name": "review", "arguments": { "book": "Moby" } });
        let prompt = peer.result("prompts/get", prompt).await;
        let text = &prompt["messages"][0]["content"]["text"];
        assert_eq!(text, r#"Review "Moby"."#, "{revision}");
        let reference = json!({ "type": "ref/prompt", "name": "review" });
        let params = json!({ "ref": reference, "argument": { "name": "book", "value": "Mo" } });
        let completed = peer.result("completion/complete", params).await;
        assert_eq!(completed["completion"]["values"], json!(["Moby Dick"]));
    }
}

#[tokio::test]
async fn unserved_extensions_are_not_advertised() {
    let peer = Peer::of(pintle_rmcp::server(Library), MODERN).await;
    let capabilities = &peer.welcome["capabilities"];
    let extensions = json!({ "org.example/shelf": { "rows": 3 } });
    assert_eq!(capabilities["extensions"], extensions);
    assert_eq!(capabilities["resources"]["subscribe"], true);
    assert!(capabilities["logging"].is_object());
}

#[tokio::test]
async fn a_retry_runs_a_handler_again_where_results_ask() {
    for (revision, runs) in [("2024-11-05", 1), ("2025-11-25", 1), (MODERN, 2)] {
        let able = json!({ "sampling": {} });
        let mut peer = Peer::able(pintle_rmcp::server(Library), revision, able).await;
        let before = SUMMARIES.load(Ordering::Relaxed);
        let call = json!({ "name": "summarize", "arguments": {} });
        let content = json!({ "type": "text", "text": "A whale." });
        let answer = json!({ "role": "assistant", "model": "m", "content": content });
        let summary = answered(&mut peer, call, "sampling/createMessage", answer).await;
        assert_eq!(summary["content"][0]["text"], r#""m""#, "{revision}");
        assert_eq!(
            SUMMARIES.load(Ordering::Relaxed) - before,
            runs,
            "{revision}"
        );
    }
}

#[tokio::test]
async fn changes_reach_clients_that_subscribe() {
    let mut peer = Peer::of(pintle_rmcp::server(Library), "2025-11-25").await;
    peer.result("resources/subscribe", json!({ "uri": "book://1" }))
        .await;
    peer.call("add_book", json!({})).await;
    let updated = peer.receive_method("notifications/resources/updated").await;
    assert_eq!(updated["params"]["uri"], "book://1");
    peer.receive_method("notifications/tools/list_changed")
        .await;
}

#[tokio::test]
async fn more_questions_than_the_limit_wait() {
    let able = json!({ "roots": {} });
    let mut peer = Peer::able(pintle_rmcp::server(Library), "2025-11-25", able).await;
    let call = peer.request("tools/call", json!({ "name": "roots" })).await;
    let mut ids = Vec::new();
    for _ in 0..OPEN {
        ids.push(peer.receive_method("roots/list").await["id"].clone());
    }
    peer.result("ping", json!({})).await;
    assert!(
        peer.received
            .iter()
            .all(|message| message["method"] != "roots/list")
    );
    let answer = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } });
    peer.send(&answer(&ids[0])).await;
    ids.push(peer.receive_method("roots/list").await["id"].clone());
    for id in &ids[1..] {
        peer.send(&answer(id)).await;
    }
    let ended = peer.first(|message| message["id"] == call).await;
    assert_eq!(ended["result"]["content"], json!([]));
}
