//! A lookup that returns the same answer every time, and a server that cannot be reached.

use pintle_model::Tool;
use pintle_proto::lifecycle::Binding;
use pintle_proto::{TransportError, TransportErrorKind};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{BoxFuture, Connect, Transport, Wire};

use super::ToolLookup;
use crate::client::{Client, ClientBuilder};
use crate::error::CallError;

/// A lookup with one answer; it records the names that it is asked for.
pub(crate) struct FakeLookup {
    answer: Result<Option<Tool>, CallError>,
    names: Mutex<Vec<String>>,
}

impl FakeLookup {
    pub(crate) fn new(answer: Result<Option<Tool>, CallError>) -> Self {
        Self {
            answer,
            names: Mutex::default(),
        }
    }

    /// A lookup that fails every time.
    pub(crate) fn failing() -> Self {
        let method = "tools/list".into();
        Self::new(Err(CallError::Closed { method }))
    }

    /// The names that the lookup was asked for, oldest first.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.names.lock();
        names.clone()
    }
}

impl ToolLookup for FakeLookup {
    fn look_up(&self, name: &str) -> BoxFuture<'_, Result<Option<Tool>, CallError>> {
        let mut names = self.names.lock();
        names.push(name.to_owned());
        Box::pin(std::future::ready(self.answer.clone()))
    }
}

/// A client of an HTTP server that cannot be reached.
pub(crate) fn offline(builder: ClientBuilder) -> Client {
    builder.connect_lazily(Unreachable).expect("a client")
}

/// A tool without parameters.
pub(crate) fn tool(name: &str) -> Tool {
    let mut schema = pintle_model::JsonObject::new();
    schema.insert("type".into(), "object".into());
    Tool::new(name, schema)
}

struct Unreachable;

enum NoTransport {}

impl Connect for Unreachable {
    type Transport = NoTransport;

    async fn connect(&self) -> Result<NoTransport, TransportError> {
        Err(TransportError::new(TransportErrorKind::Unreachable))
    }

    fn binding(&self) -> Binding {
        Binding::Http
    }
}

impl Transport for NoTransport {
    async fn run(self, _: Wire) -> Result<(), TransportError> {
        match self {}
    }
}
