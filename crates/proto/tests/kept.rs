//! Calls whose outcome the caller polls.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use pintle_model::jsonrpc::Message;
use pintle_model::{Implementation, JsonObject, ServerCapabilities};
use pintle_proto::{
    CallId, Connection, Event, Input, Lane, Limits, NewCall, Output, PeerCallError, RequestKey,
    SendError, ServerProfile, Terms, Ticket,
};

struct Server {
    engine: Connection,
    now: Instant,
    sent: Vec<Value>,
    lanes: Vec<Lane>,
}

impl Server {
    /// A server that works on one request of a client of 2025-11-25.
    fn at_work() -> (Self, Ticket) {
        let mut server = Self {
            engine: Connection::server(profile(), Arc::new(Limits::default())),
            now: Instant::now(),
            sent: Vec::new(),
            lanes: Vec::new(),
        };
        server.receive(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }));
        server.receive(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let ticket = server.receive(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": { "name": "t" } }));
        server.sent.clear();
        server.lanes.clear();
        (server, ticket.expect("the request is admitted"))
    }

    fn receive(&mut self, message: &Value) -> Option<Ticket> {
        let text = message.to_string();
        let message = Message::parse(text.as_bytes()).expect("a message");
        self.engine.handle_input(self.now, Input::Message(message));
        self.drain()
    }

    /// Collects the sent messages; settled calls must not be events.
    fn drain(&mut self) -> Option<Ticket> {
        let mut admitted = None;
        loop {
            match self.engine.poll_output() {
                Output::Transmit(transmit) => {
                    let message = serde_json::from_slice(&transmit.frame.to_vec());
                    self.sent.push(message.expect("JSON"));
                    self.lanes.push(transmit.lane);
                }
                Output::Event(Event::Request(ticket, _)) => admitted = Some(ticket),
                Output::Event(Event::Settled(..)) => panic!("a kept outcome made an event"),
                Output::Event(_) => {}
                Output::Wait(_) => return admitted,
            }
        }
    }

    fn ask(&mut self, key: RequestKey) -> CallId {
        let mut call = NewCall::new("roots/list", JsonObject::new());
        call.lane = Lane::Reply(key);
        let call = self.engine.call_polled(self.now, call).expect("it is sent");
        self.drain();
        call
    }

    fn poll(&mut self, call: CallId) -> Poll<Result<Value, PeerCallError>> {
        let polled = self
            .engine
            .poll_call(call, &Context::from_waker(Waker::noop()));
        polled.map(|settled| settled.map(|raw| serde_json::from_str(raw.get()).expect("JSON")))
    }
}

fn profile() -> Arc<ServerProfile> {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    Arc::new(ServerProfile::new(
        Implementation::new("test", "1.0.0"),
        capabilities,
    ))
}

#[test]
fn an_answer_waits_for_its_caller() {
    let (mut server, ticket) = Server::at_work();
    let call = server.ask(ticket.key());
    assert!(server.poll(call).is_pending());
    assert_eq!(server.sent[0]["method"], "roots/list");

    server.receive(
        &json!({ "jsonrpc": "2.0", "id": server.sent[0]["id"], "result": { "roots": [] } }),
    );

    assert_eq!(server.poll(call), Poll::Ready(Ok(json!({ "roots": [] }))));
    assert_eq!(
        server.poll(call),
        Poll::Ready(Err(PeerCallError::Cancelled)),
        "an outcome is taken once"
    );
}

// spec: 2025-11-25 CANC-01
#[test]
fn a_question_is_cancelled_when_its_caller_is_gone() {
    let (mut server, ticket) = Server::at_work();
    let call = server.ask(ticket.key());
    server.engine.forget_call(call);
    server.drain();
    assert_eq!(server.sent[1]["method"], "notifications/cancelled");
    assert_eq!(server.sent[1]["params"]["requestId"], server.sent[0]["id"]);
}

#[test]
fn a_question_ends_with_the_request_it_was_asked_for() {
    let (mut server, ticket) = Server::at_work();
    let call = server.ask(ticket.key());
    server.receive(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 2 } }),
    );
    assert_eq!(
        server.poll(call),
        Poll::Ready(Err(PeerCallError::Cancelled))
    );
    assert_eq!(server.sent[1]["method"], "notifications/cancelled");
    assert_eq!(
        server.lanes,
        [Lane::Reply(ticket.key()); 2],
        "where it was asked"
    );

    let (mut server, ticket) = Server::at_work();
    server.ask(ticket.key());
    server
        .engine
        .answer(ticket, Err(pintle_model::Error::internal()));
    server.drain();
    let methods: Vec<_> = server
        .sent
        .iter()
        .map(|sent| sent["method"].as_str())
        .collect();
    assert_eq!(
        methods,
        [Some("roots/list"), Some("notifications/cancelled"), None]
    );
}

#[test]
fn a_question_that_was_not_sent_yet_never_is() {
    let (mut server, ticket) = Server::at_work();
    let mut call = NewCall::new("roots/list", JsonObject::new());
    call.lane = Lane::Reply(ticket.key());
    let call = server
        .engine
        .call_polled(server.now, call)
        .expect("it is queued");
    server.engine.forget_call(call);
    server.drain();
    assert!(server.sent.is_empty());
}

#[test]
fn people_get_ten_minutes() {
    let (mut server, ticket) = Server::at_work();
    let call = server.ask(ticket.key());
    let timeout = Duration::from_secs(600);
    assert_eq!(server.engine.next_deadline(), Some(server.now + timeout));
    server
        .engine
        .handle_input(server.now + timeout, Input::Timeout);
    assert_eq!(
        server.poll(call),
        Poll::Ready(Err(PeerCallError::TimedOut(timeout)))
    );
}

#[test]
fn a_call_of_a_request_is_taken_back_where_it_was_made() {
    let (mut server, ticket) = Server::at_work();
    let mut call = NewCall::new("roots/list", JsonObject::new());
    call.lane = Lane::Reply(ticket.key());
    let call = server.engine.call(server.now, call).expect("it is sent");
    server.drain();
    server.engine.cancel_call(call, None);
    let settled = server.engine.poll_event();
    assert!(matches!(settled, Some(Event::Settled(..))));
    server.drain();
    assert_eq!(server.lanes, [Lane::Reply(ticket.key()); 2]);
}

#[test]
fn the_end_of_input_ends_questions_and_leaves_answers() {
    let (mut server, ticket) = Server::at_work();
    let call = server.ask(ticket.key());
    server.engine.close_input();
    assert_eq!(server.poll(call), Poll::Ready(Err(PeerCallError::Closed)));
    let mut again = NewCall::new("roots/list", JsonObject::new());
    again.lane = Lane::Reply(ticket.key());
    let refused = server.engine.call_polled(server.now, again);
    assert_eq!(refused, Err(SendError::Closed));
    server
        .engine
        .answer(ticket, Err(pintle_model::Error::internal()));
    server.drain();
    assert_eq!(server.sent.last().expect("an answer")["id"], 2);
}

#[test]
fn the_end_of_the_conversation_settles_questions() {
    let (mut server, ticket) = Server::at_work();
    let call = server.ask(ticket.key());
    server.engine.handle_input(server.now, Input::Closed);
    assert!(matches!(server.poll(call), Poll::Ready(Err(_))));
}

#[test]
fn unread_outcomes_count_as_open_calls() {
    let (mut server, ticket) = Server::at_work();
    for _ in 0..Limits::default().max_calls {
        server.ask(ticket.key());
        let id = server.sent.last().expect("it was sent")["id"].clone();
        server.receive(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
    }
    let mut call = NewCall::new("roots/list", JsonObject::new());
    call.lane = Lane::Reply(ticket.key());
    assert_eq!(
        server.engine.call_polled(server.now, call),
        Err(SendError::TooManyCalls { limit: 256 })
    );
}

#[test]
fn a_client_without_a_session_is_not_asked() {
    let terms = Arc::new(Terms::new(pintle_model::Revision::LATEST_LEGACY));
    let mut engine = Connection::exchange(profile(), Arc::new(Limits::default()), terms);
    let call = NewCall::new("roots/list", JsonObject::new());
    assert_eq!(
        engine.call_polled(Instant::now(), call),
        Err(SendError::ClientUnreachable)
    );
}
