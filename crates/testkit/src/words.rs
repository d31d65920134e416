//! Messages of peers as JSON, written by hand because a test must not trust the types it tests.

use pintle_model::{Feature, Implementation, Revision, ServerCapabilities};
use pintle_proto::ServerProfile;
use serde_json::{Value, json};

/// A server that declares everything.
///
/// # Panics
///
/// Never, because the capabilities are written out here.
pub fn everything() -> ServerProfile {
    let capabilities: ServerCapabilities = serde_json::from_value(json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "logging": {},
    }))
    .expect("capabilities are well formed");
    ServerProfile::new(Implementation::new("testkit", "1.0.0"), capabilities)
}

/// The `_meta` members with which a request states its own terms.
pub fn envelope(revision: Revision) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision.as_str(),
        "io.modelcontextprotocol/clientInfo": { "name": "testkit", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// `params` as a client of `revision` sends them: with an envelope where the revision has one.
/// Members that `params` has in `_meta` are preserved.
pub fn with_envelope(revision: Revision, params: Value) -> Value {
    if !revision.has(Feature::Envelope) {
        return params;
    }
    let mut params = if params.is_object() {
        params
    } else {
        json!({})
    };
    let mut meta = envelope(revision);
    let own = params["_meta"].take();
    for (key, value) in own.as_object().into_iter().flatten() {
        meta[key] = value.clone();
    }
    params["_meta"] = meta;
    params
}

/// A request; without `params` when they are null.
pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    let mut request = json!({ "jsonrpc": "2.0", "id": id.into(), "method": method });
    if !params.is_null() {
        request["params"] = params;
    }
    request
}

/// An `initialize` request that offers `date`.
pub fn initialize(id: impl Into<Value>, date: &str) -> Value {
    let client = json!({ "name": "testkit", "version": "1.0.0" });
    let params = json!({ "protocolVersion": date, "capabilities": {}, "clientInfo": client });
    request(id, "initialize", params)
}
