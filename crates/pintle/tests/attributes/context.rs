//! The context of handlers: an admitted request without a driver.

use std::sync::Arc;
use std::time::Instant;

use pintle::model::jsonrpc::Message;
use pintle::model::{Implementation, ServerCapabilities};
use pintle::proto::{Connection, Event, Limits, ServerProfile};
use pintle::runtime::{Context, SharedEngine};

pub(crate) fn context() -> Context {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("test", "1.0.0"), capabilities);
    let mut engine = Connection::server(Arc::new(profile), Arc::new(Limits::default()));
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test","_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1.0.0"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    engine.receive(Instant::now(), Message::parse(line).expect("a message"));
    let Some(Event::Request(_, incoming)) = engine.poll_event() else {
        panic!("the request was not admitted");
    };
    Context::new(incoming, Arc::new(SharedEngine::new(engine)))
}
