//! The client to judge: a function that lets it visit a scripted server.

use std::fmt;
use std::sync::Arc;

use pintle_runtime::BoxFuture;

use super::transport::StdioServer;
use crate::level::Carrier;

type Visiting = dyn Fn(ScriptedServer) -> BoxFuture<'static, bool> + Send + Sync;

/// A server that is ready for a visit.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ScriptedServer {
    /// A URL of the loopback.
    Http(String),
    /// A server for any number of byte streams.
    Stdio(StdioServer),
}

/// A client to judge. Clones are the same client.
#[derive(Clone)]
pub struct Visitor {
    pub(crate) carrier: Carrier,
    visit: Arc<Visiting>,
}

impl Visitor {
    /// A client that visits a URL. The future is complete at the end of the visit, with true for success.
    pub fn http(
        visit: impl Fn(String) -> BoxFuture<'static, bool> + Send + Sync + 'static,
    ) -> Self {
        Self {
            carrier: Carrier::Http,
            visit: Arc::new(move |server| match server {
                ScriptedServer::Http(url) => visit(url),
                ScriptedServer::Stdio(_) => Box::pin(async { false }),
            }),
        }
    }

    /// A client that speaks over byte streams. The future is complete at the end of the visit, with true for success.
    pub fn stdio(
        visit: impl Fn(StdioServer) -> BoxFuture<'static, bool> + Send + Sync + 'static,
    ) -> Self {
        Self {
            carrier: Carrier::Stdio,
            visit: Arc::new(move |server| match server {
                ScriptedServer::Stdio(server) => visit(server),
                ScriptedServer::Http(_) => Box::pin(async { false }),
            }),
        }
    }

    pub(crate) fn visit(&self, server: ScriptedServer) -> BoxFuture<'static, bool> {
        (self.visit)(server)
    }
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Visitor").field(&self.carrier).finish()
    }
}
