//! Broken handshakes and capabilities.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use serde_json::{Value, json};

use super::*;

/// Handshakes with the server of one row.
static HANDSHAKES: AtomicUsize = AtomicUsize::new(0);

pub(super) fn lifecycle() -> Vec<(&'static str, Revision, Break)> {
    vec![
        (
            "initialize-result",
            L,
            result_of!("initialize", |it| it["serverInfo"] = json!({})),
        ),
        ("initialize-version", L, |_, message, mut out| {
            // The first handshake opens the conversation.
            if method(message) == "initialize" && HANDSHAKES.fetch_add(1, SeqCst) > 0 {
                out[0]["result"]["protocolVersion"] = json!("2025-06-18");
            }
            lines(out)
        }),
        ("initialize-unknown-version", L, |_, message, out| {
            match message["params"]["protocolVersion"] == "1999-01-01" {
                true => vec![
                    json!({ "jsonrpc": "2.0", "id": message["id"],
                    "result": { "protocolVersion": "1999-01-01" } })
                    .to_string(),
                ],
                false => lines(out),
            }
        }),
        ("initialize-latest", L, |_, message, mut out| {
            if message["params"]["protocolVersion"] == "9999-12-31" {
                out[0]["result"]["protocolVersion"] = json!("2024-11-05");
            }
            lines(out)
        }),
        ("initialize-alone", L, |_, message, out| {
            let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "roots/list" });
            before(message, "initialize", request, out)
        }),
        ("initialize-after-request", L, |_, message, out| {
            let is_early = out.iter().any(|it| it["error"]["code"] == -32600);
            match method(message) == "tools/list" && is_early {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("initialize-twice", L, |_, message, out| {
            match message["params"]["clientInfo"].is_object() && message["id"] == 3 {
                true => vec![CLOSE.to_owned()],
                false => lines(out),
            }
        }),
        ("operation", L, error_for_ping),
        (
            "ping",
            L,
            result_of!("ping", |it| *it = json!({ "pong": true })),
        ),
        (
            "capabilities-shape",
            L,
            result_of!("initialize", |it| it["capabilities"]["tools"] = json!(true)),
        ),
        (
            "implementation-shape",
            L,
            result_of!("initialize", |it| {
                it["serverInfo"]["icons"] = json!([{ "src": "logo.png" }]);
            }),
        ),
        ("tools-declared", L, undeclared("tools")),
        ("resources-declared", L, undeclared("resources")),
        ("prompts-declared", L, undeclared("prompts")),
        ("completions-declared", L, undeclared("completions")),
        ("undeclared-method", L, undeclared("tools")),
        ("log-declared", L, |line, message, out| {
            let mut all = undeclared("logging")(line, message, out);
            if method(message) == "tools/list" {
                all.insert(0, log("info").to_string());
            }
            all
        }),
    ]
}

fn error_for_ping(_: &[u8], message: &Value, out: Vec<Value>) -> Vec<String> {
    match method(message) == "ping" {
        true => vec![crate::toy::error(&message["id"], -32601, Value::Null).to_string()],
        false => lines(out),
    }
}

/// Removes a capability.
pub(super) fn undeclared(name: &str) -> Break {
    macro_rules! without {
        ($name:literal) => {
            |_, _, mut out| {
                for answer in &mut out {
                    let capabilities = answer.pointer_mut("/result/capabilities");
                    if let Some(Value::Object(capabilities)) = capabilities {
                        capabilities.remove($name);
                    }
                }
                lines(out)
            }
        };
    }
    match name {
        "tools" => without!("tools"),
        "resources" => without!("resources"),
        "prompts" => without!("prompts"),
        "logging" => without!("logging"),
        _ => without!("completions"),
    }
}
