//! A server whose service answers requests that change settings of a session.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_model::{Error, Implementation, LoggingLevel, ServerCapabilities};
use pintle_proto::{Connection, Event, Output, Reply, ServerProfile};
use serde_json::{Value, json};

fn server() -> Connection {
    let mut capabilities = ServerCapabilities::default();
    capabilities.logging = Some(Default::default());
    capabilities.resources.get_or_insert_default().subscribe = Some(true);
    let profile = ServerProfile::new(Implementation::new("t", "1"), capabilities);
    Connection::server(Arc::new(profile.with_passed_settings()), Arc::default())
}

/// Sends a message; answers its request with `reply`. Returns the methods of requests and notices, and the sent messages.
fn send(engine: &mut Connection, message: &Value, is_refused: bool) -> (Vec<String>, Vec<Value>) {
    let text = message.to_string();
    engine.receive(
        Instant::now(),
        Message::parse(text.as_bytes()).expect("a message"),
    );
    let (mut events, mut sent) = (Vec::new(), Vec::new());
    loop {
        match engine.poll_output() {
            Output::Event(Event::Request(ticket, request)) => {
                events.push(request.method.as_str().to_owned());
                let revision = request.terms.revision;
                let reply = Reply::complete(pintle_model::EmptyResult::default(), revision);
                let refused = Err(Error::invalid_params("no"));
                engine.answer(ticket, if is_refused { refused } else { reply });
            }
            Output::Event(Event::Notification(notice)) => {
                events.push(notice.method.as_str().to_owned());
            }
            Output::Event(_) => {}
            Output::Transmit(transmit) => {
                sent.push(serde_json::from_slice(&transmit.frame.to_vec()).expect("JSON"));
            }
            Output::Wait(_) => return (events, sent),
        }
    }
}

fn session() -> Connection {
    let mut engine = server();
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    send(&mut engine, &open, false);
    engine
}

#[test]
fn the_service_answers_after_the_engine_has_applied_a_setting() {
    let mut engine = session();
    let subscribe = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe",
        "params": { "uri": "a:b" } });
    let (events, sent) = send(&mut engine, &subscribe, true);
    assert_eq!(events, ["resources/subscribe"]);
    assert_eq!(sent[0]["error"]["code"], -32602);
    assert!(engine.subscribed_uris().contains("a:b") && engine.listened_uris().is_empty());
    let level = json!({ "jsonrpc": "2.0", "id": 3, "method": "logging/setLevel",
        "params": { "level": "error" } });
    let (events, sent) = send(&mut engine, &level, false);
    assert_eq!(events, ["logging/setLevel"]);
    assert_eq!(sent[0]["result"], json!({}));
    let terms = engine.session_terms().expect("a session");
    assert_eq!(terms.log_level, Some(LoggingLevel::Error));
    let unsubscribe = json!({ "jsonrpc": "2.0", "id": 4, "method": "resources/unsubscribe",
        "params": { "uri": "a:b" } });
    assert_eq!(
        send(&mut engine, &unsubscribe, false).0,
        ["resources/unsubscribe"]
    );
    assert!(engine.subscribed_uris().is_empty());
}

#[test]
fn the_service_is_notified_of_a_new_listener() {
    let mut engine = server();
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": { "resourceSubscriptions": ["a:b"] },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    assert!(!engine.has_listeners());
    assert_eq!(
        send(&mut engine, &listen, false).0,
        ["subscriptions/listen"]
    );
    assert!(engine.has_listeners() && engine.listened_uris().contains("a:b"));
}
