//! A single request behaves alike, at whatever moment its engine is made.

use std::sync::Arc;

use pintle_model::jsonrpc::Message;
use pintle_model::{
    CallToolResult, Error, ErrorCode, Implementation, Revision, ServerCapabilities,
};
use pintle_proto::{
    Event, IncomingRequest, Limits, PeerIdentity, Reply, RequestKey, ServerProfile, SingleRequest,
    Terms, Ticket, TransmitKind,
};
use serde_json::Value;

const CALL: &str = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}"#;

/// One change of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Step {
    /// Makes the engine, without a change.
    Engine,
    Progress,
    Answer,
    Fail,
    Send,
    Close,
}

use Step::{Answer, Close, Engine, Fail, Progress, Send};

/// Everything that callers see of a request after one step.
#[derive(Debug, PartialEq)]
struct Seen {
    sent: Vec<(TransmitKind, Value)>,
    is_open: bool,
    has_output: bool,
}

fn receive(limits: Limits, text: &str) -> (SingleRequest, Option<(Ticket, Box<IncomingRequest>)>) {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("s", "1"), capabilities);
    let terms = Arc::new(Terms::new(Revision::V2026_07_28));
    let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
        panic!("not a request: {text}");
    };
    let (profile, limits) = (Arc::new(profile), Arc::new(limits));
    SingleRequest::receive(profile, limits, terms, PeerIdentity::Anonymous, request)
}

fn sent(request: &mut SingleRequest) -> Vec<(TransmitKind, Value)> {
    std::iter::from_fn(|| request.poll_transmit())
        .map(|transmit| {
            let text = transmit.frame.to_vec();
            (
                transmit.kind,
                serde_json::from_slice(&text).expect("a message"),
            )
        })
        .collect()
}

/// Plays steps; returns the view after each of them, and the state of the engine in the end.
fn play(limits: &Limits, steps: &[Step]) -> (Vec<Seen>, (bool, usize, usize)) {
    let (mut request, handled) = receive(limits.clone(), CALL);
    let (ticket, incoming) = handled.expect("a handler");
    let (mut ticket, key) = (Some(ticket), incoming.key);
    let mut views = Vec::new();
    for step in steps {
        let mut taken = Vec::new();
        match step {
            Engine => drop(request.engine()),
            Progress => request.engine().progress(key, 1.0, None, None),
            Answer => answer(&mut request, &mut ticket, reply()),
            Fail => {
                let error = Error::new(ErrorCode::INTERNAL_ERROR, "no");
                answer(&mut request, &mut ticket, Err(error));
            }
            Send => taken = sent(&mut request),
            Close => {
                request.close();
                // The driver takes the event of the cancellation.
                while let Some(Event::Cancelled(of)) = request.poll_event() {
                    assert_eq!(of, key);
                }
            }
        }
        if *step != Engine {
            views.push(Seen {
                sent: taken,
                is_open: request.is_open(key),
                has_output: request.has_output(),
            });
        }
    }
    let engine = request.engine();
    let state = (engine.is_closed(), engine.in_flight(), engine.queued());
    (views, state)
}

fn answer(request: &mut SingleRequest, ticket: &mut Option<Ticket>, reply: Result<Reply, Error>) {
    if let Some(ticket) = ticket.take() {
        request.answer(ticket, reply);
    }
}

fn reply() -> Result<Reply, Error> {
    Reply::complete(CallToolResult::text("done"), Revision::V2026_07_28)
}

/// All sequences of `length` steps without [`Engine`].
fn sequences(length: u32) -> impl Iterator<Item = Vec<Step>> {
    let steps = [Progress, Answer, Fail, Send, Close];
    (0..steps.len().pow(length)).map(move |number| {
        (0..length)
            .map(|at| steps[number / steps.len().pow(at) % steps.len()])
            .collect()
    })
}

#[test]
fn no_step_shows_when_the_engine_was_made() {
    let mut small = Limits::default();
    small.max_outgoing_bytes = 60;
    for limits in [Limits::default(), small] {
        for steps in sequences(4) {
            let expected = play(&limits, &steps);
            for at in 0..=steps.len() {
                let mut with_engine = steps.clone();
                with_engine.insert(at, Engine);
                assert_eq!(play(&limits, &with_engine), expected, "{with_engine:?}");
            }
        }
    }
}

#[test]
fn a_request_that_is_only_answered_has_no_engine() {
    let (mut request, handled) = receive(Limits::default(), CALL);
    let (ticket, _) = handled.expect("a handler");
    request.answer(ticket, reply());
    assert_eq!(sent(&mut request).len(), 1);
    request.close();
    assert!(!request.has_engine());
}

#[test]
fn a_refused_request_is_answered_by_its_engine() {
    let unknown = r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#;
    let mut full = Limits::default();
    full.max_waiting_requests = 0;
    for (limits, text) in [(Limits::default(), unknown), (full, CALL)] {
        let (mut request, handled) = receive(limits, text);
        assert!(handled.is_none());
        let [(_, answer)] = &sent(&mut request)[..] else {
            panic!("not one answer");
        };
        assert!(answer["error"].is_object(), "{answer}");
    }
}

#[test]
fn a_request_with_another_key_is_not_open() {
    let (request, _) = receive(Limits::default(), CALL);
    assert!(!request.is_open(RequestKey::NONE));
}
