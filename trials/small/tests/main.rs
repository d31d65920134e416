//! The answers of a server without tasks. They are the same whether or not the program contains the code of tasks.

use std::sync::Arc;

use pintle::prelude::*;
use pintle::runtime::{PipeOptions, serve_pipe};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

const METHOD_NOT_FOUND: i64 = -32601;

/// Adds two numbers.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Returns the answers of a server to lines of a client, in the order of their ids.
async fn answers(lines: &[Value]) -> Vec<Value> {
    let server = Server::new("calculator", "1.0.0").tool::<add>();
    let app = Arc::new(server.build().expect("a valid server"));
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve_pipe(app, reader, writer, PipeOptions::default()));
    let (reader, mut writer) = tokio::io::split(near);
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let written = writer.write_all(text.as_bytes()).await;
    written.expect("the server reads");
    let mut reader = BufReader::new(reader).lines();
    let mut answers = Vec::new();
    let requests = lines.iter().filter(|line| line.get("id").is_some());
    for _ in requests {
        let line = reader.next_line().await.expect("the server writes");
        let answer = line.expect("a line");
        answers.push(serde_json::from_str::<Value>(&answer).expect("JSON"));
    }
    answers.sort_by_key(|answer| answer["id"].as_i64());
    answers
}

fn request(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

// spec: 2025-11-25 TASK-07
#[tokio::test]
async fn a_task_that_a_client_of_2025_11_25_requests_is_a_call() {
    let client = json!({ "name": "t", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let arguments = json!({ "a": 1, "b": 2 });
    let call = json!({ "name": "add", "arguments": arguments, "task": { "ttl": 60_000 } });
    let answers = answers(&[
        request(1, "initialize", hello),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        request(2, "tools/call", call),
        request(3, "tasks/get", json!({ "taskId": "1" })),
        request(4, "tasks/list", json!({})),
        request(5, "tools/list", json!({})),
    ])
    .await;
    assert!(answers[0]["result"]["capabilities"]["tasks"].is_null());
    assert_eq!(answers[1]["result"]["content"][0]["text"], "3");
    assert_eq!(answers[2]["error"]["code"], METHOD_NOT_FOUND);
    assert_eq!(answers[3]["error"]["code"], METHOD_NOT_FOUND);
    assert!(answers[4]["result"]["tools"][0]["execution"].is_null());
}

#[tokio::test]
async fn a_client_of_2026_07_28_that_knows_tasks_gets_none() {
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let arguments = json!({ "a": 1, "b": 2 });
    let call = json!({ "name": "add", "arguments": arguments, "_meta": meta });
    let answers = answers(&[
        request(1, "server/discover", json!({ "_meta": meta })),
        request(2, "tools/call", call),
        request(3, "tasks/get", json!({ "taskId": "1", "_meta": meta })),
    ])
    .await;
    assert!(answers[0]["result"]["capabilities"]["extensions"].is_null());
    assert_eq!(answers[1]["result"]["resultType"], "complete");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "3");
    assert_eq!(answers[2]["error"]["code"], METHOD_NOT_FOUND);
}
