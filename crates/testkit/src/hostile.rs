//! A server that sends any message that a test scripts, to a real client.
//!
//! The server receives every message of the client as JSON. It can send valid answers, answers to
//! unknown requests, bytes that are not a message, or nothing. It is a [`Connect`], so it replaces a
//! child process or a URL, and the test chooses which of the two it resembles.
//!
//! Three ways lead to the same server:
//!
//! | way | tested part |
//! |---|---|
//! | [`HostileServer`] itself | the client above its transports; the test scripts each loss |
//! | [`HostileServer::over_pipe`], [`HostileServer::pipe`] | lines: messages as framed bytes |
//! | `HostileServer::origin` (feature `http`) | HTTP: answers are bodies and event streams |
//!
//! The last two need nothing of this workspace at the client's end. A pipe is any stream of bytes,
//! and the HTTP server can listen on a port.
//!
//! ```
//! use pintle_proto::TransportErrorKind;
//! use pintle_testkit::HostileServer;
//! use serde_json::json;
//!
//! // A modern server whose list of tools never ends.
//! let endless = HostileServer::modern(|out, message| {
//!     out.reply(message, json!({ "resultType": "complete", "tools": [], "nextCursor": "again" }));
//! });
//! // A legacy server that hangs up at the first call.
//! let rude = HostileServer::legacy(|out, _| out.lose_all(TransportErrorKind::Disconnected));
//! # drop((endless, rude));
//! ```
//!
//! A test of a client on a paused clock. The client gives up a silent server and sends a cancellation.
//!
//! ```
//! use std::time::Duration;
//!
//! use pintle_client::{CallError, Client};
//! use pintle_testkit::HostileServer;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let silent = HostileServer::modern(|_, _| {});
//! let client = Client::connect(silent.over_pipe()).await?;
//!
//! let call = client.call_tool("slow", ()).timeout(Duration::from_secs(5));
//! let error = call.await.expect_err("no answer arrives");
//!
//! assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
//! client.close().await;
//! assert_eq!(silent.count("notifications/cancelled"), 1);
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "http")]
mod origin;
mod pipe;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::Revision;
use pintle_proto::lifecycle::Binding;
use pintle_proto::{CallId, TransmitKind, TransportError, TransportErrorKind};
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{Connect, Outgoing, Transport, Wire};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

pub use pipe::HostilePipe;

type Script = Arc<dyn Fn(&mut HostileReply, &Value) + Send + Sync>;

/// A server with a script. Clones are the same server.
#[derive(Clone)]
pub struct HostileServer {
    script: Script,
    binding: Binding,
    received: Arc<Mutex<Received>>,
}

#[derive(Default)]
struct Received {
    conversations: usize,
    messages: Vec<Value>,
    given_up: usize,
}

/// The messages and losses that the server produces next.
#[derive(Debug, Default)]
pub struct HostileReply {
    outputs: Vec<(Duration, Output)>,
}

#[derive(Debug)]
enum Output {
    /// A message, or bytes that are sent instead of one.
    Text(Vec<u8>),
    /// A piece of a stream of bytes, unframed.
    Raw(Vec<u8>),
    Lose(Value, TransportError),
    LoseAll(TransportError),
}

impl HostileServer {
    /// A server whose `script` answers each message of the client, the opening included.
    pub fn new(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            binding: Binding::Pipe,
            received: Arc::default(),
        }
    }

    /// As [`HostileServer::new`], but the server answers `server/discover` and declares everything.
    pub fn modern(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> Self {
        Self::new(move |out, incoming| {
            if incoming["method"] == "server/discover" {
                let dates: Vec<_> = Revision::modern().map(Revision::as_str).collect();
                let found = json!({ "resultType": "complete", "supportedVersions": dates, "capabilities": offers() });
                return out.reply(incoming, found);
            }
            script(out, incoming);
        })
    }

    /// As [`HostileServer::new`], but the server performs the handshake and declares everything.
    pub fn legacy(script: impl Fn(&mut HostileReply, &Value) + Send + Sync + 'static) -> Self {
        Self::new(move |out, incoming| match incoming["method"].as_str() {
            Some("server/discover") => out.fail(incoming, -32601, "method not found"),
            Some("initialize") => {
                let version = incoming["params"]["protocolVersion"].clone();
                let server = json!({ "name": "hostile", "version": "1.0.0" });
                out.reply(incoming, json!({ "protocolVersion": version, "capabilities": offers(), "serverInfo": server }));
            }
            Some("notifications/initialized") => {}
            _ => script(out, incoming),
        })
    }

    /// Resembles a server over HTTP, for all that a client can observe.
    #[must_use]
    pub fn over_http(mut self) -> Self {
        self.binding = Binding::Http;
        self
    }

    /// The number of conversations that were opened.
    pub fn conversations(&self) -> usize {
        self.lock().conversations
    }

    /// Every message of the client, in order.
    pub fn received(&self) -> Vec<Value> {
        self.lock().messages.clone()
    }

    /// The number of messages of this method that the client sent.
    pub fn count(&self, method: &str) -> usize {
        let received = self.lock();
        let incoming = received.messages.iter();
        incoming
            .filter(|incoming| incoming["method"] == method)
            .count()
    }

    /// The number of calls that the client gave up.
    pub fn given_up(&self) -> usize {
        self.lock().given_up
    }

    fn lock(&self) -> MutexGuard<'_, Received> {
        self.received.lock()
    }

    fn receive(&self, outgoing: &Outgoing) -> (Value, HostileReply) {
        let mut received = self.lock();
        received.given_up += usize::from(matches!(outgoing.kind, TransmitKind::Cancel(_)));
        if outgoing.frame.is_empty() {
            return (Value::Null, HostileReply::default());
        }
        drop(received);
        let incoming = serde_json::from_slice(&outgoing.frame.to_vec()).unwrap_or_default();
        let out = self.receive_message(&incoming);
        (incoming, out)
    }

    fn receive_message(&self, incoming: &Value) -> HostileReply {
        let mut out = HostileReply::default();
        self.lock().messages.push(incoming.clone());
        (self.script)(&mut out, incoming);
        out
    }
}

/// The capabilities of a server that declares everything.
fn offers() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "logging": {},
    })
}

impl HostileReply {
    /// Sends a message.
    pub fn send(&mut self, message: Value) {
        self.send_text(message.to_string());
    }

    /// Sends a message after `wait`.
    pub fn send_after(&mut self, wait: Duration, message: Value) {
        let text = message.to_string().into_bytes();
        self.outputs.push((wait, Output::Text(text)));
    }

    /// Sends `text` as one message, valid or not.
    pub fn send_text(&mut self, text: impl Into<Vec<u8>>) {
        self.outputs
            .push((Duration::ZERO, Output::Text(text.into())));
    }

    /// Sends a piece of a message as bytes without framing: half a line on a pipe, half an event over
    /// HTTP. Without either transport the client receives the bytes as a message.
    pub fn send_raw(&mut self, bytes: impl Into<Vec<u8>>) {
        self.outputs
            .push((Duration::ZERO, Output::Raw(bytes.into())));
    }

    /// Sends a piece of a message after `wait`.
    pub fn send_raw_after(&mut self, wait: Duration, bytes: impl Into<Vec<u8>>) {
        self.outputs.push((wait, Output::Raw(bytes.into())));
    }

    /// Answers a request with a result.
    pub fn reply(&mut self, incoming: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": incoming["id"], "result": result }));
    }

    /// Answers a request with an error.
    pub fn fail(&mut self, incoming: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.send(json!({ "jsonrpc": "2.0", "id": incoming["id"], "error": error }));
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Loses one call, as a transport does. On a pipe this loses everything; over HTTP it cuts the
    /// connection of the call.
    pub fn lose(&mut self, incoming: &Value, loss: TransportErrorKind) {
        let output = Output::Lose(incoming["id"].clone(), loss.into());
        self.outputs.push((Duration::ZERO, output));
    }

    /// Ends the conversation.
    pub fn lose_all(&mut self, loss: TransportErrorKind) {
        self.outputs
            .push((Duration::ZERO, Output::LoseAll(loss.into())));
    }
}

impl Connect for HostileServer {
    type Transport = HostileTransport;

    async fn connect(&self) -> Result<HostileTransport, TransportError> {
        self.lock().conversations += 1;
        Ok(HostileTransport(self.clone()))
    }

    fn binding(&self) -> Binding {
        self.binding
    }
}

/// One conversation with a [`HostileServer`].
#[derive(Debug)]
pub struct HostileTransport(HostileServer);

impl Transport for HostileTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let mut later = Later::default();
        let mut calls = BTreeMap::new();
        loop {
            tokio::select! {
                biased;
                output = later.next() => speak(&wire, &calls, output)?,
                outgoing = wire.next() => {
                    let Some(outgoing) = outgoing else { return Ok(()) };
                    let (incoming, out) = self.0.receive(&outgoing);
                    if let TransmitKind::Call(call) = outgoing.kind {
                        calls.insert(incoming["id"].to_string(), call);
                    }
                    later.add(out);
                }
            }
        }
    }
}

fn speak(
    wire: &Wire,
    calls: &BTreeMap<String, CallId>,
    output: Output,
) -> Result<(), TransportError> {
    match output {
        Output::Text(text) | Output::Raw(text) => wire.receive(&text),
        Output::Lose(id, error) => {
            if let Some(call) = calls.get(&id.to_string()) {
                wire.lose(*call, error);
            }
        }
        Output::LoseAll(error) => return Err(error),
    }
    Ok(())
}

/// The messages that are not sent yet, in the order of their due time and then of insertion.
#[derive(Debug, Default)]
struct Later {
    outputs: BTreeMap<(Instant, u64), Output>,
    sequence: u64,
}

impl Later {
    fn add(&mut self, out: HostileReply) {
        for (wait, output) in out.outputs {
            self.sequence += 1;
            self.outputs
                .insert((Instant::now() + wait, self.sequence), output);
        }
    }

    /// Waits until a message is due. Cancel safe: a message that is not returned stays.
    async fn next(&mut self) -> Output {
        match self.outputs.keys().next() {
            Some((due, _)) => sleep_until(*due).await,
            None => std::future::pending().await,
        }
        let (_, output) = self.outputs.pop_first().expect("the first is due");
        output
    }
}

impl fmt::Debug for HostileServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostileServer")
            .field("binding", &self.binding)
            .finish_non_exhaustive()
    }
}
