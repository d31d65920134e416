//! The scripted server: it reads one message at a time, and sends through an [`Out`].

mod legacy;
mod modern;
mod offers;
mod questions;
mod unusual;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::{Feature, Revision};
use pintle_runtime::sync::Mutex;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::record::{Head, Kind, Record};
use super::scene::{Play, Scene};

/// Key of the revision in the metadata of a request.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// Key of the capabilities in the metadata of a request.
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Questions of one conversation that wait for an answer.
const MAX_QUESTIONS: usize = 64;

/// A piece of the server's output.
#[derive(Debug)]
pub(crate) enum Part {
    /// A message of the server, as JSON.
    Message(Value),
    /// Text that is not a message.
    Text(String),
    /// An event with an id, a pause for reconnections and no data.
    Prime { event: String, retry: Duration },
    /// The HTTP status of an answer; elsewhere nothing.
    Status(u16),
}

/// The way to the client: a stdio stream, or the response to one HTTP request. It ends when the last clone is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Out(pub(crate) mpsc::Sender<Part>);

impl Out {
    pub(crate) async fn part(&self, part: Part) {
        // A client that is gone has no use for the part.
        let _ = self.0.send(part).await;
    }
}

/// The answer to a request.
pub(crate) enum Answer {
    Result(Value),
    Error(i64, &'static str, Value),
    /// The client gets no answer.
    Silence,
}

/// The server of one conversation.
#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) play: Play,
    pub(crate) is_http: bool,
    pub(crate) number: usize,
    record: Arc<Record>,
    timeout: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    revision: Option<Revision>,
    capabilities: Value,
    pending: HashMap<i64, oneshot::Sender<Value>>,
    questions: i64,
    is_probed: bool,
    is_padded: bool,
    drops: usize,
}

impl Actor {
    pub(crate) fn new(
        record: &Arc<Record>,
        visit: usize,
        play: Play,
        is_http: bool,
        timeout: Duration,
    ) -> Self {
        Self {
            play,
            is_http,
            number: record.begin(visit),
            record: Arc::clone(record),
            timeout,
            state: Mutex::default(),
        }
    }

    /// Records a message of the client, and serves it.
    pub(crate) async fn receive(&self, message: Value, head: Option<Head>, out: Out) {
        let parts = match &message {
            Value::Array(parts) => parts.clone(),
            _ => Vec::new(),
        };
        self.came(&message, head);
        match parts.is_empty() {
            true => self.serve(&message, &out).await,
            // Batches exist in one revision.
            false => {
                for part in parts {
                    self.came(&part, None);
                    self.serve(&part, &out).await;
                }
            }
        }
    }

    /// Records a message of the client that is not served.
    pub(crate) fn receive_unserved(&self, message: Value, head: Head) {
        self.came(&message, Some(head));
    }

    fn came(&self, message: &Value, head: Option<Head>) {
        let bytes = message.to_string().len();
        self.add(bytes, Kind::Came(message.clone(), head));
    }

    pub(crate) fn add(&self, bytes: usize, kind: Kind) {
        self.record.add(self.number, bytes, kind);
    }

    async fn serve(&self, message: &Value, out: &Out) {
        let id = message.get("id").filter(|id| !id.is_null());
        let method = message.get("method").and_then(Value::as_str);
        match (method, id) {
            (Some(method), Some(id)) => {
                let params = message.get("params").unwrap_or(&Value::Null);
                self.request(id, method, params, out).await;
            }
            (Some("notifications/initialized"), None) if !self.is_http => self.probe(out).await,
            (Some(_), None) => {}
            (None, Some(id)) => self.answered(id, message),
            (None, None) => {}
        }
    }

    fn answered(&self, id: &Value, message: &Value) {
        let pending = id
            .as_i64()
            .and_then(|id| self.state.lock().pending.remove(&id));
        if let Some(pending) = pending {
            // The question may have timed out.
            let _ = pending.send(message.clone());
        }
    }

    async fn request(&self, id: &Value, method: &str, params: &Value, out: &Out) {
        let is_modern = self.is_modern(method, params);
        let is_opening = matches!(method, "initialize" | "server/discover");
        if !is_opening && !is_modern {
            self.note_revision();
        }
        if !is_opening && self.drop_stream(id, out).await {
            return;
        }
        if !is_opening {
            self.unusual_before(out).await;
            self.probe(out).await;
        }
        let answer = match is_modern {
            true => self.modern(id, method, params, out).await,
            false => self.legacy(method, params, out).await,
        };
        self.finish(id, answer, is_modern, out).await;
    }

    /// A client that skips the handshake speaks the only revision of the server.
    fn note_revision(&self) {
        if let Some(revision) = self
            .play
            .revision
            .filter(|_| self.play.scene == Scene::Plain)
        {
            self.record.set_revision(self.number, revision);
        }
    }

    /// Returns true if a request is of a revision without a handshake.
    fn is_modern(&self, method: &str, params: &Value) -> bool {
        match self.play.revision {
            Some(revision) => revision.has(Feature::Envelope),
            None => method != "initialize" && claimed(params).is_some(),
        }
    }

    async fn finish(&self, id: &Value, answer: Answer, is_modern: bool, out: &Out) {
        let message = match answer {
            Answer::Silence => return,
            Answer::Result(mut result) => {
                self.unusual_result(&mut result);
                json!({ "jsonrpc": "2.0", "id": id, "result": result })
            }
            Answer::Error(code, text, data) => {
                if is_modern {
                    out.part(Part::Status(modern::status(code))).await;
                }
                let mut error = json!({ "code": code, "message": text });
                if !data.is_null() {
                    error["data"] = data;
                }
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        self.send(message.clone(), out).await;
        if self.play.scene == Scene::StrayAnswers {
            self.send(message, out).await;
        }
    }

    /// Records a message, and sends it.
    pub(crate) async fn send(&self, message: Value, out: &Out) {
        self.add(message.to_string().len(), Kind::Sent(message.clone()));
        out.part(Part::Message(message)).await;
    }

    /// Sends a request to the client, and waits for the answer.
    async fn ask(&self, method: &str, params: Value, out: &Out) -> Option<Value> {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut state = self.state.lock();
            if state.pending.len() >= MAX_QUESTIONS {
                return None;
            }
            state.questions += 1;
            let id = 7_000 + state.questions;
            state.pending.insert(id, sender);
            id
        };
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            request["params"] = params;
        }
        self.send(request, out).await;
        let answer = tokio::time::timeout(self.timeout, answer).await;
        self.state.lock().pending.remove(&id);
        answer.ok()?.ok()
    }
}

/// Returns the revision that the metadata of a request states.
pub(crate) fn claimed(params: &Value) -> Option<&str> {
    params.get("_meta")?.get(VERSION_KEY)?.as_str()
}
