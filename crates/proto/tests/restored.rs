//! Two engines of one session: one performs the handshake, the other one is restored.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_model::{Implementation, JsonObject, LoggingLevel, ServerCapabilities};
use pintle_proto::{
    Connection, Event, IncomingRequest, Limits, NewCall, Output, PeerCallError, SendError,
    ServerProfile,
};
use serde_json::{Value, json};

struct Session {
    engine: Connection,
    now: Instant,
    sent: Vec<Value>,
    settled: Vec<Result<Value, PeerCallError>>,
    opened: usize,
}

impl Session {
    fn of(engine: Connection) -> Self {
        Self {
            engine,
            now: Instant::now(),
            sent: Vec::new(),
            settled: Vec::new(),
            opened: 0,
        }
    }

    /// An engine that has performed a handshake, before the client confirms it.
    fn first() -> Self {
        let mut first = Self::of(Connection::server(profile(), Arc::default()));
        first.receive(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": { "roots": {} },
            "clientInfo": { "name": "t", "version": "1" } } }),
        );
        first
    }

    /// Another engine of the same session.
    fn restored(first: &Self, is_ready: bool, prefix: &str) -> Self {
        let terms = Arc::clone(first.engine.session_terms().expect("a handshake"));
        let limits = Arc::<Limits>::default();
        let engine = Connection::restored(profile(), limits, terms, is_ready);
        Self::of(engine.with_call_prefix(prefix))
    }

    fn receive(&mut self, message: &Value) -> Option<IncomingRequest> {
        let text = message.to_string();
        let message = Message::parse(text.as_bytes()).expect("a message");
        self.engine.receive(self.now, message);
        self.drain()
    }

    fn drain(&mut self) -> Option<IncomingRequest> {
        let mut admitted = None;
        loop {
            match self.engine.poll_output() {
                Output::Transmit(transmit) => {
                    let message = serde_json::from_slice(&transmit.frame.to_vec());
                    self.sent.push(message.expect("JSON"));
                }
                Output::Event(Event::Request(_, request)) => admitted = Some(*request),
                Output::Event(Event::Settled(_, outcome)) => {
                    let value = |raw: Box<serde_json::value::RawValue>| {
                        serde_json::from_str(raw.get()).expect("JSON")
                    };
                    self.settled.push(outcome.map(value));
                }
                Output::Event(Event::Opened(_)) => self.opened += 1,
                Output::Event(_) => {}
                Output::Wait(_) => return admitted,
            }
        }
    }

    /// Asks for the roots of the client, and returns the request.
    fn ask(&mut self) -> Value {
        let mut call = NewCall::new("roots/list", JsonObject::new());
        call.wants_progress = true;
        self.engine.call(self.now, call).expect("it is sent");
        self.drain();
        self.sent.pop().expect("the question")
    }
}

fn profile() -> Arc<ServerProfile> {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    capabilities.logging = Some(Default::default());
    let server = Implementation::new("test", "1.0.0");
    Arc::new(ServerProfile::new(server, capabilities))
}

fn call() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "t" } })
}

#[test]
fn a_restored_engine_serves_requests_on_the_terms_of_the_session() {
    let first = Session::first();
    let mut restored = Session::restored(&first, true, "b.1");
    let request = restored.receive(&call()).expect("the request is admitted");
    assert_eq!(Some(&request.terms), first.engine.session_terms());
    assert_eq!(restored.opened, 0, "the session was opened before");
}

#[test]
fn a_restored_engine_asks_only_after_the_client_is_ready() {
    let first = Session::first();
    let mut restored = Session::restored(&first, false, "b.1");
    let early = NewCall::new("roots/list", JsonObject::new());
    let refused = restored.engine.call(restored.now, early);
    assert_eq!(refused, Err(SendError::HandshakePending));
    restored.receive(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!(restored.opened, 1);
    assert_eq!(restored.ask()["method"], "roots/list");
}

// spec: 2025-11-25 MSG-04
#[test]
fn engines_of_one_session_never_use_the_same_request_id() {
    let first = Session::first();
    let mut ids = Vec::new();
    for prefix in ["b.1", "b.2", "c.1"] {
        let mut restored = Session::restored(&first, true, prefix);
        for number in 1..=2 {
            let question = restored.ask();
            assert_eq!(question["id"], json!(format!("{prefix}.{number}")));
            assert_eq!(question["params"]["_meta"]["progressToken"], question["id"]);
            ids.push(question["id"].to_string());
        }
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[test]
fn a_response_settles_only_the_call_with_its_whole_id() {
    let first = Session::first();
    let mut restored = Session::restored(&first, true, "b.1");
    restored.ask();
    let others = [
        json!(1),
        json!("1"),
        json!("b.2.1"),
        json!("b.11"),
        json!("b.1.01"),
        json!("b.1."),
        json!("discover-1"),
    ];
    for id in &others {
        restored.receive(&json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [] } }));
        assert!(restored.settled.is_empty(), "{id}");
    }
    assert_eq!(restored.engine.late_answers(), others.len() as u64);
    restored.receive(&json!({ "jsonrpc": "2.0", "id": "b.1.1", "result": { "roots": [] } }));
    assert_eq!(restored.settled, [Ok(json!({ "roots": [] }))]);
}

#[test]
fn the_cancellation_of_a_call_has_the_id_with_its_prefix() {
    let first = Session::first();
    let mut restored = Session::restored(&first, true, "b.1");
    let question = NewCall::new("roots/list", JsonObject::new());
    let id = restored.engine.call(restored.now, question).expect("sent");
    restored.drain();
    restored.engine.cancel_call(id, None);
    restored.drain();
    let cancelled = restored.sent.last().expect("a cancellation");
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], "b.1.1");
}

#[test]
fn a_log_level_of_one_engine_leaves_the_other_one_as_it_is() {
    let first = Session::first();
    let mut restored = Session::restored(&first, true, "b.1");
    restored.receive(
        &json!({ "jsonrpc": "2.0", "id": 3, "method": "logging/setLevel",
        "params": { "level": "error" } }),
    );
    let level = |session: &Session| {
        session
            .engine
            .session_terms()
            .and_then(|it| it.log_level.clone())
    };
    assert_eq!(level(&restored), Some(LoggingLevel::Error));
    assert_eq!(level(&first), Some(LoggingLevel::Info));
}
