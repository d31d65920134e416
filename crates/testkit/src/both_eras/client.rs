//! A client of one revision on a pipe in memory: it makes one request and answers the questions.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle_model::method::{Initialize, Initialized, Method, Notice};
use pintle_model::{
    Feature, Fit, Implementation, InitializeParams, InputRequest, InputRequests, InputResponse,
    Revision,
};
use pintle_runtime::{PipeOptions, Service, serve_pipe};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

use super::{DisagreementError, Scenario, SideEffects};
use crate::words;

/// Bytes that each direction of the pipe buffers.
const PIPE_BYTES: usize = 1 << 16;

/// The transcript of the request in one revision.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) revision: Revision,
    /// The questions with their answers, in order.
    pub(crate) asked: Vec<(InputRequest, InputResponse)>,
    /// The response without its envelope.
    pub(crate) ended: Value,
    pub(crate) effects: BTreeMap<String, usize>,
}

/// Plays a request to its end.
pub(super) async fn play<S: Service>(
    service: Arc<S>,
    revision: Revision,
    plan: &Scenario,
    effects: SideEffects,
) -> Result<Played, DisagreementError> {
    let (near, far) = tokio::io::duplex(PIPE_BYTES);
    let (reader, writer) = tokio::io::split(far);
    let server = tokio::spawn(async move {
        // The result has no use, because the server ends when the pipe closes, or is aborted.
        let _ = serve_pipe(service, reader, writer, PipeOptions::default()).await;
    });
    let mut client = Client::new(near, revision, plan);
    let played = tokio::time::timeout(plan.timeout, client.play()).await;
    server.abort();
    let ended = played.map_err(|_| DisagreementError::Unending(revision))??;
    Ok(Played {
        revision,
        asked: client.asked,
        ended,
        effects: effects.counts(),
    })
}

struct Client<'p> {
    revision: Revision,
    plan: &'p Scenario,
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    asked: Vec<(InputRequest, InputResponse)>,
    last_id: i64,
}

impl<'p> Client<'p> {
    fn new(near: DuplexStream, revision: Revision, plan: &'p Scenario) -> Self {
        let (reader, writer) = tokio::io::split(near);
        Self {
            revision,
            plan,
            writer,
            lines: BufReader::new(reader).lines(),
            asked: Vec::new(),
            last_id: 0,
        }
    }

    async fn play(&mut self) -> Result<Value, DisagreementError> {
        if self.revision.has(Feature::Handshake) {
            self.shake_hands().await?;
        }
        let mut params = self.plan.params.clone();
        loop {
            let response = self.request(&self.plan.method, params).await?;
            let asks = response["result"]["resultType"] == "input_required";
            if !(self.revision.has(Feature::InputRequired) && asks) {
                return Ok(response);
            }
            params = self.retry(&response["result"])?;
        }
    }

    async fn shake_hands(&mut self) -> Result<(), DisagreementError> {
        let mut params = InitializeParams::new(
            self.revision,
            self.plan.capabilities.clone(),
            Implementation::new("testkit", "1.0.0"),
        );
        let fits = params.fit(self.revision).is_ok();
        debug_assert!(fits, "a handshake can be said in every revision");
        let welcome = self.request(Initialize::NAME, json!(params)).await?;
        if welcome["result"]["protocolVersion"] != self.revision.as_str() {
            return Err(self.lost(&format!("the handshake came to {welcome}")));
        }
        self.send(&json!({ "jsonrpc": "2.0", "method": Initialized::NAME }))
            .await
    }

    /// Makes a request, answers the questions of the server, and returns the response without its
    /// envelope.
    async fn request(&mut self, method: &str, params: Value) -> Result<Value, DisagreementError> {
        self.last_id += 1;
        let id = self.last_id;
        let mut params = words::with_envelope(self.revision, params);
        if self.revision.has(Feature::Envelope) {
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                json!(self.plan.capabilities);
        }
        self.send(&words::request(id, method, params)).await?;
        loop {
            let mut message = self.receive().await?;
            if message["method"].is_string() {
                self.answer(&message).await?;
            } else if message["id"] == id {
                let name = if message["error"].is_null() {
                    "result"
                } else {
                    "error"
                };
                return Ok(json!({ name: message[name].take() }));
            }
        }
    }

    /// Answers a request of the server; notifications are ignored, because they are not compared.
    async fn answer(&mut self, message: &Value) -> Result<(), DisagreementError> {
        if message["id"].is_null() {
            return Ok(());
        }
        let request = serde_json::from_value(message.clone())
            .map_err(|error| self.lost(&format!("{error}: {message}")))?;
        let response = self.respond(request)?;
        self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": response }))
            .await
    }

    /// The same request again, with the answers to the questions in `result`.
    fn retry(&mut self, result: &Value) -> Result<Value, DisagreementError> {
        let asked = result.get("inputRequests").cloned().unwrap_or(json!({}));
        let asked: InputRequests = serde_json::from_value(asked)
            .map_err(|error| self.lost(&format!("{error}: {result}")))?;
        let mut responses = json!({});
        for (name, request) in asked {
            responses[name] = self.respond(request)?;
        }
        let mut params = self.plan.params.clone();
        params["inputResponses"] = responses;
        if let Some(state) = result.get("requestState") {
            params["requestState"] = state.clone();
        }
        Ok(params)
    }

    fn respond(&mut self, request: InputRequest) -> Result<Value, DisagreementError> {
        let Some(response) = self.plan.answers.to(&request) else {
            return Err(DisagreementError::Unanswered {
                revision: self.revision,
                question: json!(request).to_string(),
            });
        };
        let mut fitted = response.clone();
        fitted
            .fit(self.revision)
            .map_err(|unfit| self.lost(&format!("an answer cannot be said: {unfit}")))?;
        self.asked.push((request, response));
        Ok(json!(fitted))
    }

    async fn send(&mut self, message: &Value) -> Result<(), DisagreementError> {
        let line = format!("{message}\n");
        let written = self.writer.write_all(line.as_bytes()).await;
        written.map_err(|error| self.lost(&error.to_string()))
    }

    async fn receive(&mut self) -> Result<Value, DisagreementError> {
        let line = self.lines.next_line().await;
        let line = line.map_err(|error| self.lost(&error.to_string()))?;
        let line = line.ok_or_else(|| self.lost("the server has hung up"))?;
        serde_json::from_str(&line).map_err(|error| self.lost(&error.to_string()))
    }

    fn lost(&self, why: &str) -> DisagreementError {
        DisagreementError::Lost {
            revision: self.revision,
            why: why.to_owned(),
        }
    }
}
