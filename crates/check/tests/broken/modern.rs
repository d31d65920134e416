//! Broken requests without a handshake.

use serde_json::{Value, json};

use super::*;

pub(super) fn modern() -> Vec<(&'static str, Revision, Break)> {
    vec![
        (
            "discover-result",
            M,
            result_of!("server/discover", |it| {
                it["supportedVersions"] = json!(["2026-07-28", 5]);
            }),
        ),
        (
            "discover-server-info",
            M,
            result_of!("server/discover", |it| it["_meta"] = json!({})),
        ),
        (
            "discover-unsupported-version",
            M,
            error_with!(|it| it["error"]["code"] = json!(-32602)),
        ),
        (
            "version-unsupported",
            M,
            error_with!(|it| it["error"]["data"] = json!({})),
        ),
        ("version-of-each-request", M, |line, _, out| {
            executes(line, "\"params\":{}}", out)
        }),
        ("version-after-rejection", M, |_, message, out| {
            match method(message) == "server/discover" && message["id"].as_i64() > Some(5) {
                true => vec![crate::toy::error(&message["id"], -32022, Value::Null).to_string()],
                false => lines(out),
            }
        }),
        (
            "initialize-is-legacy",
            M,
            result_of!("initialize", |it| it["protocolVersion"] =
                json!("2026-07-28")),
        ),
        (
            "initialize-names-revisions",
            M,
            |_, message, out| match method(message) {
                "initialize" => {
                    vec![crate::toy::error(&message["id"], -32601, Value::Null).to_string()]
                }
                _ => lines(out),
            },
        ),
        ("meta-missing", M, |line, _, out| {
            executes(line, "\"params\":{}}", out)
        }),
        (
            "meta-without-capabilities",
            M,
            error_with!(|it| it["error"]["code"] = json!(-32600)),
        ),
        ("meta-wrong-types", M, |line, _, out| {
            executes(line, "\"all\"", out)
        }),
        ("meta-without-client-info", M, |line, message, out| {
            match method(message) == "server/discover"
                && !String::from_utf8_lossy(line).contains("clientInfo")
            {
                true => vec![crate::toy::error(&message["id"], -32602, Value::Null).to_string()],
                false => lines(out),
            }
        }),
        ("meta-unknown-keys", M, |line, message, out| {
            reject(line, "com.example/unknown", message, out)
        }),
        ("meta-trace-context", M, |line, message, out| {
            reject(line, "not a trace", message, out)
        }),
        (
            "extensions-shape",
            M,
            result_of!("server/discover", |it| {
                it["capabilities"]["extensions"] = json!({ "tasks": {} });
            }),
        ),
        (
            "method-of-handshake",
            M,
            succeed!("ping", json!({ "resultType": "complete" })),
        ),
        ("list-same-on-connections", M, |_, message, mut out| {
            if method(message) == "tools/list" && message["id"] == 3 {
                out.iter_mut()
                    .for_each(|it| it["result"]["tools"] = json!([]));
            }
            lines(out)
        }),
        ("tools-list-order", M, |_, message, mut out| {
            if method(message) == "tools/list" {
                let name = format!("t{}", message["id"]);
                out.iter_mut()
                    .for_each(|it| it["result"]["tools"][0]["name"] = json!(name));
            }
            lines(out)
        }),
        (
            "discover-cache",
            M,
            result_of!("server/discover", |it| it["cacheScope"] = json!("all")),
        ),
        (
            "list-cache",
            M,
            result_of!("prompts/list", |it| it["ttlMs"] = json!("1")),
        ),
        (
            "read-cache",
            M,
            result_of!("resources/read", |it| it["ttlMs"] = json!(null)),
        ),
        (
            "cache-ttl",
            M,
            result_of!("prompts/list", |it| it["ttlMs"] = json!(-1)),
        ),
        ("cache-scope-of-pages", M, |_, message, mut out| {
            if message["params"]["cursor"] == "next" {
                out.iter_mut()
                    .for_each(|it| it["result"]["cacheScope"] = json!("public"));
            }
            lines(out)
        }),
        (
            "prompt-without-cache",
            M,
            result_of!("prompts/get", |it| it["ttlMs"] = json!(1)),
        ),
        (
            "tool-header-annotations",
            M,
            result_of!("tools/list", |it| {
                it["tools"][0]["inputSchema"] = json!({ "type": "object",
                "properties": { "a": { "type": "number", "x-mcp-header": "A" } } });
            }),
        ),
        ("log-level-of-request-unknown", M, |line, message, out| {
            let mut out =
                result_of_discover(message, out, |it| it["capabilities"]["logging"] = json!({}));
            if String::from_utf8_lossy(line).contains("loud") {
                out = vec![json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} })];
            }
            lines(out)
        }),
        ("log-without-request", M, |_, message, out| {
            before(message, "tools/list", log("info"), out)
        }),
        (
            "task-capability-legacy",
            M,
            result_of!("server/discover", |it| it["capabilities"]["tasks"] =
                json!({})),
        ),
        ("task-result-gone", M, succeed!("tasks/result", json!({}))),
        ("task-without-extension", M, |_, message, out| {
            lines(result_of_discover(message, out, |it| {
                it["capabilities"]["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
            }))
        }),
        ("listen-acknowledged", M, |_, message, out| {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            before(message, "subscriptions/listen", changed, out)
        }),
        ("listen-tagged", M, |_, message, mut out| {
            if method(message) == "subscriptions/listen" && !out.is_empty() {
                out[0]["params"]["_meta"] =
                    json!({ "io.modelcontextprotocol/subscriptionId": "1" });
            }
            lines(out)
        }),
        ("listen-subset", M, |_, message, mut out| {
            if method(message) == "subscriptions/listen" && !out.is_empty() {
                out[0]["params"]["notifications"]["promptsListChanged"] = json!(true);
            }
            lines(out)
        }),
        ("listen-cancelled", M, |_, message, mut out| {
            if method(message) == "notifications/cancelled" {
                out = vec![json!({ "jsonrpc": "2.0", "id": "listen-5", "result": {} })];
            }
            lines(out)
        }),
        (
            "listen-without-filter",
            M,
            succeed!("subscriptions/listen", json!({})),
        ),
        ("listen-unknown-filter", M, |line, message, out| {
            reject(line, "com.example/unknown", message, out)
        }),
        ("tool-input-unexpected", M, |line, message, out| {
            reject(line, "inputResponses", message, out)
        }),
        (
            "meta-trace-sent",
            M,
            result_of!("tools/list", |it| it["_meta"]["traceparent"] =
                json!("00-0-0-0")),
        ),
        (
            "result-type",
            M,
            result_of!("tools/list", |it| it["resultType"] = json!(null)),
        ),
        (
            "result-type-known",
            M,
            result_of!("tools/list", |it| it["resultType"] = json!("task")),
        ),
        (
            "result-server-info",
            M,
            result_of!("tools/list", |it| it["_meta"] = json!({})),
        ),
        ("no-server-requests", M, |_, message, out| {
            before(
                message,
                "tools/list",
                json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
                out,
            )
        }),
        (
            "error-codes-reserved",
            M,
            error_with!(|it| it["error"]["code"] = json!(-32050)),
        ),
        (
            "error-codes-retired",
            M,
            error_with!(|it| it["error"]["code"] = json!(-32002)),
        ),
        (
            "error-codes-old-range",
            M,
            error_with!(|it| it["error"]["code"] = json!(-32000)),
        ),
        (
            "input-required-methods",
            M,
            result_of!("tools/list", |it| it["resultType"] =
                json!("input_required")),
        ),
        (
            "input-required-shape",
            M,
            result_of!("tools/call", |it| it["resultType"] =
                json!("input_required")),
        ),
        (
            "input-required-undeclared",
            M,
            result_of!("tools/call", |it| {
                *it = json!({ "resultType": "input_required", "inputRequests": { "a": { "method": "roots/list" } } });
            }),
        ),
        ("capability-required", M, |_, message, out| {
            match method(message) {
                "tools/call" => {
                    vec![crate::toy::error(&message["id"], -32021, Value::Null).to_string()]
                }
                _ => lines(out),
            }
        }),
        ("notifications-of-request", M, |_, message, out| {
            let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
            before(message, "tools/list", changed, out)
        }),
        ("cancelled-not-sent", M, |_, message, out| {
            let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": 1 } });
            before(message, "tools/list", cancel, out)
        }),
    ]
}

fn reject(line: &[u8], needle: &str, message: &Value, out: Vec<Value>) -> Vec<String> {
    match String::from_utf8_lossy(line).contains(needle) {
        true => vec![crate::toy::error(&message["id"], -32602, Value::Null).to_string()],
        false => lines(out),
    }
}

fn result_of_discover(message: &Value, mut out: Vec<Value>, change: fn(&mut Value)) -> Vec<Value> {
    if method(message) == "server/discover" {
        out.iter_mut()
            .filter(|it| it.get("result").is_some())
            .for_each(|it| change(&mut it["result"]));
    }
    out
}
