//! A small server in plain code, which tests break on purpose.

use serde_json::{Value, json};

/// A server of both eras. It has one tool, one resource, one template and one prompt.
#[derive(Debug, Default)]
pub(crate) struct Toy {
    /// The revision of the handshake.
    revision: Option<String>,
}

const MODERN: &str = "2026-07-28";
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// Returns the message of an error.
pub(crate) fn error(id: &Value, code: i64, data: Value) -> Value {
    let mut error = json!({ "code": code, "message": "rejected" });
    if !data.is_null() {
        error["data"] = data;
    }
    match id.is_null() {
        true => json!({ "jsonrpc": "2.0", "error": error }),
        false => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
    }
}

impl Toy {
    /// Answers one body or line.
    pub(crate) fn respond(&mut self, text: &[u8]) -> Vec<Value> {
        let parsed: Option<Value> = serde_json::from_slice(text).ok();
        match parsed {
            None => vec![error(&Value::Null, -32700, Value::Null)],
            Some(Value::Array(batch)) if self.has_batches() => {
                let answers: Vec<Value> = batch.iter().filter_map(|one| self.answer(one)).collect();
                vec![Value::Array(answers)]
            }
            // A member that occurs twice.
            Some(Value::Object(_)) if count(text, b"\"method\":") > 1 => {
                vec![error(&Value::Null, -32600, Value::Null)]
            }
            Some(message) => self.answer(&message).into_iter().collect(),
        }
    }

    fn has_batches(&self) -> bool {
        self.revision
            .as_deref()
            .is_some_and(|revision| revision < "2025-06-18")
    }

    fn answer(&mut self, message: &Value) -> Option<Value> {
        let id = message.get("id").cloned();
        let is_valid_id = id.as_ref().is_none_or(|id| id.is_string() || id.is_i64());
        let method = message.get("method").and_then(Value::as_str);
        let is_response = message.get("result").is_some() || message.get("error").is_some();
        if message.get("jsonrpc") != Some(&json!("2.0")) || !is_valid_id {
            return Some(error(&Value::Null, -32600, Value::Null));
        }
        let (Some(method), Some(id)) = (method, id) else {
            let is_fine = is_response || method.is_some();
            return (!is_fine).then(|| error(&Value::Null, -32600, Value::Null));
        };
        let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
        if !params.is_object() {
            return Some(error(&id, -32602, Value::Null));
        }
        let outcome = match method {
            "initialize" => self.initialize(&params),
            _ => match claimed(&params) {
                Some(claim) => modern(method, &params, &claim),
                None => self.legacy(method, &params),
            },
        };
        Some(match outcome {
            Ok(result) if method == "subscriptions/listen" => acknowledged(&id, &result),
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err((code, data)) => error(&id, code, data),
        })
    }

    fn initialize(&mut self, params: &Value) -> Outcome {
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let chosen = match LEGACY.contains(&asked) {
            true => asked,
            false => LEGACY[3],
        };
        self.revision = Some(chosen.to_owned());
        let mut capabilities = capabilities();
        capabilities["logging"] = json!({});
        Ok(json!({ "protocolVersion": chosen, "capabilities": capabilities, "serverInfo": info() }))
    }

    fn legacy(&self, method: &str, params: &Value) -> Outcome {
        if self.revision.is_none() && method != "ping" {
            return Err((-32600, Value::Null));
        }
        match method {
            "ping" | "resources/subscribe" | "resources/unsubscribe" => Ok(json!({})),
            "logging/setLevel" => match is_level(&params["level"]) {
                true => Ok(json!({})),
                false => Err((-32602, Value::Null)),
            },
            _ => offers(method, params),
        }
    }
}

type Outcome = Result<Value, (i64, Value)>;

fn info() -> Value {
    json!({ "name": "toy", "version": "1.0.0" })
}

fn capabilities() -> Value {
    json!({ "tools": { "listChanged": true }, "resources": { "subscribe": true },
        "prompts": {}, "completions": {} })
}

fn is_level(level: &Value) -> bool {
    let levels = [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ];
    level.as_str().is_some_and(|level| levels.contains(&level))
}

/// Returns the revision in the metadata of a request.
pub(crate) fn claimed(params: &Value) -> Option<Value> {
    params["_meta"]
        .get("io.modelcontextprotocol/protocolVersion")
        .cloned()
}

fn acknowledged(id: &Value, filter: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": { "notifications": filter, "_meta": { SUBSCRIPTION: id } } })
}

fn modern(method: &str, params: &Value, claim: &Value) -> Outcome {
    let meta = &params["_meta"];
    let level = meta.get("io.modelcontextprotocol/logLevel");
    if !claim.is_string() {
        return Err((-32602, Value::Null));
    }
    if claim != MODERN {
        return Err((-32022, json!({ "supported": [MODERN], "requested": claim })));
    }
    if !meta["io.modelcontextprotocol/clientCapabilities"].is_object()
        || level.is_some_and(|it| !is_level(it))
    {
        return Err((-32602, Value::Null));
    }
    let mut result = match method {
        "server/discover" => {
            json!({ "supportedVersions": [MODERN], "capabilities": capabilities() })
        }
        "subscriptions/listen" => {
            let Some(filter) = params["notifications"].as_object() else {
                return Err((-32602, Value::Null));
            };
            let granted = filter.get("toolsListChanged").cloned();
            return Ok(granted.map_or(json!({}), |it| json!({ "toolsListChanged": it })));
        }
        _ => offers(method, params)?,
    };
    result["resultType"] = json!("complete");
    result["_meta"] = json!({ "io.modelcontextprotocol/serverInfo": info() });
    if !matches!(method, "tools/call" | "prompts/get" | "completion/complete") {
        result["ttlMs"] = json!(0);
        result["cacheScope"] = json!("private");
    }
    Ok(result)
}

fn offers(method: &str, params: &Value) -> Outcome {
    let invalid = || (-32602, Value::Null);
    let is_list = method.ends_with("/list");
    if is_list && params.get("cursor").is_some_and(|cursor| cursor != "next") {
        return Err(invalid());
    }
    match method {
        "tools/list" => Ok(tools(params)),
        "resources/list" => {
            Ok(json!({ "resources": [{ "uri": "toy://a", "name": "a", "size": 1 }] }))
        }
        "resources/templates/list" => {
            Ok(json!({ "resourceTemplates": [{ "uriTemplate": "toy://{id}", "name": "one" }] }))
        }
        "prompts/list" => Ok(json!({ "prompts": [{ "name": "greet",
            "arguments": [{ "name": "who", "required": true }] }] })),
        "tools/call" => call(params),
        "resources/read" if params["uri"] == "toy://a" => {
            Ok(json!({ "contents": [{ "uri": "toy://a", "mimeType": "text/plain", "text": "a" }] }))
        }
        "prompts/get" if params["name"] == "greet" && params["arguments"]["who"].is_string() => Ok(
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "Hi" } }] }),
        ),
        "completion/complete" if params["ref"]["name"] == "greet" => {
            Ok(json!({ "completion": { "values": ["Ada"] } }))
        }
        "resources/read" | "prompts/get" | "completion/complete" => Err(invalid()),
        _ => Err((-32601, Value::Null)),
    }
}

/// Two pages of tools.
fn tools(params: &Value) -> Value {
    let schema =
        json!({ "type": "object", "properties": { "a": { "type": "number" } }, "required": ["a"] });
    let output =
        json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
    let read_only = json!({ "readOnlyHint": true });
    match params.get("cursor") {
        None => json!({ "nextCursor": "next", "tools": [
            { "name": "now", "inputSchema": { "type": "object" }, "outputSchema": output, "annotations": read_only },
        ] }),
        Some(_) => json!({ "tools": [
            { "name": "half", "inputSchema": schema, "annotations": read_only },
            { "name": "reset", "inputSchema": { "type": "object" } },
        ] }),
    }
}

fn call(params: &Value) -> Outcome {
    let arguments = params
        .get("arguments")
        .cloned()
        .unwrap_or_else(|| json!({}));
    match params["name"].as_str() {
        _ if !arguments.is_object() => Err((-32602, Value::Null)),
        Some("now") => Ok(
            json!({ "content": [{ "type": "text", "text": "{\"n\":1}" }],
            "structuredContent": { "n": 1 } }),
        ),
        Some("half") => Ok(
            json!({ "isError": true, "content": [{ "type": "text", "text": "`a` is missing" }] }),
        ),
        _ => Err((-32602, Value::Null)),
    }
}

fn count(text: &[u8], needle: &[u8]) -> usize {
    text.windows(needle.len())
        .filter(|window| *window == needle)
        .count()
}
