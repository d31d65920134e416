//! Broken messages.

use serde_json::{Value, json};

use super::*;

pub(super) fn messages() -> Vec<(&'static str, Revision, Break)> {
    vec![
        ("id-text", L, |_, message, mut out| {
            if message["id"] == "907" && !out.is_empty() {
                out[0]["id"] = json!(907);
            }
            lines(out)
        }),
        ("id-number", L, |_, message, mut out| {
            if message["id"] == 908 && !out.is_empty() {
                out[0]["id"] = json!("908");
            }
            lines(out)
        }),
        ("id-of-error", L, error_with!(|it| it["id"] = Value::Null)),
        ("id-odd", L, |_, message, mut out| {
            if message["id"] == json!(9_007_199_254_740_993_i64) {
                out[0]["id"] = json!(9_007_199_254_740_992_i64);
            }
            lines(out)
        }),
        ("id-invalid", L, |line, _, out| {
            executes(line, "\"id\":null", out)
        }),
        (
            "method-unknown",
            L,
            error_with!(|it| it["error"]["code"] = json!(-32600)),
        ),
        (
            "method-of-notification",
            L,
            succeed!("notifications/progress", json!({})),
        ),
        (
            "params-unknown",
            L,
            |line, message, out| match String::from_utf8_lossy(line).contains("com.example/unknown")
            {
                true => vec![crate::toy::error(&message["id"], -32600, Value::Null).to_string()],
                false => lines(out),
            },
        ),
        (
            "members-unknown",
            L,
            |line, message, out| match String::from_utf8_lossy(line).contains("com.example/member")
            {
                true => vec![crate::toy::error(&message["id"], -32600, Value::Null).to_string()],
                false => lines(out),
            },
        ),
        (
            "meta-open",
            L,
            |line, message, out| match String::from_utf8_lossy(line).contains("com.example/a") {
                true => vec![crate::toy::error(&message["id"], -32600, Value::Null).to_string()],
                false => lines(out),
            },
        ),
        ("params-list", L, |line, _, out| {
            executes(line, "[1,2]", out)
        }),
        ("batch-answered", B, |_, message, out| {
            match message.is_array() {
                true => Vec::new(),
                false => lines(out),
            }
        }),
        ("batch-refused", L, |line, _, out| {
            match line.starts_with(b"[") {
                true => vec![json!([{ "jsonrpc": "2.0", "id": 1, "result": {} }]).to_string()],
                false => lines(out),
            }
        }),
        ("batch-not-sent", L, |_, message, out| {
            before(message, "tools/list", json!([log("info")]), out)
        }),
        (
            "json-invalid-code",
            L,
            error_with!(|it| {
                if it["error"]["code"] == -32700 {
                    it["error"]["code"] = json!(-32600);
                }
            }),
        ),
        ("json-invalid-survived", L, |line, _, out| {
            match line == b"not json" {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("message-invalid", L, |line, _, out| {
            executes(line, "\"1.0\"", out)
        }),
        (
            "utf8-invalid",
            L,
            |line, _, out| match std::str::from_utf8(line) {
                Ok(_) => lines(out),
                Err(_) => vec![json!({ "jsonrpc": "2.0", "id": 1, "result": {} }).to_string()],
            },
        ),
        ("members-of-other-case", L, |line, _, out| {
            executes(line, "\"METHOD\"", out)
        }),
        ("members-duplicate", L, |line, _, out| {
            executes(line, "{\"method\":\"tools/list\"", out)
        }),
        ("nesting-deep", L, |line, _, out| {
            match line.len() > 100_000 {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("message-large", L, |line, _, out| {
            match line.len() > 1 << 20 {
                true => Vec::new(),
                false => lines(out),
            }
        }),
        ("responses-unexpected", L, |line, _, out| {
            executes(line, "\"id\":\"none\"", out)
        }),
        (
            "notification-unanswered",
            L,
            succeed!("notifications/pintle_check", json!({})),
        ),
        (
            "notification-unknown",
            L,
            succeed!("notifications/pintle_check", json!({})),
        ),
        ("notifications-many", L, |_, message, out| {
            match method(message) == "notifications/pintle_check" {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        (
            "cancel-unknown",
            L,
            succeed!("notifications/cancelled", json!({})),
        ),
        (
            "cancel-malformed",
            L,
            succeed!("notifications/cancelled", json!({})),
        ),
        ("cancel-finished", L, |_, message, out| {
            match method(message) == "notifications/cancelled" {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("stdout-only-messages", L, |_, _, out| {
            let mut all = lines(out);
            all.push("a log line".to_owned());
            all
        }),
        ("stdout-one-line-each", L, |_, message, out| {
            match method(message).starts_with("pintle/check") {
                true => out
                    .iter()
                    .map(|it| format!("{it:#}"))
                    .chain(lines(out.clone()))
                    .collect(),
                false => lines(out),
            }
        }),
        ("stdin-line-ends", L, |line, _, out| {
            match line.ends_with(b"\r") {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("stdin-byte-order-mark", L, |line, _, out| {
            match line.starts_with(b"\xef\xbb\xbf") {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("stdin-pieces", L, |_, message, out| match method(message) {
            "ping" => lines(out.iter().chain(&out).cloned().collect()),
            _ => lines(out),
        }),
        ("stdin-pipelined", L, |_, message, out| match message["id"]
            .as_i64()
            .is_some_and(|id| id % 100 == 99)
        {
            true => Vec::new(),
            false => lines(out),
        }),
        ("stdin-end", L, |line, _, out| match line.is_empty() {
            true => vec![STAY.to_owned()],
            false => lines(out),
        }),
        ("message-jsonrpc", L, |_, _, mut out| {
            out.iter_mut().for_each(|it| it["jsonrpc"] = json!("1.0"));
            lines(out)
        }),
        ("message-utf8", L, |_, message, out| match method(message) {
            "tools/list" => [vec!["{".to_owned()], lines(out)].concat(),
            _ => lines(out),
        }),
        ("response-one-of", L, result_and_error),
        ("response-result-object", L, |_, message, mut out| {
            if method(message) == "resources/list" {
                out.iter_mut().for_each(|it| it["result"] = json!([]));
            }
            lines(out)
        }),
        (
            "error-shape",
            L,
            error_with!(|it| it["error"]["code"] = json!("-32601")),
        ),
        (
            "error-message-short",
            L,
            error_with!(|it| it["error"]["message"] = json!("a\nb")),
        ),
        ("response-once", L, |_, message, out| {
            match method(message) {
                "tools/call" => [lines(out.clone()), lines(out)].concat(),
                _ => lines(out),
            }
        }),
        ("notification-without-id", L, |_, message, out| {
            let odd = json!({ "jsonrpc": "2.0", "id": 1, "method": "notifications/message" });
            before(message, "tools/list", odd, out)
        }),
        ("request-of-server", L, |_, message, out| {
            let odd = json!({ "jsonrpc": "2.0", "id": 1.5, "method": "ping" });
            before(message, "tools/list", odd, out)
        }),
        ("request-undeclared", L, |_, message, out| {
            let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "sampling/createMessage", "params": {} });
            before(message, "tools/list", ask, out)
        }),
        (
            "meta-keys",
            L,
            result_of!("tools/list", |it| it["_meta"] = json!({ "-odd": 1 })),
        ),
        (
            "meta-reserved",
            L,
            result_of!("tools/list", |it| it["_meta"] =
                json!({ "com.mcp.tools/a": 1 })),
        ),
        (
            "meta-reverse-names",
            L,
            result_of!("tools/list", |it| it["_meta"] = json!({ "ui/a": 1 })),
        ),
        (
            "meta-object",
            L,
            result_of!("tools/list", |it| it["_meta"] = json!("text")),
        ),
        ("request-id-reused", L, |_, message, out| {
            match message["id"] == "reused" {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("params-wrong-types", L, |line, _, out| {
            executes(line, "[\"a\"]", out)
        }),
        ("client-name-hostile", L, |line, _, out| {
            match line.len() > 100_000 {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("completion-hostile", L, |line, _, out| {
            match line.len() > 60_000 {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
    ]
}

fn result_and_error(_: &[u8], message: &Value, mut out: Vec<Value>) -> Vec<String> {
    if method(message) == "tools/list" {
        out.iter_mut()
            .for_each(|it| it["error"] = json!({ "code": 1, "message": "m" }));
    }
    lines(out)
}
