//! A server that says whatever a test wants, to a real client.
//!
//! It hears every message of the client as JSON and says anything at all: good answers, answers to
//! nothing, bytes that are no message, nothing. It is a [`Connect`], so it stands where a child
//! process or a URL would, and says which of the two it resembles.
//!
//! ```
//! use pintle_proto::Loss;
//! use pintle_testkit::Hostile;
//! use serde_json::json;
//!
//! // A modern server whose list of tools never ends.
//! let endless = Hostile::modern(|mouth, said| {
//!     mouth.reply(said, json!({ "resultType": "complete", "tools": [], "nextCursor": "again" }));
//! });
//! // A legacy server that hangs up at the first call.
//! let rude = Hostile::legacy(|mouth, _| mouth.lose_all(Loss::Disconnected));
//! # drop((endless, rude));
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle_model::Revision;
use pintle_proto::lifecycle::Binding;
use pintle_proto::{CallId, Kind, Loss, TransportError};
use pintle_runtime::{Connect, Outgoing, Transport, Wire};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

type Script = Arc<dyn Fn(&mut Mouth, &Value) + Send + Sync>;

/// A server of a test's making. Clones are the same server.
#[derive(Clone)]
pub struct Hostile {
    script: Script,
    binding: Binding,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    conversations: usize,
    messages: Vec<Value>,
    given_up: usize,
}

/// What the server says next.
#[derive(Debug, Default)]
pub struct Mouth {
    says: Vec<(Duration, Say)>,
}

#[derive(Debug)]
enum Say {
    Text(Vec<u8>),
    Lose(Value, TransportError),
    LoseAll(TransportError),
}

impl Hostile {
    /// A server that says what `script` makes of each message of the client, the opening included.
    pub fn new(script: impl Fn(&mut Mouth, &Value) + Send + Sync + 'static) -> Self {
        Self {
            script: Arc::new(script),
            binding: Binding::Pipe,
            heard: Arc::default(),
        }
    }

    /// As [`Hostile::new`], but well behaved until it has been discovered; it offers everything.
    pub fn modern(script: impl Fn(&mut Mouth, &Value) + Send + Sync + 'static) -> Self {
        Self::new(move |mouth, said| {
            if said["method"] == "server/discover" {
                let dates: Vec<_> = Revision::modern().map(Revision::as_str).collect();
                let found = json!({ "resultType": "complete", "supportedVersions": dates, "capabilities": offers() });
                return mouth.reply(said, found);
            }
            script(mouth, said);
        })
    }

    /// As [`Hostile::new`], but well behaved until hands have been shaken; it offers everything.
    pub fn legacy(script: impl Fn(&mut Mouth, &Value) + Send + Sync + 'static) -> Self {
        Self::new(move |mouth, said| match said["method"].as_str() {
            Some("server/discover") => mouth.fail(said, -32601, "method not found"),
            Some("initialize") => {
                let version = said["params"]["protocolVersion"].clone();
                let server = json!({ "name": "hostile", "version": "1.0.0" });
                mouth.reply(said, json!({ "protocolVersion": version, "capabilities": offers(), "serverInfo": server }));
            }
            Some("notifications/initialized") => {}
            _ => script(mouth, said),
        })
    }

    /// Resembles a server over HTTP, as far as a client can tell.
    #[must_use]
    pub fn over_http(mut self) -> Self {
        self.binding = Binding::Http;
        self
    }

    /// How many conversations were opened.
    pub fn conversations(&self) -> usize {
        self.lock().conversations
    }

    /// Everything that the client said, in order.
    pub fn heard(&self) -> Vec<Value> {
        self.lock().messages.clone()
    }

    /// How often the client said a message of this method.
    pub fn count(&self, method: &str) -> usize {
        let heard = self.lock();
        let said = heard.messages.iter();
        said.filter(|said| said["method"] == method).count()
    }

    /// How many calls the client gave up.
    pub fn given_up(&self) -> usize {
        self.lock().given_up
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, outgoing: &Outgoing) -> (Value, Mouth) {
        let mut mouth = Mouth::default();
        let mut heard = self.lock();
        heard.given_up += usize::from(matches!(outgoing.kind, Kind::Cancel(_)));
        if outgoing.frame.is_empty() {
            return (Value::Null, mouth);
        }
        let said: Value = serde_json::from_slice(&outgoing.frame.to_vec()).unwrap_or_default();
        heard.messages.push(said.clone());
        drop(heard);
        (self.script)(&mut mouth, &said);
        (said, mouth)
    }
}

/// Capabilities of a server that offers everything.
fn offers() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "logging": {},
    })
}

impl Mouth {
    /// Says a message.
    pub fn say(&mut self, message: Value) {
        self.say_text(message.to_string());
    }

    /// Says a message later.
    pub fn say_after(&mut self, wait: Duration, message: Value) {
        let text = message.to_string().into_bytes();
        self.says.push((wait, Say::Text(text)));
    }

    /// Says anything.
    pub fn say_text(&mut self, text: impl Into<Vec<u8>>) {
        self.says.push((Duration::ZERO, Say::Text(text.into())));
    }

    /// Answers a request with a result.
    pub fn reply(&mut self, said: &Value, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": said["id"], "result": result }));
    }

    /// Answers a request with an error.
    pub fn fail(&mut self, said: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.say(json!({ "jsonrpc": "2.0", "id": said["id"], "error": error }));
    }

    /// Says a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.say(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Loses one call, as a transport does.
    pub fn lose(&mut self, said: &Value, loss: Loss) {
        let say = Say::Lose(said["id"].clone(), loss.into());
        self.says.push((Duration::ZERO, say));
    }

    /// Ends the conversation.
    pub fn lose_all(&mut self, loss: Loss) {
        self.says.push((Duration::ZERO, Say::LoseAll(loss.into())));
    }
}

impl Connect for Hostile {
    type Transport = HostileTransport;

    async fn connect(&self) -> Result<HostileTransport, TransportError> {
        self.lock().conversations += 1;
        Ok(HostileTransport(self.clone()))
    }

    fn binding(&self) -> Binding {
        self.binding
    }
}

/// One conversation with a [`Hostile`].
#[derive(Debug)]
pub struct HostileTransport(Hostile);

impl Transport for HostileTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        // In the order in which they are due, and then in which they were thought of.
        let mut later: BTreeMap<(Instant, u64), Say> = BTreeMap::new();
        let mut calls = BTreeMap::new();
        let mut thought = 0;
        loop {
            let due = later.keys().next().map(|(due, _)| *due);
            tokio::select! {
                biased;
                () = until(due) => {
                    if let Some((_, say)) = later.pop_first() {
                        speak(&wire, &calls, say)?;
                    }
                }
                outgoing = wire.next() => {
                    let Some(outgoing) = outgoing else { return Ok(()) };
                    let (said, mouth) = self.0.hear(&outgoing);
                    if let Kind::Call(call) = outgoing.kind {
                        calls.insert(said["id"].to_string(), call);
                    }
                    for (wait, say) in mouth.says {
                        thought += 1;
                        later.insert((Instant::now() + wait, thought), say);
                    }
                }
            }
        }
    }
}

fn speak(wire: &Wire, calls: &BTreeMap<String, CallId>, say: Say) -> Result<(), TransportError> {
    match say {
        Say::Text(text) => wire.receive(&text),
        Say::Lose(id, error) => {
            if let Some(call) = calls.get(&id.to_string()) {
                wire.lose(*call, error);
            }
        }
        Say::LoseAll(error) => return Err(error),
    }
    Ok(())
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}

impl fmt::Debug for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hostile")
            .field("binding", &self.binding)
            .finish_non_exhaustive()
    }
}
