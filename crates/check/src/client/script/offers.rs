//! The tools, resources and prompts of the scripted server.

use std::time::Duration;

use serde_json::{Value, json};

use super::Answer;

/// The pause between two steps of the slow tool.
pub(super) const STEP: Duration = Duration::from_millis(500);

/// The cursor of the second page. It is not a number, and each character counts.
pub(crate) const SECOND_PAGE: &str = "2 \"ä/%2F=\\";
/// The cursor of the third page in the revisions with a handshake.
const THIRD_PAGE: &str = "3";

pub(super) fn identity() -> Value {
    json!({ "name": "pintle-check", "version": env!("CARGO_PKG_VERSION") })
}

/// Answers a method that needs no conversation.
pub(super) fn answer(method: &str, params: &Value, is_modern: bool) -> Answer {
    match method {
        "tools/list" => page(params, "tools", tools(is_modern), is_modern),
        "resources/list" => page(params, "resources", resources(), is_modern),
        "resources/templates/list" => page(params, "resourceTemplates", templates(), is_modern),
        "prompts/list" => page(params, "prompts", prompts(), is_modern),
        "resources/read" => read(params, is_modern),
        "prompts/get" => prompt(params),
        "completion/complete" => Answer::Result(json!({ "completion": { "values": ["Ada"] } })),
        _ => Answer::Error(-32601, "method not found", Value::Null),
    }
}

/// Returns one page of a list of three pages.
fn page(params: &Value, member: &str, entries: [Vec<Value>; 3], is_modern: bool) -> Answer {
    // An empty cursor is a cursor.
    let third = match is_modern {
        true => "",
        false => THIRD_PAGE,
    };
    let [first, second, last] = entries;
    let (entries, next) = match params.get("cursor").and_then(Value::as_str) {
        None => (first, Some(SECOND_PAGE)),
        Some(SECOND_PAGE) => (second, Some(third)),
        Some(cursor) if cursor == third => (last, None),
        Some(_) => return Answer::Error(-32602, "unknown cursor", Value::Null),
    };
    let mut result = json!({ member: entries });
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    Answer::Result(result)
}

fn tool(name: &str, about: &str, properties: Value) -> Value {
    json!({ "name": name, "description": about, "annotations": { "readOnlyHint": true },
        "inputSchema": { "type": "object", "properties": properties } })
}

fn tools(is_modern: bool) -> [Vec<Value>; 3] {
    let text = json!({ "text": { "type": "string" } });
    let region = json!({ "region": { "type": "string", "x-mcp-header": "Region" } });
    let mut last = vec![tool("region", "Returns the region.", region)];
    if is_modern {
        // The annotation is not allowed for a number, so that a client over HTTP drops the tool.
        let invalid = json!({ "value": { "type": "number", "x-mcp-header": "Value" } });
        last.push(tool(
            "measure",
            "Has an invalid header annotation.",
            invalid,
        ));
    }
    [
        vec![tool("echo", "Returns the text.", text)],
        vec![
            tool(
                "ask",
                "Asks the client for each feature that it declares.",
                json!({}),
            ),
            tool(
                "slow",
                "Takes two seconds, and reports progress.",
                json!({}),
            ),
        ],
        last,
    ]
}

fn resources() -> [Vec<Value>; 3] {
    let resource = |name: &str| json!({ "uri": format!("pintle://{name}"), "name": name, "mimeType": "text/plain" });
    [
        vec![resource("greeting")],
        vec![resource("second")],
        vec![resource("third")],
    ]
}

fn templates() -> [Vec<Value>; 3] {
    let template =
        |name: &str| json!({ "uriTemplate": format!("pintle://{name}/{{path}}"), "name": name });
    [
        vec![template("files")],
        vec![template("second")],
        vec![template("third")],
    ]
}

fn prompts() -> [Vec<Value>; 3] {
    let argument = json!([{ "name": "name", "required": true }]);
    [
        vec![json!({ "name": "greeting", "arguments": argument })],
        vec![json!({ "name": "größe" })],
        vec![json!({ "name": "third" })],
    ]
}

fn read(params: &Value, is_modern: bool) -> Answer {
    let uri = params
        .get("uri")
        .and_then(Value::as_str)
        .unwrap_or_default();
    match uri.starts_with("pintle://") {
        true => Answer::Result(
            json!({ "contents": [{ "uri": uri, "mimeType": "text/plain", "text": "Hello." }] }),
        ),
        false if is_modern => Answer::Error(-32602, "resource not found", json!({ "uri": uri })),
        false => Answer::Error(-32002, "resource not found", json!({ "uri": uri })),
    }
}

fn prompt(params: &Value) -> Answer {
    match params.get("name").and_then(Value::as_str) {
        Some("greeting" | "größe" | "third") => {
            let content = json!({ "type": "text", "text": "Hello." });
            Answer::Result(json!({ "messages": [{ "role": "user", "content": content }] }))
        }
        _ => Answer::Error(-32602, "unknown prompt", Value::Null),
    }
}

/// Returns the result of a tool.
pub(super) fn called(name: &str, params: &Value) -> Answer {
    let arguments = params.get("arguments").unwrap_or(&Value::Null);
    let argument = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let text = match name {
        "echo" => argument("text"),
        "region" => argument("region"),
        "ask" | "slow" | "measure" => "done".to_owned(),
        _ => return Answer::Error(-32602, "unknown tool", Value::Null),
    };
    Answer::Result(json!({ "content": [{ "type": "text", "text": text }] }))
}
