//! Contexts for tests of single handlers: a request that was admitted, and nobody who drives it.

use std::sync::Arc;
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_model::{Implementation, ServerCapabilities};
use pintle_proto::{Connection, Event, Incoming, Limits, ServerProfile};
use pintle_runtime::{Context, Conversation, Extensions, Principal};

/// The context of a request of nobody in particular.
pub(crate) fn context() -> Context {
    context_of(None, Extensions::new())
}

/// The context of a request of `principal`, with whatever was attached to it.
pub(crate) fn context_of(principal: Option<Principal>, extensions: Extensions) -> Context {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("test", "1.0.0"), capabilities);
    let mut engine = Connection::server(Arc::new(profile), Arc::new(Limits::default()));
    let incoming = admitted(&mut engine);
    let outlet = Arc::new(Conversation::new(engine));
    Context::with(&incoming, outlet, principal, extensions)
}

fn admitted(engine: &mut Connection) -> Incoming {
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test","_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1.0.0"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let message = Message::parse(line).expect("the line is a message");
    engine.receive(Instant::now(), message);
    match engine.poll_event() {
        Some(Event::Request(_, incoming)) => incoming,
        other => panic!("the request was not admitted: {other:?}"),
    }
}
