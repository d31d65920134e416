//! The clients of a storm. Each sends its requests to the replicas in turn.

use std::sync::Arc;
use std::time::Duration;

use http::Request;
use http_body_util::BodyExt as _;
use pintle::http::ResponseBody;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::replica::{Replica, Replicas};

/// Attempts to deliver an answer, as those of `pintle::Client`.
const ATTEMPTS: usize = 6;
const PAUSE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Echo,
    Ask,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    Right,
    Wrong(String),
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
}

/// A response that is being read.
struct Exchange {
    replica: Arc<Replica>,
    status: u16,
    session: Option<String>,
    body: ResponseBody,
    text: String,
}

async fn post(
    replicas: &Replicas,
    headers: &[(&str, &str)],
    message: &Value,
) -> Result<Exchange, Ended> {
    send(&replicas.next(), "POST", headers, &message.to_string()).await
}

/// Sends a request to a replica.
async fn send(
    replica: &Arc<Replica>,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Result<Exchange, Ended> {
    let mut request = Request::builder()
        .method(method)
        .uri("http://localhost/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.to_owned()).expect("a request");
    let response = replica.send(request).await.ok_or(Ended::Killed)?;
    let session = response.headers().get("mcp-session-id");
    Ok(Exchange {
        replica: Arc::clone(replica),
        status: response.status().as_u16(),
        session: session.map(|id| id.to_str().expect("visible").to_owned()),
        body: response.into_body(),
        text: String::new(),
    })
}

impl Exchange {
    /// Reads the next message: an event of a stream, or the JSON body.
    async fn message(&mut self) -> Result<Value, Ended> {
        if self.status != 200 {
            return Err(Ended::Status(self.status));
        }
        loop {
            if let Some((line, rest)) = self.text.split_once('\n') {
                let data = line.strip_prefix("data: ").unwrap_or_default().to_owned();
                self.text = rest.to_owned();
                if !data.is_empty() {
                    return Ok(serde_json::from_str(&data).expect("JSON"));
                }
                continue;
            }
            let frame = self.replica.unless_killed(self.body.frame()).await;
            match frame.ok_or(Ended::Killed)? {
                Some(frame) => {
                    let data = frame.expect("never fails").into_data().expect("data");
                    self.text += std::str::from_utf8(&data).expect("text");
                    if self.text.starts_with('{') {
                        let text = std::mem::take(&mut self.text);
                        return Ok(serde_json::from_str(&text).expect("one body"));
                    }
                }
                None => return Err(Ended::Cut),
            }
        }
    }
}

/// A session of 2025-11-25.
pub(super) struct Session(String);

impl Session {
    /// Opens a session. `None` if a fault prevents it.
    pub(super) async fn open(replicas: &Replicas) -> Option<Self> {
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "t", "version": "1" } });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let opened = post(replicas, &[], &message).await.ok()?;
        opened.session.map(Self)
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [
            ("mcp-session-id", &self.0),
            ("mcp-protocol-version", "2025-11-25"),
        ]
    }

    pub(super) async fn call(&self, replicas: &Replicas, tool: Tool, key: &str) -> Ended {
        self.try_call(replicas, tool, key)
            .await
            .unwrap_or_else(|ended| ended)
    }

    async fn try_call(&self, replicas: &Replicas, tool: Tool, key: &str) -> Result<Ended, Ended> {
        let message = call(tool, key, json!({}));
        let mut exchange = post(replicas, &self.headers(), &message).await?;
        loop {
            let message = exchange.message().await?;
            if message["method"] == "elicitation/create" {
                self.answer(replicas, &message["id"]).await?;
            } else if message.get("method").is_none() {
                return Ok(judge(&message, tool, key));
            }
        }
    }

    /// Delivers the answer to a question, at any replica.
    async fn answer(&self, replicas: &Replicas, question: &Value) -> Result<(), Ended> {
        let content = json!({ "action": "accept", "content": { "word": "yes" } });
        let message = json!({ "jsonrpc": "2.0", "id": question, "result": content });
        for _ in 0..ATTEMPTS {
            let sent = post(replicas, &self.headers(), &message).await;
            match sent.map(|exchange| exchange.status) {
                Ok(202) => return Ok(()),
                Ok(503) | Err(_) => sleep(PAUSE).await,
                Ok(status) => return Err(Ended::Status(status)),
            }
        }
        Err(Ended::NotAccepted)
    }

    /// Ends the session. Returns true if a replica accepted it.
    pub(super) async fn end(&self, replicas: &Replicas) -> bool {
        let ended = send(&replicas.next(), "DELETE", &self.headers(), "").await;
        ended.is_ok_and(|exchange| exchange.status == 200)
    }

    /// Returns the status of a call at one replica.
    pub(super) async fn status_at(&self, replica: &Arc<Replica>) -> Option<u16> {
        let message = call(Tool::Echo, "last", json!({}));
        let sent = send(replica, "POST", &self.headers(), &message.to_string()).await;
        sent.ok().map(|exchange| exchange.status)
    }
}

/// Calls a tool as a client of 2026-07-28 does. The retry with the answer goes to the next replica.
pub(super) async fn call_alone(replicas: &Replicas, tool: Tool, key: &str) -> Ended {
    let called = async {
        let asked = exchange_alone(replicas, &call(tool, key, json!({})), tool).await?;
        let Some(questions) = asked["result"]["inputRequests"].as_object() else {
            return Ok(judge(&asked, tool, key));
        };
        let name = questions.keys().next().expect("a question");
        let answer = json!({ "action": "accept", "content": { "word": "yes" } });
        let retry = json!({ "inputResponses": { name: answer },
            "requestState": asked["result"]["requestState"] });
        let answered = exchange_alone(replicas, &call(tool, key, retry), tool).await?;
        Ok(judge(&answered, tool, key))
    };
    called.await.unwrap_or_else(|ended: Ended| ended)
}

async fn exchange_alone(replicas: &Replicas, message: &Value, tool: Tool) -> Result<Value, Ended> {
    let mut message = message.clone();
    message["params"]["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", name(tool)),
    ];
    post(replicas, &headers, &message).await?.message().await
}

fn name(tool: Tool) -> &'static str {
    match tool {
        Tool::Echo => "echo",
        Tool::Ask => "ask",
    }
}

fn call(tool: Tool, key: &str, more: Value) -> Value {
    let mut params = more;
    params["name"] = json!(name(tool));
    params["arguments"] = json!({ "key": key });
    json!({ "jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params })
}

fn judge(answer: &Value, tool: Tool, key: &str) -> Ended {
    let right = match tool {
        Tool::Echo => key.to_owned(),
        Tool::Ask => format!("{key} yes"),
    };
    let text = &answer["result"]["content"][0]["text"];
    match text == &json!(right) && answer["id"] == json!(key) {
        true => Ended::Right,
        false => Ended::Wrong(answer.to_string()),
    }
}
