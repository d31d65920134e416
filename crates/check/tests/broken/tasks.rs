//! The toy with tasks, and broken tasks.

use serde_json::{Value, json};

use super::*;

const RELATED: &str = "io.modelcontextprotocol/related-task";
const TIME: &str = "2026-01-02T03:04:05Z";

/// Adds tasks to the answers of the toy. The ids of requests become those of tasks, so nothing is stored.
pub(crate) fn with_tasks(message: &Value, mut out: Vec<Value>) -> Vec<Value> {
    let is_rejected = out.iter().any(|answer| answer.get("error").is_some());
    let params = &message["params"];
    let name = params["name"].as_str().unwrap_or_default();
    let is_task = params.get("task").is_some();
    let known = params["taskId"]
        .as_str()
        .filter(|id| id.starts_with("task-"));
    let outcome = match (method(message), known) {
        ("initialize" | "tools/list", _) if is_rejected => return out,
        ("initialize", _) => {
            out[0]["result"]["capabilities"]["tasks"] =
                json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
            return out;
        }
        ("tools/list", _) if params.get("cursor").is_none() => {
            add_tools(&mut out[0]["result"]["tools"]);
            return out;
        }
        ("tools/call", _) if name == "now" || name == "later" && is_task => match is_task {
            true => Ok(json!({ "task": task(&format!("task-{}", message["id"]), "working") })),
            false => return out,
        },
        ("tools/call", _) if name == "later" || name == "quick" && is_task => Err(-32601),
        ("tools/call", _) if name == "quick" => Ok(result()),
        ("tasks/get", Some(id)) => Ok(task(id, "completed")),
        ("tasks/result", Some(id)) => {
            let mut result = result();
            result["_meta"] = json!({ RELATED: { "taskId": id } });
            Ok(result)
        }
        ("tasks/list", _) if params.get("cursor").is_none() => {
            let tasks = (0..500).map(|id| task(&format!("task-{id}"), "completed"));
            Ok(json!({ "tasks": tasks.collect::<Vec<_>>() }))
        }
        ("tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/list", _) => Err(-32602),
        _ => return out,
    };
    vec![match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }),
        Err(code) => crate::toy::error(&message["id"], code, Value::Null),
    }]
}

fn add_tools(tools: &mut Value) {
    tools[0]["execution"] = json!({ "taskSupport": "optional" });
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } });
    let mut later = tool("later");
    later["execution"] = json!({ "taskSupport": "required" });
    if let Some(tools) = tools.as_array_mut() {
        tools.extend([later, tool("quick")]);
    }
}

fn task(id: &str, status: &str) -> Value {
    json!({ "taskId": id, "status": status, "createdAt": TIME, "lastUpdatedAt": TIME, "ttl": 60_000 })
}

fn result() -> Value {
    json!({ "content": [{ "type": "text", "text": "{\"n\":1}" }], "structuredContent": { "n": 1 } })
}

/// Changes the result of one method of the toy with tasks.
macro_rules! tasks_with {
    ($method:literal, $change:expr) => {
        |_, message, out| {
            let mut out = with_tasks(message, out);
            if method(message) == $method {
                for answer in &mut out {
                    let change: fn(&mut Value) = $change;
                    change(answer);
                }
            }
            lines(out)
        }
    };
}

/// Changes the task of a call.
fn in_task(answer: &mut Value, name: &str, value: Value) {
    if answer["result"].get("task").is_some() {
        answer["result"]["task"][name] = value;
    }
}

pub(super) fn tasks() -> Vec<(&'static str, Revision, Break)> {
    vec![
        ("task-created", L, |_, message, out| {
            lines(match method(message) {
                "tools/call" => out,
                _ => with_tasks(message, out),
            })
        }),
        (
            "task-starts-working",
            L,
            tasks_with!("tools/call", |it| in_task(it, "status", json!("completed"))),
        ),
        (
            "task-ids",
            L,
            tasks_with!("tools/call", |it| in_task(it, "taskId", json!("task-1"))),
        ),
        (
            "task-times",
            L,
            tasks_with!("tasks/get", |it| it["result"]["lastUpdatedAt"] =
                json!("now")),
        ),
        (
            "task-result",
            L,
            tasks_with!("tasks/get", |it| it["result"]["status"] = json!("working")),
        ),
        (
            "task-result-related",
            L,
            tasks_with!("tasks/result", |it| it["result"]["_meta"] = json!({})),
        ),
        (
            "task-get-unrelated",
            L,
            tasks_with!("tasks/get", |it| it["result"]["_meta"] =
                json!({ RELATED: { "taskId": "task-1" } })),
        ),
        (
            "task-listed",
            L,
            tasks_with!("tasks/list", |it| it["result"]["tasks"] = json!([])),
        ),
        (
            "task-cancel-ended",
            L,
            tasks_with!("tasks/cancel", |it| {
                *it = json!({ "jsonrpc": "2.0", "id": it["id"], "result": task("task-1", "cancelled") });
            }),
        ),
        (
            "task-required",
            L,
            tasks_with!("tools/call", |it| it["error"]["code"] = json!(-32602)),
        ),
        (
            "task-forbidden",
            L,
            tasks_with!("tools/call", |it| {
                *it = json!({ "jsonrpc": "2.0", "id": it["id"], "result": result() });
            }),
        ),
    ]
}

// The clock is paused, so that a wait for a missing answer takes no time.
#[tokio::test(start_paused = true)]
async fn the_toy_with_tasks_passes_every_check_of_tasks() {
    let target = on_pipe(|_, message, out| lines(with_tasks(message, out)));
    let mut options = CheckOptions::default();
    options.revisions = vec![L];
    let report = check(&target, options).await.expect("judged");
    assert!(report.failures().is_empty(), "{:#?}", report.failures());
    let ids: Vec<&str> = tasks().into_iter().map(|(id, ..)| id).collect();
    for finding in report.findings.iter().filter(|it| ids.contains(&it.check)) {
        assert!(finding.was_made(), "{finding:?}");
    }
}
