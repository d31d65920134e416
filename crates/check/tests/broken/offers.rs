//! Broken lists, tools, resources, prompts and tasks.

use serde_json::{Value, json};

use super::lifecycle::undeclared;
use super::*;

pub(super) fn offers() -> Vec<(&'static str, Revision, Break)> {
    vec![
        (
            "tools-list",
            L,
            result_of!("tools/list", |it| it["tools"] = json!({})),
        ),
        (
            "resources-list",
            L,
            result_of!("resources/list", |it| it["resources"] = json!(null)),
        ),
        (
            "templates-list",
            L,
            result_of!("resources/templates/list", |it| *it = json!({})),
        ),
        (
            "prompts-list",
            L,
            result_of!("prompts/list", |it| it["prompts"] = json!("none")),
        ),
        (
            "list-cursor-shape",
            L,
            result_of!("tools/list", |it| it["nextCursor"] = json!(2)),
        ),
        (
            "list-ends",
            L,
            result_of!("tools/list", |it| it["nextCursor"] = json!("next")),
        ),
        (
            "tools-list-cursor",
            L,
            succeed!("tools/list", json!({ "tools": [] })),
        ),
        (
            "resources-list-cursor",
            L,
            succeed!("resources/list", json!({ "resources": [] })),
        ),
        (
            "templates-list-cursor",
            L,
            succeed!(
                "resources/templates/list",
                json!({ "resourceTemplates": [] })
            ),
        ),
        (
            "prompts-list-cursor",
            L,
            succeed!("prompts/list", json!({ "prompts": [] })),
        ),
        ("list-cursor-odd", L, |line, _, out| {
            match line.len() > 100_000 {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        (
            "tool-shape",
            L,
            result_of!("tools/list", |it| it["tools"][0]["title"] = json!(5)),
        ),
        (
            "tool-input-schema-root",
            L,
            result_of!("tools/list", |it| it["tools"][0]["inputSchema"] = json!({})),
        ),
        (
            "tool-output-schema-root",
            L,
            result_of!("tools/list", |it| {
                it["tools"][0]["outputSchema"] = json!({ "type": "array" });
            }),
        ),
        (
            "tool-schemas-valid",
            L,
            result_of!("tools/list", |it| {
                it["tools"][0]["inputSchema"] = json!({ "type": "object", "required": "a" });
            }),
        ),
        (
            "tool-names",
            L,
            result_of!("tools/list", |it| it["tools"][0]["name"] = json!("a b")),
        ),
        (
            "tool-names-unique",
            L,
            result_of!("tools/list", |it| it["tools"][0]["name"] = json!("same")),
        ),
        (
            "tool-annotations",
            L,
            result_of!("tools/list", |it| {
                it["tools"][0]["annotations"] = json!({ "readOnlyHint": "yes" });
            }),
        ),
        (
            "tool-task-support",
            L,
            result_of!("tools/list", |it| {
                it["tools"][0]["execution"] = json!({ "taskSupport": true });
            }),
        ),
        (
            "tool-icons",
            L,
            result_of!("tools/list", |it| it["tools"][0]["icons"] = json!([{}])),
        ),
        ("tool-result-resources", L, |_, message, mut out| {
            match method(message) {
                "initialize" => {
                    out[0]["result"]["capabilities"] = json!({ "tools": {} });
                }
                "tools/call" => {
                    out[0]["result"]["content"] = json!([{ "type": "resource",
                        "resource": { "uri": "toy://a", "text": "a" } }]);
                }
                _ => {}
            }
            lines(out)
        }),
        (
            "tool-unknown",
            L,
            succeed!("tools/call", json!({ "content": [], "isError": true })),
        ),
        (
            "tool-unknown-code",
            L,
            error_with!(|it| it["error"]["code"] = json!(-32000)),
        ),
        (
            "tool-call-without-name",
            L,
            succeed!("tools/call", json!({ "content": [], "isError": true })),
        ),
        (
            "tool-names-odd",
            L,
            succeed!("tools/call", json!({ "content": [] })),
        ),
        (
            "tool-arguments-validated",
            L,
            succeed!("tools/call", json!({ "content": [] })),
        ),
        ("tool-arguments-as-result", L, |_, message, out| {
            match message["params"]["name"] == "half" {
                true => vec![crate::toy::error(&message["id"], -32602, Value::Null).to_string()],
                false => lines(out),
            }
        }),
        (
            "tool-arguments-list",
            L,
            succeed!("tools/call", json!({ "content": [] })),
        ),
        (
            "tool-result-content",
            L,
            result_of!("tools/call", |it| it["content"] =
                json!([{ "type": "text" }])),
        ),
        (
            "tool-result-structured",
            L,
            result_of!("tools/call", |it| it["structuredContent"] =
                json!({ "n": "1" })),
        ),
        (
            "tool-result-structured-text",
            L,
            result_of!("tools/call", |it| it["content"] = json!([])),
        ),
        (
            "resource-shape",
            L,
            result_of!("resources/list", |it| it["resources"][0]["uri"] =
                json!("a b")),
        ),
        (
            "template-shape",
            L,
            result_of!("resources/templates/list", |it| {
                it["resourceTemplates"][0]["uriTemplate"] = json!("toy://{id");
            }),
        ),
        (
            "resource-annotations",
            L,
            result_of!("resources/list", |it| {
                it["resources"][0]["annotations"] = json!({ "priority": 5 });
            }),
        ),
        (
            "resource-icons",
            L,
            result_of!("resources/list", |it| it["resources"][0]["icons"] =
                json!({})),
        ),
        (
            "resource-read",
            L,
            result_of!("resources/read", |it| it["contents"][0] =
                json!({ "uri": "toy://a" })),
        ),
        (
            "resource-unknown",
            L,
            succeed!("resources/read", json!({ "contents": [] })),
        ),
        (
            "resource-unknown-code",
            L,
            error_with!(|it| it["error"]["code"] = json!(-32603)),
        ),
        (
            "resource-read-without-uri",
            L,
            succeed!("resources/read", json!({ "contents": [] })),
        ),
        (
            "resource-traversal",
            L,
            succeed!(
                "resources/read",
                json!({ "contents": [{ "uri": "file:///etc/passwd", "text": "root:x:0:0" }] })
            ),
        ),
        ("resource-subscribe", L, error_for_subscribe),
        (
            "resource-subscribe-undeclared",
            L,
            result_of!("initialize", |it| {
                it["capabilities"]["resources"] = json!({});
            }),
        ),
        (
            "prompt-shape",
            L,
            result_of!("prompts/list", |it| it["prompts"][0]["arguments"] =
                json!([{}])),
        ),
        (
            "prompt-names-unique",
            L,
            result_of!("prompts/list", |it| {
                it["prompts"] = json!([{ "name": "a" }, { "name": "a" }]);
            }),
        ),
        (
            "prompt-icons",
            L,
            result_of!("prompts/list", |it| it["prompts"][0]["icons"] = json!("x")),
        ),
        (
            "prompt-get",
            L,
            result_of!("prompts/get", |it| it["messages"][0]["content"] = json!([])),
        ),
        (
            "resource-size",
            L,
            result_of!("resources/list", |it| it["resources"][0]["size"] =
                json!(-1)),
        ),
        (
            "prompt-image",
            L,
            result_of!("prompts/get", |it| {
                it["messages"][0]["content"] =
                    json!({ "type": "image", "data": "!", "mimeType": "image/png" });
            }),
        ),
        (
            "prompt-audio",
            L,
            result_of!("prompts/get", |it| {
                it["messages"][0]["content"] =
                    json!({ "type": "audio", "data": "AA==", "mimeType": "wav" });
            }),
        ),
        (
            "prompt-resource",
            L,
            result_of!("prompts/get", |it| {
                it["messages"][0]["content"] =
                    json!({ "type": "resource", "resource": { "uri": "toy://a" } });
            }),
        ),
        (
            "prompt-unknown",
            L,
            succeed!("prompts/get", json!({ "messages": [] })),
        ),
        (
            "prompt-argument-missing",
            L,
            succeed!("prompts/get", json!({ "messages": [] })),
        ),
        (
            "prompt-argument-type",
            L,
            succeed!("prompts/get", json!({ "messages": [] })),
        ),
        (
            "completion",
            L,
            result_of!("completion/complete", |it| {
                it["completion"]["values"] = json!(vec!["a"; 101]);
            }),
        ),
        (
            "completion-unknown-prompt",
            L,
            succeed!(
                "completion/complete",
                json!({ "completion": { "values": [] } })
            ),
        ),
        ("completion-undeclared", L, |line, message, out| {
            undeclared("completions")(line, message, out)
        }),
        (
            "completion-malformed",
            L,
            succeed!(
                "completion/complete",
                json!({ "completion": { "values": [] } })
            ),
        ),
        ("log-level", L, |_, message, out| {
            match message["params"]["level"] == "alert" {
                true => vec![crate::toy::error(&message["id"], -32602, Value::Null).to_string()],
                false => lines(out),
            }
        }),
        (
            "log-level-unknown",
            L,
            succeed!("logging/setLevel", json!({})),
        ),
        ("log-message", L, |_, message, out| {
            before(message, "tools/list", log("loud"), out)
        }),
        ("progress-token", L, |_, message, out| {
            match method(message) {
                "tools/call" => [vec![progress("other", 1.0)], lines(out)].concat(),
                _ => lines(out),
            }
        }),
        ("progress-grows", L, |_, message, out| {
            match method(message) {
                "tools/call" => [
                    vec![progress("call-0", 1.0), progress("call-0", 1.0)],
                    lines(out),
                ]
                .concat(),
                _ => lines(out),
            }
        }),
        ("task-unknown", L, |_, message, out| {
            with_tasks(message, out)
        }),
        ("task-list", L, |_, message, out| with_tasks(message, out)),
        ("task-list-cursor", L, |_, message, out| {
            with_tasks(message, out)
        }),
        (
            "task-undeclared",
            L,
            succeed!("tasks/list", json!({ "tasks": [] })),
        ),
        ("task-ignored", L, |_, message, out| {
            match message["params"].get("task").is_some() {
            true => vec![json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "task": { "taskId": "1" } } }).to_string()],
            false => lines(out),
        }
        }),
    ]
}

fn error_for_subscribe(_: &[u8], message: &Value, out: Vec<Value>) -> Vec<String> {
    match method(message) == "resources/subscribe" {
        true => vec![crate::toy::error(&message["id"], -32601, Value::Null).to_string()],
        false => lines(out),
    }
}

/// Declares tasks, and answers their methods with invalid lists.
fn with_tasks(message: &Value, mut out: Vec<Value>) -> Vec<String> {
    match method(message) {
        "initialize" => {
            out[0]["result"]["capabilities"]["tasks"] = json!({ "list": {} });
            lines(out)
        }
        "tasks/list" | "tasks/get" => {
            vec![
                json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tasks": [{}] } })
                    .to_string(),
            ]
        }
        _ => lines(out),
    }
}
