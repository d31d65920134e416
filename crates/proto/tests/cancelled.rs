//! Why a peer cancels is written into the log, and nothing else with it.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_model::{Implementation, ServerCapabilities};
use pintle_proto::{Connection, Event, Limits, ServerProfile};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

/// Logged fields, one per line.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = self.0.lock().expect("nobody panics");
        writeln!(text, "{field}: {value:?}").expect("text has room");
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn receive(engine: &mut Connection, message: &Value) {
    let text = message.to_string();
    let message = Message::parse(text.as_bytes()).expect("a message");
    engine.receive(Instant::now(), message);
}

// spec: 2025-11-25 CANC-11, CANC-12
// spec: 2026-07-28 N-CANC-14 (log)
#[test]
fn the_reason_of_a_cancellation_is_logged_on_one_line() {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("test", "1.0.0"), capabilities);
    let mut engine = Connection::server(Arc::new(profile), Arc::new(Limits::default()));
    receive(
        &mut engine,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "t", "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} } } }),
    );
    assert!(matches!(engine.poll_event(), Some(Event::Request(..))));
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        for id in [1, 7] {
            let params = json!({ "requestId": id, "reason": "the user\nlost patience" });
            receive(
                &mut engine,
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
            );
        }
    });
    let text = log.0.lock().expect("nobody panics");
    assert_eq!(
        text.matches("reason").count(),
        1,
        "of what was cancelled: {text}"
    );
    assert!(text.contains(r"the user\nlost patience"), "{text}");
}
