//! A provider: tools, resources and prompts that the server does not know when it starts.

use std::sync::atomic::{AtomicUsize, Ordering};

use pintle::model::{
    self, CallToolResult, CompleteResult, Completion, Error, GetPromptResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Outcome,
    PromptMessage, ReadResourceResult, ResourceContents, ServerCapabilities,
};
use pintle::prelude::*;
use pintle::server::{
    CompleteRequest, ListRequest, PromptReply, PromptRequest, Provider, ReadReply, ReadRequest,
    ToolReply, ToolRequest, resource_not_found,
};
use serde_json::{Value, json};

use crate::server::peer::{LEGACY, MODERN, Peer, REVISIONS};

/// Measuring stations: three tools on two pages, and one of everything else.
struct Stations;

fn tool(name: &str) -> model::Tool {
    serde_json::from_value(json!({ "name": name, "inputSchema": { "type": "object" } }))
        .expect("a tool")
}

impl Provider for Stations {
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        capabilities.tools = Some(Default::default());
        capabilities.resources = Some(Default::default());
        capabilities.prompts = Some(Default::default());
        capabilities.completions = Some(JsonObject::new());
        capabilities
    }

    async fn list_tools(&self, request: ListRequest) -> Result<ListToolsResult, Error> {
        match request.cursor.as_ref().map(|cursor| cursor.as_str()) {
            None => {
                let mut page = ListToolsResult::new(vec![tool("brest"), tool("own")]);
                page.next_cursor = Some("two".into());
                Ok(page)
            }
            Some("two") => Ok(ListToolsResult::new(vec![tool("cuxhaven")])),
            Some(_) => Err(Error::invalid_params("unknown page")),
        }
    }

    async fn list_resources(&self, _: ListRequest) -> Result<ListResourcesResult, Error> {
        let resource = json!({ "uri": "tide://now", "name": "now" });
        let resource = serde_json::from_value(resource).expect("a resource");
        Ok(ListResourcesResult::new(vec![resource]))
    }

    async fn list_resource_templates(
        &self,
        _: ListRequest,
    ) -> Result<ListResourceTemplatesResult, Error> {
        Ok(ListResourceTemplatesResult::default())
    }

    async fn list_prompts(&self, _: ListRequest) -> Result<ListPromptsResult, Error> {
        let prompt = serde_json::from_value(json!({ "name": "forecast" })).expect("a prompt");
        Ok(ListPromptsResult::new(vec![prompt]))
    }

    async fn call_tool(&self, request: ToolRequest) -> ToolReply {
        let arguments = request.arguments.map_or(Value::Null, |arguments| {
            serde_json::from_str(arguments.get()).expect("JSON")
        });
        match &*request.name {
            "brest" => {
                let mut result = CallToolResult::text(format!("brest {arguments}"));
                result.structured_content = Some(json!([4, 2]));
                Ok(Outcome::Complete(result))
            }
            "cuxhaven" => {
                let question = request.cx.elicit_form(
                    "Which gauge?",
                    serde_json::from_value(json!({
                        "type": "object",
                        "properties": { "gauge": { "type": "string" } }
                    }))
                    .expect("a schema"),
                );
                let answer = question.await.map_err(|error| error.to_error())?;
                let answer = answer.accepted().expect("accepted");
                Ok(Outcome::Complete(CallToolResult::text(
                    serde_json::to_string(&answer).expect("JSON"),
                )))
            }
            name => Err(Error::invalid_params(format!("no station {name}"))),
        }
    }

    async fn read_resource(&self, request: ReadRequest) -> ReadReply {
        if request.uri != "tide://now" {
            let revision = request.cx.terms().revision;
            return Err(resource_not_found(&request.uri, revision));
        }
        let contents = ResourceContents::text(request.uri, "rising");
        Ok(Outcome::Complete(ReadResourceResult::new(vec![contents])))
    }

    async fn get_prompt(&self, request: PromptRequest) -> PromptReply {
        let message = PromptMessage::user(format!("{} {:?}", request.name, request.arguments));
        Ok(Outcome::Complete(GetPromptResult::new(vec![message])))
    }

    async fn complete(&self, request: CompleteRequest) -> Result<CompleteResult, Error> {
        let typed = request.params.argument.value;
        Ok(Completion::new([format!("{typed}est")]).into())
    }
}

/// A tool of the server itself.
#[tool]
async fn own() -> &'static str {
    "own"
}

fn server() -> Server {
    Server::new("tides", "1").tool::<own>().provider(Stations)
}

/// Collects the names of all pages of a list.
async fn names(peer: &mut Peer, method: &str, members: &str, key: &str) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let page = peer.result(method, params).await;
        for item in page[members].as_array().expect("a list") {
            names.push(item[key].as_str().expect("a name").to_owned());
        }
        match page["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => return names,
        }
    }
}

// spec: 2026-07-28 N-PAGE-01
#[tokio::test]
async fn the_pages_of_a_provider_follow_those_of_the_server() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let tools = names(&mut peer, "tools/list", "tools", "name").await;
        assert_eq!(tools, ["own", "brest", "cuxhaven"], "{revision}");
        let resources = names(&mut peer, "resources/list", "resources", "uri").await;
        assert_eq!(resources, ["tide://now"], "{revision}");
        let templates = "resources/templates/list";
        let templates = names(&mut peer, templates, "resourceTemplates", "uriTemplate").await;
        assert!(templates.is_empty(), "{revision}");
        let prompts = names(&mut peer, "prompts/list", "prompts", "name").await;
        assert_eq!(prompts, ["forecast"], "{revision}");
        let forged = json!({ "cursor": "AgAFAA" });
        let error = peer.error("tools/list", forged).await;
        assert_eq!(error["code"], -32602, "{revision}: {error}");
    }
}

#[tokio::test]
async fn names_that_the_server_lacks_go_to_its_provider() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let own = peer.call("own", json!({})).await;
        assert_eq!(own["content"][0]["text"], "own", "{revision}");
        let brest = peer.call("brest", json!({ "a": 1 })).await;
        assert_eq!(brest["content"][0]["text"], r#"brest {"a":1}"#);
        let structured = match revision {
            MODERN => json!([4, 2]),
            "2025-06-18" | LEGACY => json!({ "result": [4, 2] }),
            _ => Value::Null,
        };
        assert_eq!(brest["structuredContent"], structured, "{revision}");
        let missing = peer.error("tools/call", json!({ "name": "hull" })).await;
        assert_eq!(missing["message"], "no station hull", "{revision}");
        let read = json!({ "uri": "tide://now" });
        let read = peer.result("resources/read", read).await;
        assert_eq!(read["contents"][0]["text"], "rising", "{revision}");
        let prompt = json!({ "name": "forecast", "arguments": { "day": "today" } });
        let prompt = peer.result("prompts/get", prompt).await;
        let text = &prompt["messages"][0]["content"]["text"];
        assert_eq!(text, r#"forecast {"day": "today"}"#, "{revision}");
        let argument = json!({ "name": "port", "value": "br" });
        let reference = json!({ "type": "ref/prompt", "name": "forecast" });
        let params = json!({ "ref": reference, "argument": argument });
        let completed = peer.result("completion/complete", params).await;
        assert_eq!(completed["completion"]["values"], json!(["brest"]));
    }
}

// spec: 2026-07-28 N-RSRC-03
#[tokio::test]
async fn an_unknown_resource_is_asked_of_each_provider() {
    let inner = || Server::new("inner", "1").provider(Stations);
    for revision in [LEGACY, MODERN] {
        let outer = Server::new("outer", "1")
            .provider(Empty)
            .mount("in", inner());
        let mut peer = Peer::of(outer, revision).await;
        let read = json!({ "uri": "tide://now" });
        let read = peer.result("resources/read", read).await;
        assert_eq!(read["contents"][0]["text"], "rising", "{revision}");
        let missing = peer.error("resources/read", json!({ "uri": "tide://then" }));
        assert_eq!(missing.await["data"]["uri"], "tide://then", "{revision}");
    }
}

/// A provider of nothing.
struct Empty;

impl Provider for Empty {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::default()
    }
}

#[tokio::test]
async fn a_provider_of_a_mounted_server_has_its_prefix() {
    let inner = Server::new("inner", "1").provider(Stations);
    let outer = Server::new("outer", "1")
        .provider(Empty)
        .mount("sea", inner);
    let mut peer = Peer::of(outer, MODERN).await;
    let tools = names(&mut peer, "tools/list", "tools", "name").await;
    assert_eq!(tools, ["sea_brest", "sea_own", "sea_cuxhaven"]);
    let brest = peer.call("sea_brest", json!({})).await;
    assert_eq!(brest["content"][0]["text"], "brest {}");
    let prompt = peer.result("prompts/get", json!({ "name": "sea_forecast" }));
    assert_eq!(
        prompt.await["messages"][0]["content"]["text"],
        "forecast {}"
    );
    let unprefixed = peer.error("tools/call", json!({ "name": "brest" })).await;
    assert_eq!(unprefixed["code"], -32602);
}

// spec: 2026-07-28 N-MRTR-01
#[tokio::test]
async fn a_provider_asks_the_client() {
    let able = json!({ "elicitation": {} });
    let mut peer = Peer::able(server(), MODERN, able.clone()).await;
    let call = json!({ "name": "cuxhaven", "arguments": {} });
    let asked = peer.ask("tools/call", call.clone()).await;
    let (name, _) = asked["result"]["inputRequests"]
        .as_object()
        .and_then(|questions| questions.iter().next())
        .expect("a question");
    let content = json!({ "action": "accept", "content": { "gauge": "steubenhoeft" } });
    let mut retry = call.clone();
    retry["inputResponses"] = json!({ name.as_str(): content });
    retry["requestState"] = asked["result"]["requestState"].clone();
    let answered = peer.result("tools/call", retry).await;
    assert_eq!(
        answered["content"][0]["text"],
        r#"{"gauge":"steubenhoeft"}"#
    );
    let mut peer = Peer::able(server(), LEGACY, able).await;
    let id = peer.request("tools/call", call).await;
    let question = peer.receive_method("elicitation/create").await;
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": content });
    peer.send(&answer).await;
    let answered = peer.first(|message| message["id"] == id).await;
    let text = &answered["result"]["content"][0]["text"];
    assert_eq!(text, r#"{"gauge":"steubenhoeft"}"#);
}

#[tokio::test]
async fn layers_are_around_the_calls_of_a_provider() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let counted = server().on_tool_call(async |request, next| {
        CALLS.fetch_add(1, Ordering::Relaxed);
        next.run(request).await
    });
    let mut peer = Peer::of(counted, MODERN).await;
    peer.call("brest", json!({})).await;
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
}

/// A provider whose tool has the name of a tool that needs a scope.
struct Shadow;

impl Provider for Shadow {
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::default()
    }

    async fn call_tool(&self, _: ToolRequest) -> ToolReply {
        Ok(Outcome::Complete(CallToolResult::text("the shadow")))
    }
}

#[tokio::test]
async fn a_hidden_tool_is_not_asked_of_a_provider() {
    let hidden = Tool::new("edit").scopes(["write"]).handler(async || "done");
    let server = Server::new("hidden", "1").add_tool(hidden).provider(Shadow);
    let mut peer = Peer::of(server, MODERN).await;
    let error = peer.error("tools/call", json!({ "name": "edit" })).await;
    assert_eq!(error["message"], "unknown tool: edit");
    let other = peer.call("other", json!({})).await;
    assert_eq!(other["content"][0]["text"], "the shadow");
}
