//! The judged server, in a conversation of one revision.

mod head;
mod opening;
mod survey;

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue, Method};
use pintle_model::{Feature, Revision};
use serde_json::{Value, json};

use crate::finding::{Judgement, Stop, observed, skipped};
use crate::level::Carrier;
use crate::log::{Exchange, Log};
use crate::options::CheckOptions;
use crate::target::{Kind, OpenError, Target};
use crate::text::shown;
use crate::wire::{End, Reply, Sending, Wait, Wire};

pub(crate) use head::{SESSION_ID, header};
pub(crate) use opening::OpeningError;
pub(crate) use survey::{LISTS, Sample, Survey, is_read_only, required};

/// Headers of one request.
pub(crate) type Headers = Vec<(HeaderName, HeaderValue)>;

/// A conversation with the judged server.
pub(crate) struct Peer {
    pub(crate) revision: Revision,
    pub(crate) options: Arc<CheckOptions>,
    pub(crate) target: Target,
    pub(crate) survey: Arc<Survey>,
    log: Arc<Log>,
    wire: Box<dyn Wire>,
    /// The id of the session, once the server has assigned one.
    pub(crate) session: Option<HeaderValue>,
    /// How long the next reply may take. A program may take long to start.
    timeout: Duration,
    next_id: u64,
    is_lost: bool,
}

/// The response to a request, and everything around it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) response: Value,
    pub(crate) reply: Reply,
}

impl Peer {
    /// Opens a connection without a message.
    ///
    /// # Errors
    ///
    /// [`OpenError`].
    pub(crate) async fn connect(
        target: &Target,
        options: &Arc<CheckOptions>,
        revision: Revision,
    ) -> Result<Self, OpenError> {
        let log = Log::new(options.max_logged_messages, options.max_logged_bytes);
        Ok(Self {
            revision,
            options: Arc::clone(options),
            target: target.clone(),
            survey: Arc::default(),
            log: Arc::new(log),
            wire: target.open(options).await?,
            session: None,
            timeout: options.opening_timeout,
            next_id: 1,
            is_lost: false,
        })
    }

    /// Opens another connection without a message. It has the same log.
    pub(crate) async fn unopened(&self) -> Result<Self, Stop> {
        let wire = self.target.open(&self.options).await;
        let wire = wire.map_err(|error| observed(error.to_string()))?;
        Ok(self.with_wire(wire))
    }

    /// Opens another conversation in the same revision.
    pub(crate) async fn another(&self) -> Result<Self, Stop> {
        let mut peer = self.unopened().await?;
        match peer.open().await {
            Ok(_) => Ok(peer),
            Err(OpeningError(reason)) => Err(observed(format!(
                "another conversation cannot be opened: {reason}"
            ))),
        }
    }

    /// Returns a peer without a session on another connection.
    pub(crate) fn with_wire(&self, wire: Box<dyn Wire>) -> Self {
        Self {
            revision: self.revision,
            options: Arc::clone(&self.options),
            target: self.target.clone(),
            survey: Arc::clone(&self.survey),
            log: Arc::clone(&self.log),
            wire,
            session: None,
            timeout: self.options.opening_timeout,
            next_id: 1,
            is_lost: false,
        }
    }

    /// Returns a peer of the same session on another connection.
    pub(crate) fn beside(&self) -> Result<Self, Stop> {
        let wire = self.endpoint()?.wire(&self.options);
        let mut peer = self.with_wire(Box::new(wire));
        peer.session.clone_from(&self.session);
        Ok(peer)
    }

    /// Replaces the connection of a conversation that is lost.
    pub(crate) async fn reopen(&mut self) -> Result<(), Stop> {
        let fresh = self.another().await?;
        *self = fresh;
        Ok(())
    }

    /// Sets how long the next reply may take.
    pub(crate) fn wait_at_most(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// Waits longer for the next reply, because the server has much to do.
    pub(crate) fn be_patient(&mut self) {
        self.timeout = self.options.opening_timeout;
    }

    pub(crate) fn carrier(&self) -> Carrier {
        self.target.carrier()
    }

    pub(crate) fn is_http(&self) -> bool {
        self.carrier() == Carrier::Http
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.revision.has(Feature::Envelope)
    }

    /// Returns true if the conversation has ended, or an answer is overdue.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    pub(crate) fn log(&self) -> &Log {
        &self.log
    }

    /// Returns all exchanges of the revision so far.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.log.exchanges()
    }

    /// Returns the endpoint of a server over HTTP.
    pub(crate) fn endpoint(&self) -> Result<&crate::target::Endpoint, Stop> {
        match &self.target.0 {
            Kind::Http(endpoint) => Ok(endpoint),
            Kind::Program(_) | Kind::Pipe(_) => Err(skipped("the server is not on HTTP")),
        }
    }

    /// Returns an id that no request of this conversation had.
    pub(crate) fn next_id(&mut self) -> Value {
        self.next_id += 1;
        json!(self.next_id)
    }

    /// Returns a request of this revision with a new id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id();
        self.request_with_id(id, method, params)
    }

    /// Returns a request of this revision.
    pub(crate) fn request_with_id(&self, id: Value, method: &str, params: Value) -> Value {
        let params = self.with_envelope(params);
        match params.is_null() {
            true => json!({ "jsonrpc": "2.0", "id": id, "method": method }),
            false => json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        }
    }

    /// Adds the metadata that each request of this revision has.
    pub(crate) fn with_envelope(&self, mut params: Value) -> Value {
        if !self.is_modern() {
            return params;
        }
        if params.is_null() {
            params = json!({});
        }
        let envelope = opening::envelope(self.revision);
        if let (Some(params), Some(envelope)) = (params.as_object_mut(), envelope.as_object()) {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                for (key, value) in envelope {
                    meta.entry(key).or_insert_with(|| value.clone());
                }
            }
        }
        params
    }

    /// Sends bytes with these headers, and logs the exchange.
    pub(crate) async fn exchange(
        &mut self,
        body: Vec<u8>,
        method: Method,
        headers: Headers,
        wait: Wait,
    ) -> Reply {
        let parsed: Option<Value> = serde_json::from_slice(&body).ok();
        let request = parsed.filter(|message| message.get("method").is_some());
        let sent = match body.is_empty() {
            true => method.as_str().as_bytes().to_vec(),
            false => body.clone(),
        };
        let sending = Sending {
            method,
            headers,
            body,
            timeout: self.timeout,
        };
        let reply = self.wire.exchange(sending, wait).await;
        self.timeout = self.options.answer_timeout;
        self.log.add(&sent, request, &reply);
        self.is_lost = matches!(reply.end, End::TimedOut | End::Lost(_));
        reply
    }

    /// Sends a message with the headers of this revision.
    pub(crate) async fn send(&mut self, message: &Value, wait: Wait) -> Reply {
        let headers = self.headers_of(message);
        self.send_with(message, headers, wait).await
    }

    /// Sends a message with these headers.
    pub(crate) async fn send_with(
        &mut self,
        message: &Value,
        headers: Headers,
        wait: Wait,
    ) -> Reply {
        let body = message.to_string().into_bytes();
        self.exchange(body, Method::POST, headers, wait).await
    }

    /// Sends a request and returns its response.
    ///
    /// # Errors
    ///
    /// The check fails without a response.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Result<Answer, Stop> {
        let request = self.request(method, params);
        self.ask_message(&request).await
    }

    /// Sends this request and returns its response.
    ///
    /// # Errors
    ///
    /// The check fails without a response.
    pub(crate) async fn ask_message(&mut self, request: &Value) -> Result<Answer, Stop> {
        let headers = self.headers_of(request);
        self.ask_with(request, headers).await
    }

    /// Sends this request with these headers and returns its response.
    ///
    /// # Errors
    ///
    /// The check fails without a response.
    pub(crate) async fn ask_with(
        &mut self,
        request: &Value,
        headers: Headers,
    ) -> Result<Answer, Stop> {
        let id = request.get("id").cloned().unwrap_or_default();
        let reply = self
            .send_with(request, headers, Wait::Answer(id.clone()))
            .await;
        match reply.answer(&id) {
            Some(response) => Ok(Answer {
                response: response.clone(),
                reply,
            }),
            None => Err(observed(format!("no response: {}", reply.text()))),
        }
    }

    /// Sends bytes that may not be a message, and returns every answer to them. On a pipe a valid
    /// request follows, and its answer ends the wait.
    ///
    /// # Errors
    ///
    /// The check fails if the server does not answer that request.
    pub(crate) async fn probe(&mut self, body: Vec<u8>, headers: Headers) -> Result<Reply, Stop> {
        if self.is_http() {
            return Ok(self
                .exchange(body, Method::POST, headers, Wait::Response)
                .await);
        }
        let sync = self.sync_request();
        let id = sync.get("id").cloned().unwrap_or_default();
        let mut lines = body.clone();
        lines.push(b'\n');
        lines.extend_from_slice(sync.to_string().as_bytes());
        let mut reply = self
            .exchange(lines, Method::POST, Vec::new(), Wait::Answer(id.clone()))
            .await;
        if reply.answer(&id).is_none() {
            let text = reply.text();
            return Err(observed(format!(
                "the next request has no response: {text}"
            )));
        }
        reply
            .messages
            .retain(|message| message.get("id") != Some(&id));
        self.log.note(&body, &reply);
        Ok(reply)
    }

    /// Sends a message whose answer may be missing.
    ///
    /// # Errors
    ///
    /// As [`Peer::probe`].
    pub(crate) async fn probe_message(&mut self, message: &Value) -> Result<Reply, Stop> {
        let headers = self.headers_of(message);
        self.probe(message.to_string().into_bytes(), headers).await
    }

    /// Sends a message that may be the first one of a conversation.
    pub(crate) async fn probe_without_sync(&mut self, message: &Value) -> Reply {
        let id = message.get("id").cloned().unwrap_or_default();
        self.send(message, Wait::Answer(id)).await
    }

    /// Passes if the server answers a valid request.
    pub(crate) async fn is_alive(&mut self) -> Judgement {
        let evidence = self.log.take_evidence();
        let sync = self.sync_request();
        let answer = self.ask_message(&sync).await;
        match answer {
            Ok(_) => {
                self.log.restore(evidence);
                Ok(())
            }
            Err(_) => Err(Stop::Failed {
                came: Some("the next request has no response".to_owned()),
                sent: evidence.0,
            }),
        }
    }

    fn sync_request(&mut self) -> Value {
        match self.is_modern() {
            true => self.request("server/discover", Value::Null),
            false => self.request("ping", Value::Null),
        }
    }

    /// Closes the conversation. Returns false if the server did not end in time.
    pub(crate) async fn close(self) -> bool {
        self.wire.close().await
    }
}

impl Answer {
    /// Returns the result.
    ///
    /// # Errors
    ///
    /// The check fails if the response is an error.
    pub(crate) fn result(&self) -> Result<&Value, Stop> {
        let missing = || observed(format!("an error: {}", shown(&self.response)));
        self.response.get("result").ok_or_else(missing)
    }

    /// Returns the code of the error.
    ///
    /// # Errors
    ///
    /// The check fails if the response is a result.
    pub(crate) fn code(&self) -> Result<i64, Stop> {
        let missing = || observed(format!("no error: {}", shown(&self.response)));
        let code = self
            .response
            .get("error")
            .and_then(|error| error.get("code"));
        code.and_then(Value::as_i64).ok_or_else(missing)
    }

    /// Passes if the response is an error with one of these codes.
    pub(crate) fn has_code(&self, codes: &[i64]) -> Judgement {
        let code = self.code()?;
        match codes.contains(&code) {
            true => Ok(()),
            false => Err(observed(shown(&self.response))),
        }
    }
}
