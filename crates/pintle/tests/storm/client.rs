//! The clients of a storm. Each sends its requests to the replicas in turn.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::exchange::{Exchange, send};
use super::replica::{Replica, Replicas};

/// Attempts to deliver an answer, as those of `pintle::Client`.
const ATTEMPTS: usize = 6;
const PAUSE: Duration = Duration::from_secs(2);
/// Attempts to resume a stream.
const RESUMES: usize = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Echo,
    Ask,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    Right,
    /// An answer of another call, or of no call.
    Wrong(String),
    /// The answer is an error.
    Error(String),
    /// A response without a result.
    Status(u16),
    /// The response ended without an answer.
    Cut,
    /// The replica of the call was killed.
    Killed,
    /// No answer arrived in time.
    Hung,
    /// No replica accepted the answer to the question of the call.
    NotAccepted,
    /// The client lost its connection before the first event with an id, or in a call of 2026-07-28.
    Left,
}

/// A request, and the replica that it was sent to.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) replica: Arc<Replica>,
    pub(super) from: Instant,
    pub(super) to: Instant,
    /// The status of an answer to a question. `None` if the replica was killed.
    pub(super) status: Option<u16>,
}

/// The requests of a call.
#[derive(Default, Clone)]
pub(super) struct Trace {
    /// Begins with the one that has the call.
    pub(super) calls: Vec<Sent>,
    /// The answers to its questions.
    pub(super) answers: Vec<Sent>,
    /// The last event that the client has acted on.
    event: Option<String>,
}

/// One call of a client.
pub(super) struct Call {
    pub(super) session: Option<Arc<Session>>,
    pub(super) tool: Tool,
    pub(super) key: String,
    /// The client loses its connection after this time.
    pub(super) cut: Option<Duration>,
    pub(super) trace: Mutex<Trace>,
}

/// A session of 2025-11-25.
pub(super) struct Session {
    id: String,
    /// When the client sent DELETE.
    pub(super) end_sent: OnceLock<Instant>,
}

impl Session {
    /// Opens a session. `None` if a fault prevents it.
    pub(super) async fn open(replicas: &Replicas) -> Option<Self> {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "t", "version": "1" } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let opened = send(&replicas.next(), "POST", &[], &message.to_string()).await;
        Some(Self {
            id: opened.ok()?.session?,
            end_sent: OnceLock::new(),
        })
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [
            ("mcp-session-id", &self.id),
            ("mcp-protocol-version", "2025-11-25"),
        ]
    }

    /// Ends the session. Returns true if a replica accepted it.
    pub(super) async fn end(&self, replicas: &Replicas) -> bool {
        let _ = self.end_sent.set(Instant::now());
        let ended = send(&replicas.next(), "DELETE", &self.headers(), "").await;
        ended.is_ok_and(|exchange| exchange.status == 200)
    }

    /// Sends a call that asks, and returns its response.
    pub(super) async fn ask(&self, replica: &Arc<Replica>) -> Exchange {
        let message = request(Tool::Ask, "asking", json!({}));
        let sent = send(replica, "POST", &self.headers(), &message.to_string()).await;
        sent.expect("the replica runs")
    }

    /// Returns the status of an attempt to resume a stream.
    pub(super) async fn resume_at(&self, replica: &Arc<Replica>, event: &str) -> Option<u16> {
        let [id, version] = self.headers();
        let headers = [id, version, ("last-event-id", event)];
        let sent = send(replica, "GET", &headers, "").await;
        sent.ok().map(|exchange| exchange.status)
    }

    /// Returns the status of a call at one replica.
    pub(super) async fn status_at(&self, replica: &Arc<Replica>) -> Option<u16> {
        let message = request(Tool::Echo, "last", json!({}));
        let sent = send(replica, "POST", &self.headers(), &message.to_string()).await;
        sent.ok().map(|exchange| exchange.status)
    }
}

impl Call {
    /// Sends the call, and returns how it ended.
    pub(super) async fn run(&self, replicas: &Replicas) -> Ended {
        let ended = match &self.session {
            Some(session) => self.in_session(replicas, session).await,
            None => self
                .cut(self.alone(replicas))
                .await
                .unwrap_or(Err(Ended::Left)),
        };
        ended.unwrap_or_else(|ended| ended)
    }

    async fn cut<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        match self.cut {
            Some(span) => timeout(span, work).await.ok(),
            None => Some(work.await),
        }
    }

    fn trace<T>(&self, read: impl FnOnce(&mut Trace) -> T) -> T {
        read(&mut self.trace.lock().expect("no panic"))
    }

    /// Sends a request of this call to the next replica.
    async fn post(
        &self,
        replicas: &Replicas,
        headers: &[(&str, &str)],
        message: &Value,
    ) -> Result<Exchange, Ended> {
        let (replica, from) = (replicas.next(), Instant::now());
        self.trace(|trace| trace.calls.push(sent(&replica, from, None)));
        send(&replica, "POST", headers, &message.to_string()).await
    }

    async fn in_session(&self, replicas: &Replicas, session: &Session) -> Result<Ended, Ended> {
        let called = async {
            let message = request(self.tool, &self.key, json!({}));
            let exchange = self.post(replicas, &session.headers(), &message).await?;
            self.read(replicas, session, exchange).await
        };
        let mut ended = self.cut(called).await.unwrap_or(Err(Ended::Left));
        for _ in 0..RESUMES {
            match self.trace(|trace| trace.event.clone()) {
                Some(event) if is_interrupted(&ended) => {
                    ended = self.resume(replicas, session, &event).await;
                }
                _ => return ended,
            }
            if is_interrupted(&ended) {
                sleep(PAUSE).await;
            }
        }
        ended
    }

    /// Continues after a lost connection, at the next replica.
    async fn resume(
        &self,
        replicas: &Replicas,
        session: &Session,
        event: &str,
    ) -> Result<Ended, Ended> {
        let [id, version] = session.headers();
        let headers = [id, version, ("last-event-id", event)];
        let (replica, from) = (replicas.next(), Instant::now());
        self.trace(|trace| trace.calls.push(sent(&replica, from, None)));
        let exchange = send(&replica, "GET", &headers, "").await?;
        self.read(replicas, session, exchange).await
    }

    async fn read(
        &self,
        replicas: &Replicas,
        session: &Session,
        mut exchange: Exchange,
    ) -> Result<Ended, Ended> {
        loop {
            let message = exchange.message(replicas).await?;
            if message["method"] == "elicitation/create" {
                self.answer(replicas, session, &message["id"]).await?;
            } else if message.get("method").is_none() {
                return Ok(self.judge(&message));
            }
            self.trace(|trace| trace.event = exchange.event.clone());
        }
    }

    /// Delivers the answer to a question, at any replica.
    async fn answer(
        &self,
        replicas: &Replicas,
        session: &Session,
        question: &Value,
    ) -> Result<(), Ended> {
        let content = json!({ "action": "accept", "content": { "word": "yes" } });
        let message = json!({ "jsonrpc": "2.0", "id": question, "result": content }).to_string();
        for _ in 0..ATTEMPTS {
            let (replica, from) = (replicas.next(), Instant::now());
            let status = match replicas.dropped.drops(replicas.plant) {
                true => Some(202),
                false => {
                    let response = send(&replica, "POST", &session.headers(), &message).await;
                    response.ok().map(|exchange| exchange.status)
                }
            };
            self.trace(|trace| trace.answers.push(sent(&replica, from, status)));
            match status {
                Some(202) => return Ok(()),
                Some(503) | None => sleep(PAUSE).await,
                Some(status) => return Err(Ended::Status(status)),
            }
        }
        Err(Ended::NotAccepted)
    }

    /// Calls a tool as a client of 2026-07-28 does. The retry with the answer goes to the next replica.
    async fn alone(&self, replicas: &Replicas) -> Result<Ended, Ended> {
        let asked = self.exchange(replicas, json!({})).await?;
        let Some(questions) = asked["result"]["inputRequests"].as_object() else {
            return Ok(self.judge(&asked));
        };
        let name = questions.keys().next().expect("a question");
        let answer = json!({ "action": "accept", "content": { "word": "yes" } });
        let retry = json!({ "inputResponses": { name: answer },
            "requestState": asked["result"]["requestState"] });
        let answered = self.exchange(replicas, retry).await?;
        Ok(self.judge(&answered))
    }

    async fn exchange(&self, replicas: &Replicas, more: Value) -> Result<Value, Ended> {
        let mut message = request(self.tool, &self.key, more);
        message["params"]["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", name(self.tool)),
        ];
        let mut exchange = self.post(replicas, &headers, &message).await?;
        exchange.message(replicas).await
    }

    fn judge(&self, answer: &Value) -> Ended {
        let right = match self.tool {
            Tool::Echo => self.key.clone(),
            Tool::Ask => format!("{} yes", self.key),
        };
        let text = &answer["result"]["content"][0]["text"];
        let is_own = answer["id"] == json!(self.key);
        let is_error = answer["result"]["isError"] == json!(true) || answer.get("error").is_some();
        match is_own && *text == json!(right) {
            true => Ended::Right,
            false if is_own && is_error => Ended::Error(answer.to_string()),
            false => Ended::Wrong(answer.to_string()),
        }
    }
}

/// Returns true if the client lost its connection, or can try again.
fn is_interrupted(ended: &Result<Ended, Ended>) -> bool {
    let ended = ended.as_ref().unwrap_or_else(|ended| ended);
    let is_cut = matches!(ended, Ended::Left | Ended::Killed | Ended::Cut);
    is_cut || *ended == Ended::Status(503)
}

fn sent(replica: &Arc<Replica>, from: Instant, status: Option<u16>) -> Sent {
    Sent {
        replica: Arc::clone(replica),
        from,
        to: Instant::now(),
        status,
    }
}

fn name(tool: Tool) -> &'static str {
    match tool {
        Tool::Echo => "echo",
        Tool::Ask => "ask",
    }
}

fn request(tool: Tool, key: &str, more: Value) -> Value {
    let mut params = more;
    params["name"] = json!(name(tool));
    params["arguments"] = json!({ "key": key });
    json!({ "jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params })
}
