//! For tests of single handlers: contexts of a request that was admitted and is not driven, and a
//! log of events.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pintle_model::jsonrpc::Message;
use pintle_model::{Implementation, ServerCapabilities};
use pintle_proto::{Connection, Event, IncomingRequest, Limits, ServerProfile};
use pintle_runtime::{Context, Extensions, Principal, SharedEngine};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Metadata, Subscriber};

/// The context of a call of the tool `test` by an anonymous caller.
pub(crate) fn context() -> Context {
    context_of(None, Extensions::new())
}

/// The context of a call of the tool `test` by `principal`, with the values attached to it.
pub(crate) fn context_of(principal: Option<Principal>, extensions: Extensions) -> Context {
    context_with(principal, extensions, |_| ())
}

/// As [`context_of`], for a request that `change` has changed.
pub(crate) fn context_with(
    principal: Option<Principal>,
    extensions: Extensions,
    change: impl FnOnce(&mut IncomingRequest),
) -> Context {
    let mut capabilities = ServerCapabilities::default();
    capabilities.tools = Some(Default::default());
    let profile = ServerProfile::new(Implementation::new("test", "1.0.0"), capabilities);
    let mut engine = Connection::server(Arc::new(profile), Arc::new(Limits::default()));
    let mut incoming = admitted(&mut engine);
    change(&mut incoming);
    let engine_handle = Arc::new(SharedEngine::new(engine));
    Context::with(incoming, engine_handle, principal, extensions)
}

fn admitted(engine: &mut Connection) -> IncomingRequest {
    let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test","_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1.0.0"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let message = Message::parse(line).expect("the line is a message");
    engine.receive(Instant::now(), message);
    match engine.poll_event() {
        Some(Event::Request(_, incoming)) => *incoming,
        other => panic!("the request was not admitted: {other:?}"),
    }
}

/// A subscriber that writes every event into a text, one field a line.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    /// Runs `work`, and returns the events that it made on this thread.
    pub(crate) fn of(work: impl FnOnce()) -> String {
        let (log, guard) = Self::scoped();
        work();
        drop(guard);
        log.text()
    }

    /// A log of the events of this thread until the guard is dropped.
    pub(crate) fn scoped() -> (Self, DefaultGuard) {
        let log = Self::default();
        let guard = tracing::subscriber::set_default(log.clone());
        (log, guard)
    }

    /// The events so far.
    pub(crate) fn text(&self) -> String {
        self.0.lock().expect("the log is not poisoned").clone()
    }
}

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = self.0.lock().expect("the log is not poisoned");
        writeln!(text, "{field}: {value:?}").expect("a text has room");
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
        let level = *event.metadata().level();
        self.0
            .lock()
            .expect("the log is not poisoned")
            .push_str(&format!("{level}\n"));
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
