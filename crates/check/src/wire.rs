//! A connection that sends any bytes, and reads what the server sends.

mod http;
mod pipe;
mod reply;

use std::time::Duration;

use ::http::{HeaderName, HeaderValue, Method};
use pintle_runtime::BoxFuture;
use serde_json::Value;

pub(crate) use self::http::{HttpWire, media_type};
pub(crate) use pipe::PipeWire;
pub(crate) use reply::{End, Reply, is_response};

/// Bytes to send, with the head of their HTTP request. A pipe sends the bytes alone.
#[derive(Debug, Clone)]
pub(crate) struct Sending {
    pub(crate) method: Method,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
    /// How long the reply may take.
    pub(crate) timeout: Duration,
}

/// How much of the reply is awaited.
#[derive(Debug, Clone)]
pub(crate) enum Wait {
    /// The response with this id.
    Answer(Value),
    /// This number of messages.
    Messages(usize),
    /// On HTTP the head and the body of the response; on a pipe nothing.
    Response,
}

/// A connection without rules: it sends and reads anything.
pub(crate) trait Wire: Send + Sync {
    /// Sends bytes, and reads until `wait` is satisfied, the server ends, or the time is over.
    fn exchange(&mut self, sending: Sending, wait: Wait) -> BoxFuture<'_, Reply>;

    /// Ends the conversation. Returns false if the server did not end in time.
    fn close(self: Box<Self>) -> BoxFuture<'static, bool>;
}

/// Returns the answer of a client without capabilities to a request of the server.
fn answer_of_client(message: &Value) -> Option<Value> {
    let method = message.get("method")?.as_str()?;
    let id = message.get("id")?;
    Some(match method {
        "ping" => serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
        _ => serde_json::json!({ "jsonrpc": "2.0", "id": id,
            "error": { "code": -32601, "message": "method not found" } }),
    })
}

/// Returns true if a message is a request of the server.
pub(crate) fn is_server_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some_and(|id| !id.is_null())
}
