//! Tasks over HTTP, under the rules of the transport.

use http::StatusCode;
use pintle::prelude::*;
use serde_json::{Value, json};

use crate::over_http::guest::{Guest, MODERN, messages};

const CORE: &str = "2025-11-25";

/// Runs for a minute.
#[tool(task = optional)]
async fn minute() -> &'static str {
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    "a minute later"
}

async fn guest(revision: &'static str) -> Guest {
    Guest::of(Server::new("tasks", "1").tool::<minute>(), revision).await
}

/// Parameters of a client with the capability for tasks.
fn able(mut params: Value) -> Value {
    let able = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": able });
    params
}

// spec: 2025-11-25 TASK-25, TASK-43
#[tokio::test(start_paused = true)]
async fn a_task_of_the_core_is_looked_at_without_a_stream() {
    let mut guest = guest(CORE).await;
    let call = json!({ "name": "minute", "task": { "ttl": 120_000 } });
    let answers = guest.ask("tools/call", call).await;
    let task = &answers.last().expect("an answer")["result"]["task"];
    let id = json!({ "taskId": task["taskId"] });
    let request = guest.request("tasks/get", id.clone());
    let response = guest.post(&request).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let seen = messages(response).await;
    assert_eq!(seen[0]["result"]["status"], "working");
    let ended = guest.ask("tasks/result", id).await;
    let result = &ended.last().expect("an answer")["result"];
    assert_eq!(result["content"][0]["text"], "a minute later");
    // No request here is authorized, so the server offers no list of all tasks.
    let listed = guest.ask("tasks/list", json!({})).await;
    assert_eq!(listed[0]["error"]["code"], -32601);
}

// spec: 2026-07-28 X-TASK-02, X-TASK-32, X-TASK-39
#[tokio::test(start_paused = true)]
async fn a_header_repeats_which_task_is_meant() {
    let mut guest = guest(MODERN).await;
    let answers = guest
        .ask("tools/call", able(json!({ "name": "minute" })))
        .await;
    let task = &answers.last().expect("an answer")["result"];
    assert_eq!(task["resultType"], "task");
    let id = json!({ "taskId": task["taskId"] });
    let seen = guest.ask("tasks/get", able(id.clone())).await;
    assert_eq!(seen[0]["result"]["status"], "working");
    let mut contradicted = able(id.clone());
    contradicted["name"] = json!("another");
    let request = guest.request("tasks/get", contradicted);
    let response = guest.post(&request).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(messages(response).await[0]["error"]["code"], -32020);
    tokio::time::sleep(std::time::Duration::from_secs(61)).await;
    let ended = guest.ask("tasks/get", able(id)).await;
    let text = &ended[0]["result"]["result"]["content"][0]["text"];
    assert_eq!(text, "a minute later", "the task outlives its exchange");
}
