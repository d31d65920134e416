//! One side of a conversation: a real engine and virtual time, without handlers.

mod call_builder;
mod seen;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pintle_model::jsonrpc::InvalidMessage;
use pintle_model::{ClientCapabilities, Error, Feature, Implementation, Revision};
use pintle_proto::frame::{Line, Lines};
use pintle_proto::{
    CallId, Connection, Event, Input, Lane, Limits, Received, Reply, RequestKey, SendError,
    ServerProfile, Transmit, TransmitKind,
};
use serde_json::{Value, json};

use self::seen::Seen;
use crate::pending_requests::{PendingRequests, ReplyPolicy, complete, usual_result};
use crate::words::{everything, initialize, request, with_envelope};

pub use call_builder::CallBuilder;

/// One side of a conversation.
///
/// It accepts messages ([`receive`](Self::receive)), lets time pass ([`advance`](Self::advance)), and
/// returns the messages it sends ([`sent`](Self::sent)). It records every event for the test to read.
#[derive(Debug)]
pub struct Endpoint {
    engine: Connection,
    revision: Revision,
    now: Instant,
    lines: Lines,
    pending: PendingRequests,
    seen: Seen,
}

/// A message that this side sends.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// The lane of the message.
    pub lane: Lane,
    /// The role of the message in its lane.
    pub kind: TransmitKind,
    /// The message as JSON.
    pub message: Value,
}

impl Endpoint {
    /// A server that has received no message yet.
    pub fn server() -> Self {
        Self::server_with(everything(), Limits::default())
    }

    /// A server with its own profile and limits.
    pub fn server_with(profile: ServerProfile, limits: Limits) -> Self {
        let engine = Connection::server(Arc::new(profile), Arc::new(limits));
        Self::over(engine, Revision::LATEST)
    }

    /// A server that speaks `revision`, after the handshake if the revision has one.
    pub fn server_at(revision: Revision) -> Self {
        Self::server().opened_at(revision)
    }

    /// A client that has sent no message yet.
    pub fn client() -> Self {
        Self::client_with(Limits::default())
    }

    /// A client with its own limits.
    pub fn client_with(limits: Limits) -> Self {
        let identity = Implementation::new("testkit", "1.0.0");
        let engine = Connection::client(identity, ClientCapabilities::default(), Arc::new(limits));
        Self::over(engine, Revision::LATEST)
    }

    /// A client that speaks `revision`, after the handshake if the revision has one.
    pub fn client_at(revision: Revision) -> Self {
        Self::client().welcomed_at(revision)
    }

    /// An endpoint over an existing engine; its peer speaks `revision`.
    pub fn over(engine: Connection, revision: Revision) -> Self {
        Self {
            engine,
            revision,
            now: Instant::now(),
            lines: Lines::default(),
            pending: PendingRequests::default(),
            seen: Seen::default(),
        }
    }

    /// Sends messages of `revision` to a server from now on, after the handshake if needed.
    #[must_use]
    pub fn opened_at(mut self, revision: Revision) -> Self {
        self.revision = revision;
        if revision.has(Feature::Handshake) {
            self.receive(&initialize("opening", revision.as_str()).to_string());
            self.receive(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            self.sent();
        }
        self
    }

    /// Makes a client speak `revision` from now on, after the handshake if needed.
    ///
    /// # Panics
    ///
    /// If the client has already sent a message.
    #[must_use]
    pub fn welcomed_at(mut self, revision: Revision) -> Self {
        self.revision = revision;
        if !revision.has(Feature::Handshake) {
            self.engine.use_revision(revision);
            return self;
        }
        let now = self.now;
        self.engine.initialize(now, revision).expect("a new client");
        let sent = self.sent();
        let server = json!({ "name": "testkit", "version": "1.0.0" });
        let welcome = json!({ "protocolVersion": revision.as_str(), "capabilities": {}, "serverInfo": server });
        self.receive(
            &json!({ "jsonrpc": "2.0", "id": sent[0]["id"], "result": welcome }).to_string(),
        );
        self.sent();
        self
    }

    /// Sets the policy for answers to later requests.
    pub fn answers(&mut self, policy: ReplyPolicy) {
        self.pending.policy = policy;
    }

    /// Answers each request this long after its arrival.
    pub fn answers_after(&mut self, wait: Duration) {
        self.answers(ReplyPolicy::After(wait));
    }

    /// Answers a request only when the test calls [`answer`](Self::answer).
    pub fn answers_by_hand(&mut self) {
        self.answers(ReplyPolicy::ByHand);
    }

    /// Accepts one message, valid or not.
    pub fn receive(&mut self, text: &str) -> Received {
        self.receive_bytes(text.as_bytes())
    }

    fn receive_bytes(&mut self, bytes: &[u8]) -> Received {
        let received = self.engine.handle_text(self.now, bytes);
        self.handle_events();
        received
    }

    /// Accepts bytes of a pipe, cut anywhere.
    pub fn arrive(&mut self, bytes: &[u8]) {
        self.lines.push(bytes);
        while let Some(line) = self.lines.next_line() {
            match line {
                Line::Text(text) => {
                    let text = text.to_vec();
                    drop(self.receive_bytes(&text));
                }
                Line::TooLong => {
                    let error = Error::invalid_request("the message is too long");
                    let input = Input::Malformed(InvalidMessage::new(None, error));
                    self.engine.handle_input(self.now, input);
                    self.handle_events();
                }
            }
        }
    }

    /// Accepts a request in the form of this conversation's revision.
    pub fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Received {
        let params = with_envelope(self.revision, params);
        self.receive(&request(id, method, params).to_string())
    }

    /// Accepts a notification; without `params` if they are null.
    pub fn notification(&mut self, method: &str, params: Value) -> Received {
        let mut notice = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            notice["params"] = params;
        }
        self.receive(&notice.to_string())
    }

    /// Accepts a valid answer to one of this side's calls.
    pub fn response(&mut self, id: impl Into<Value>, result: Value) -> Received {
        let response = json!({ "jsonrpc": "2.0", "id": id.into(), "result": result });
        self.receive(&response.to_string())
    }

    /// Sends a request; returns all messages that the server sends until it waits again.
    pub fn exchange(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Vec<Value> {
        self.request(id, method, params);
        self.sent()
    }

    /// Accepts the end of the conversation.
    pub fn close(&mut self) {
        self.engine.handle_input(self.now, Input::Closed);
        self.handle_events();
    }

    /// Makes a call.
    ///
    /// # Panics
    ///
    /// If the engine refuses the call; [`Endpoint::try_ask`] returns the error.
    pub fn ask(&mut self, ask: CallBuilder) -> CallId {
        let call = self.engine.call(self.now, ask.0);
        call.expect("the engine makes the call")
    }

    /// Makes a call, or returns the error.
    ///
    /// # Errors
    ///
    /// Those of [`Connection::call`].
    pub fn try_ask(&mut self, ask: CallBuilder) -> Result<CallId, SendError> {
        self.engine.call(self.now, ask.0)
    }

    /// Cancels a call.
    pub fn cancel(&mut self, call: CallId) {
        self.engine
            .cancel_call(call, Some("no longer wanted".into()));
        self.handle_events();
    }

    /// Answers a request with `result`; false if it is not open.
    pub fn answer(&mut self, key: RequestKey, result: &Value) -> bool {
        self.finish(key, |_| complete(result))
    }

    /// Answers a request with a minimal result for its method; false if it is not open.
    pub fn answer_usually(&mut self, key: RequestKey) -> bool {
        self.finish(key, |method| complete(&usual_result(method)))
    }

    /// Answers a request with an error; false if it is not open.
    pub fn fail(&mut self, key: RequestKey, error: Error) -> bool {
        self.finish(key, |_| Err(error))
    }

    fn finish(
        &mut self,
        key: RequestKey,
        reply: impl FnOnce(&str) -> Result<Reply, Error>,
    ) -> bool {
        let Some((ticket, incoming)) = self.pending.close(key) else {
            return false;
        };
        self.engine.answer(ticket, reply(incoming.method.as_str()));
        self.handle_events();
        true
    }

    /// Advances the clock: timers fire and answers leave in the order in which they are due.
    pub fn advance(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(due) = self.next_due().filter(|due| *due <= end) {
            self.pass_to(due);
        }
        self.pass_to(end);
    }

    /// Advances the clock to `now`, and does the work that is due.
    pub fn pass_to(&mut self, now: Instant) {
        self.now = self.now.max(now);
        if self
            .engine
            .next_deadline()
            .is_some_and(|due| due <= self.now)
        {
            self.engine.handle_input(self.now, Input::Timeout);
        }
        self.handle_events();
    }

    /// The next instant at which this side acts without a message.
    pub fn next_due(&self) -> Option<Instant> {
        let answer = self.pending.next_due().map(|(due, _)| due);
        answer.into_iter().chain(self.engine.next_deadline()).min()
    }

    // Events are handled until there are no more. Messages are not sent here.
    fn handle_events(&mut self) {
        loop {
            while let Some(event) = self.engine.poll_event() {
                self.note(event);
            }
            let due = self.pending.next_due().filter(|(due, _)| *due <= self.now);
            let Some((_, key)) = due else { return };
            self.answer_due(key);
        }
    }

    fn answer_due(&mut self, key: RequestKey) {
        if let Some((ticket, incoming)) = self.pending.close(key) {
            let result = usual_result(incoming.method.as_str());
            self.engine.answer(ticket, complete(&result));
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Request(ticket, incoming) => self.pending.open(self.now, ticket, incoming),
            Event::Cancelled(key) => {
                self.pending.close(key);
                self.seen.note(event);
            }
            event => self.seen.note(event),
        }
    }

    /// Returns the next message that this side sends.
    ///
    /// # Panics
    ///
    /// If the engine sends bytes that are not JSON.
    pub fn next_sent(&mut self) -> Option<Sent> {
        let Transmit {
            lane, kind, frame, ..
        } = self.next_frame()?;
        let message = serde_json::from_slice(&frame.to_vec()).expect("an engine sends JSON");
        Some(Sent {
            lane,
            kind,
            message,
        })
    }

    // An empty frame carries no message, so nothing is sent for it.
    fn next_frame(&mut self) -> Option<Transmit> {
        std::iter::from_fn(|| self.engine.poll_transmit())
            .find(|transmit| !transmit.frame.is_empty())
    }

    /// Returns the messages that this side sends.
    pub fn sent(&mut self) -> Vec<Value> {
        self.transmits()
            .into_iter()
            .map(|sent| sent.message)
            .collect()
    }

    /// Returns the messages that this side sends, with their lanes.
    pub fn transmits(&mut self) -> Vec<Sent> {
        std::iter::from_fn(|| self.next_sent()).collect()
    }

    /// The engine itself.
    pub fn engine(&mut self) -> &mut Connection {
        &mut self.engine
    }

    /// The current virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }
}
