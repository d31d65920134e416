//! Clients that break one rule each, in lines on a stream.

use pintle_check::{CheckOptions, Visitor, check_client};
use pintle_http::client::BoxIo;
use pintle_model::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex};

use super::{findings, has_failed};

/// Sends lines one after the other, each after an answer to the one before, and judges them.
async fn judge(revision: Revision, lines: Vec<String>) -> pintle_check::Report {
    let visitor = Visitor::stdio(move |server| {
        let lines = lines.clone();
        Box::pin(async move {
            let (near, far) = duplex(1 << 22);
            let serving = tokio::spawn(async move { server.serve(BoxIo::new(far)).await });
            let mut near = BufReader::new(near);
            for line in lines {
                near.write_all(format!("{line}\n").as_bytes())
                    .await
                    .expect("open");
                let is_request = line.contains("\"id\":") && line.contains("\"method\":");
                let mut answer = String::new();
                while is_request && !answer.contains("\"result\"") && !answer.contains("\"error\"")
                {
                    answer.clear();
                    let read = near.read_line(&mut answer);
                    if !matches!(read.await, Ok(1..)) {
                        break;
                    }
                }
            }
            drop(near);
            serving.await.is_ok()
        })
    });
    let mut options = CheckOptions::default();
    options.revisions = vec![revision];
    check_client(&visitor, options).await.expect("a report")
}

fn handshake(revision: Revision) -> Vec<String> {
    let params = json!({ "protocolVersion": revision.as_str(), "capabilities": {},
        "clientInfo": { "name": "toy", "version": "1" } });
    vec![
        request(1, "initialize", params),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
    ]
}

fn request(id: u32, method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

const LEGACY: Revision = Revision::V2025_11_25;

#[tokio::test(start_paused = true)]
async fn each_broken_client_of_a_handshake_is_found() {
    let cursor = json!({ "cursor": "made up" });
    for (id, line) in [
        ("client-json-rpc", json!({ "jsonrpc": "1.0", "id": 2, "method": "tools/list" }).to_string()),
        ("client-request-id", json!({ "jsonrpc": "2.0", "id": 1.5, "method": "tools/list" }).to_string()),
        ("client-request-id-unique", request(1, "tools/list", json!({}))),
        ("client-params-object", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": [] }).to_string()),
        ("client-notification-id", request(2, "notifications/cancelled", json!({}))),
        ("client-answer-unasked", json!({ "jsonrpc": "2.0", "id": 99, "result": {} }).to_string()),
        ("client-answer-form", json!({ "jsonrpc": "2.0", "id": 99, "error": "x" }).to_string()),
        ("client-batch", format!("[{}]", request(2, "tools/list", json!({})))),
        ("client-line", "hello".to_owned()),
        ("client-meta-keys", request(2, "tools/list", json!({ "_meta": { "-a": 1 } }))),
        ("client-meta-object", request(2, "tools/list", json!({ "_meta": [] }))),
        ("client-meta-reserved", request(2, "tools/list", json!({ "_meta": { "com.mcp.x/y": 1 } }))),
        ("client-progress-token", request(2, "tools/list", json!({ "_meta": { "progressToken": {} } }))),
        ("client-call-params", request(2, "tools/call", json!({ "arguments": {} }))),
        ("client-read-params", request(2, "resources/read", json!({}))),
        ("client-prompt-params", request(2, "prompts/get", json!({ "name": "a", "arguments": { "b": 1 } }))),
        ("client-completion-params", request(2, "completion/complete", json!({ "ref": {} }))),
        ("client-log-level", request(2, "logging/setLevel", json!({ "level": "loud" }))),
        ("client-cursor-verbatim", request(2, "tools/list", cursor)),
        ("client-task-undeclared", request(2, "tools/call", json!({ "name": "echo", "task": {} }))),
        ("client-cancel-running", json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 9 } }).to_string()),
        ("client-cancel-params", json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {} }).to_string()),
        ("client-cancel-initialize", json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } }).to_string()),
        ("client-method-known", request(2, "subscriptions/listen", json!({}))),
    ] {
        let mut lines = handshake(LEGACY);
        lines.push(line);
        let report = judge(LEGACY, lines).await;
        assert!(has_failed(&report, id), "{id}: {:#?}", findings(&report, id));
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_without_a_complete_handshake_is_found() {
    let list = request(2, "tools/list", json!({}));
    let report = judge(LEGACY, vec![list.clone()]).await;
    assert!(
        has_failed(&report, "client-initialize-first"),
        "{:#?}",
        report.failures()
    );

    let mut lines = handshake(LEGACY);
    lines.remove(1);
    lines.push(list);
    let report = judge(LEGACY, lines).await;
    assert!(
        has_failed(&report, "client-initialized"),
        "{:#?}",
        report.failures()
    );
    assert!(
        has_failed(&report, "client-version-unknown"),
        "{:#?}",
        report.failures()
    );
}

#[tokio::test(start_paused = true)]
async fn each_broken_client_without_a_handshake_is_found() {
    let revision = Revision::V2026_07_28;
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": revision.as_str(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "toy", "version": "1" } });
    let with = |id: u32, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        request(id, method, params)
    };
    let declaring = |capabilities: Value| {
        let mut meta = meta.clone();
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
        vec![request(1, "server/discover", json!({ "_meta": meta }))]
    };
    let ask = with(2, "tools/call", json!({ "name": "ask" }));
    let retry = |params: Value| with(3, "tools/call", params);
    for (id, lines) in [
        (
            "client-discover-first",
            vec![with(1, "tools/list", json!({}))],
        ),
        (
            "client-envelope",
            vec![
                with(1, "server/discover", json!({})),
                request(2, "tools/list", json!({})),
            ],
        ),
        (
            "client-envelope-capabilities",
            declaring(json!({ "sampling": true })),
        ),
        (
            "client-envelope-roots",
            declaring(json!({ "roots": { "listChanged": true } })),
        ),
        (
            "client-retry-state",
            vec![
                ask.clone(),
                retry(json!({ "name": "ask", "requestState": "x" })),
            ],
        ),
        (
            "client-retry-params",
            vec![
                ask.clone(),
                retry(json!({ "name": "ask", "arguments": {}, "requestState": "x" })),
            ],
        ),
        (
            "client-retry-inputs",
            vec![
                ask.clone(),
                retry(json!({ "name": "ask", "inputResponses": { "a": {} } })),
            ],
        ),
        (
            "client-state-elsewhere",
            vec![retry(json!({ "name": "echo", "requestState": "x" }))],
        ),
        (
            "client-discover-result",
            vec![
                with(1, "server/discover", json!({})),
                handshake(revision).remove(0),
            ],
        ),
        (
            "client-cursor-empty",
            vec![
                with(1, "tools/list", json!({})),
                with(2, "tools/list", json!({ "cursor": "2 \"ä/%2F=\\" })),
            ],
        ),
        (
            "client-notifications",
            vec![
                with(1, "server/discover", json!({})),
                json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
            ],
        ),
        (
            "client-listen-params",
            vec![
                with(1, "server/discover", json!({})),
                with(2, "subscriptions/listen", json!({})),
            ],
        ),
    ] {
        let report = judge(revision, lines).await;
        assert!(
            has_failed(&report, id),
            "{id}: {:#?}",
            findings(&report, id)
        );
    }
}
