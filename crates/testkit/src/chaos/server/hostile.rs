//! The messages of a client that breaks every rule.

use serde_json::{Value, json};

pub(super) const METHODS: [&str; 12] = [
    "tools/call",
    "tools/call",
    "tools/call",
    "tools/list",
    "resources/read",
    "ping",
    "server/discover",
    "logging/setLevel",
    "resources/subscribe",
    "subscriptions/listen",
    "subscriptions/listen",
    "no/such",
];

pub(super) const JUNK: [&str; 12] = [
    "",
    "{",
    "[]",
    "[1]",
    "null",
    "{}",
    "\u{feff}",
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[1]}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"ping","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":9,"result":{},"error":{"code":1,"message":"m"}}"#,
];

pub(super) const NOTICES: [&str; 6] = [
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/no/such","params":{"a":1}}"#,
];

pub(super) fn params_of(method: &str) -> Value {
    match method {
        "tools/call" => json!({ "name": "t" }),
        "resources/read" | "resources/subscribe" => json!({ "uri": "a:1" }),
        "logging/setLevel" => json!({ "level": "debug" }),
        "subscriptions/listen" => {
            json!({ "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["a:1", "a:2"] } })
        }
        _ => json!({}),
    }
}
