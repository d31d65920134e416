use std::collections::BTreeSet;
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_model::{Implementation, Meta, ServerCapabilities};
use pintle_proto::{Connection, Limits, ServerProfile};
use pintle_runtime::SharedEngine;
use serde_json::{Value, json};

use super::*;

const LISTENERS: usize = 1_000;

/// Many conversations of one hub.
struct Crowd {
    changes: Changes,
    conversations: Vec<Arc<SharedEngine>>,
}

impl Crowd {
    fn new() -> Self {
        let mut capabilities = ServerCapabilities::default().with_tools().with_resources();
        capabilities.tools.get_or_insert_default().list_changed = Some(true);
        capabilities.resources.get_or_insert_default().subscribe = Some(true);
        let identity = Implementation::new("crowd", "1");
        let profile = Arc::new(ServerProfile::new(identity, capabilities));
        let limits = Arc::new(Limits::default());
        let changes = Changes::default();
        let conversations: Vec<_> = (0..LISTENERS)
            .map(|_| Connection::server(Arc::clone(&profile), Arc::clone(&limits)))
            .map(|engine| Arc::new(SharedEngine::new(engine)))
            .collect();
        for conversation in &conversations {
            changes.attach(Arc::downgrade(conversation) as Weak<dyn EngineHandle>);
        }
        Self {
            changes,
            conversations,
        }
    }

    /// Every conversation receives one message of its client.
    fn receive(&self, message: impl Fn(usize) -> Value) {
        for (number, conversation) in self.conversations.iter().enumerate() {
            let line = message(number).to_string();
            let parsed = Message::parse(line.as_bytes()).expect("a message");
            conversation.drive(|engine| engine.receive(Instant::now(), parsed));
        }
    }

    /// The next message of every conversation, with the place of the part they may share.
    fn said(&self) -> Vec<(Value, *const u8)> {
        let next = |conversation: &Arc<SharedEngine>| {
            let frame = conversation
                .poll_transmit()
                .expect("something is said")
                .frame;
            let value = serde_json::from_slice(&frame.to_vec()).expect("JSON");
            (value, frame.into_pieces()[1].as_ptr())
        };
        self.conversations.iter().map(next).collect()
    }
}

/// Integers and strings that look alike.
fn id_of(number: usize) -> Value {
    match number % 2 {
        0 => json!(number / 2),
        _ => json!((number / 2).to_string()),
    }
}

fn listen(number: usize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id_of(number), "method": "subscriptions/listen", "params": {
        "notifications": { "toolsListChanged": true, "resourceSubscriptions": ["a:1"] },
        "_meta": { Meta::PROTOCOL_VERSION: "2026-07-28", Meta::CLIENT_CAPABILITIES: {} } } })
}

fn places(said: &[(Value, *const u8)]) -> BTreeSet<*const u8> {
    said.iter().map(|(_, place)| *place).collect()
}

// spec: 2026-07-28 N-SUBS-03, N-SUBS-07, N-SUBS-12, N-SUBS-18, N-SUBS-22
#[test]
fn a_thousand_listeners_receive_one_rendering_each_with_its_own_id() {
    let crowd = Crowd::new();
    crowd.receive(listen);
    crowd.changes.tools();
    crowd.changes.resource("a:1");
    crowd
        .conversations
        .iter()
        .for_each(|one| one.drive(Connection::end_listens));

    for (number, (first, _)) in crowd.said().iter().enumerate() {
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(
            first["params"]["_meta"][Meta::SUBSCRIPTION_ID],
            id_of(number)
        );
    }
    for uri in [Value::Null, json!("a:1")] {
        let said = crowd.said();
        assert_eq!(places(&said).len(), 1, "rendered once");
        for (number, (notice, _)) in said.iter().enumerate() {
            assert_eq!(
                notice["params"]["_meta"][Meta::SUBSCRIPTION_ID],
                id_of(number)
            );
            assert_eq!(notice["params"]["uri"], uri);
        }
    }
    for (number, (last, _)) in crowd.said().iter().enumerate() {
        assert_eq!(last["id"], id_of(number));
        assert_eq!(
            last["result"]["_meta"][Meta::SUBSCRIPTION_ID],
            id_of(number)
        );
    }
}

// spec: 2025-11-25 TOOL-04, RES-03, RES-05
#[test]
fn a_thousand_sessions_receive_one_rendering() {
    let crowd = Crowd::new();
    let client = json!({ "name": "t", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    crowd.receive(
        |_| json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
    );
    crowd.receive(|_| json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    crowd.receive(|number| {
        let uri = format!("a:{}", number % 2);
        json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": uri } })
    });
    crowd.said();
    crowd.said();

    crowd.changes.tools();
    let said = crowd.said();
    assert_eq!(places(&said).len(), 1, "rendered once");
    let expected = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    assert!(said.iter().all(|(notice, _)| *notice == expected));

    crowd.changes.resource("a:1");
    let hears = |conversation: &&Arc<SharedEngine>| conversation.poll_transmit().is_some();
    assert_eq!(
        crowd.conversations.iter().filter(hears).count(),
        LISTENERS / 2
    );
}
