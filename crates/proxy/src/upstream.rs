//! The server behind the proxy, and the clients in front of it.

use std::fmt;
use std::sync::{Arc, Weak};

use pintle::client::{
    Client, ClientBuilder, ClientOptions, ConnectError, EraMode, OutputCheck, ServerInfo,
};
use pintle::model::{Feature, Implementation};
use pintle::proto::{Change, Limits, ServerProfile};
use pintle::runtime::EngineHandle;
use pintle::runtime::sync::Mutex;

use crate::options::ProxyOptions;
use crate::tools::Tools;

/// Returns a client that connects to the server.
pub(crate) type Connect = dyn Fn(ClientBuilder) -> Result<Client, ConnectError> + Send + Sync;

/// The server behind the proxy, and the clients in front of it.
pub(crate) struct Upstream {
    pub(crate) connect: Box<Connect>,
    pub(crate) options: ProxyOptions,
    pub(crate) server: ServerInfo,
    pub(crate) tools: Tools,
    /// The conversations with clients.
    attached: Mutex<Vec<Weak<dyn EngineHandle>>>,
}

impl Upstream {
    pub(crate) fn new(connect: Box<Connect>, options: ProxyOptions, server: ServerInfo) -> Self {
        Self {
            connect,
            tools: Tools::new(options.max_header_tools),
            options,
            server,
            attached: Mutex::default(),
        }
    }

    /// Whether the server has sessions, as up to 2025-11-25.
    pub(crate) fn is_stateful(&self) -> bool {
        self.server.revision.has(Feature::Handshake)
    }

    /// Whether the server has log messages.
    pub(crate) fn has_logs(&self) -> bool {
        self.server.capabilities.logging.is_some()
    }

    /// Lists the tools of the server, where the headers of its clients are verified.
    pub(crate) async fn list_tools(&self, client: &Client) {
        if self.options.list_tools_first && self.server.capabilities.tools.is_some() {
            self.tools.list(client).await;
        }
    }

    /// Returns the configuration of a client of the server. The era of the server is known.
    pub(crate) fn client(&self) -> ClientBuilder {
        let client = client_of(&self.options);
        match self.is_stateful() {
            true => client.mode(EraMode::Legacy),
            false => client,
        }
    }

    /// Adds a conversation with a client.
    pub(crate) fn attach(&self, handle: Weak<dyn EngineHandle>) {
        let mut attached = self.attached.lock();
        attached.retain(|handle| handle.strong_count() > 0);
        attached.push(handle);
    }

    /// Returns the conversations with clients.
    pub(crate) fn attached(&self) -> Vec<Arc<dyn EngineHandle>> {
        self.attached
            .lock()
            .iter()
            .filter_map(Weak::upgrade)
            .collect()
    }

    /// Returns the conversations that listen to changes.
    pub(crate) fn listening(&self) -> Vec<Arc<dyn EngineHandle>> {
        let mut attached = self.attached();
        attached.retain(|handle| {
            let mut listens = false;
            handle.engine(&mut |engine| listens |= engine.has_listeners());
            listens
        });
        attached
    }

    /// Sends a change to all clients.
    pub(crate) fn publish(&self, change: &Change) {
        for handle in self.attached() {
            handle.engine(&mut |engine| engine.publish(change));
        }
    }

    /// Returns the server's description of itself, as clients of the proxy receive it.
    pub(crate) fn profile(&self) -> ServerProfile {
        let identity = match &self.server.identity {
            Some(identity) => Implementation::clone(identity),
            None => Implementation::new("pintle-proxy", env!("CARGO_PKG_VERSION")),
        };
        ServerProfile::new(identity, (*self.server.capabilities).clone())
            .with_instructions(self.server.instructions.clone())
            .with_passed_settings()
    }
}

/// Returns the configuration of a client that passes everything on: without a cache and without checks.
pub(crate) fn client_of(options: &ProxyOptions) -> ClientBuilder {
    let mut client = ClientOptions::default();
    (client.max_cached_results, client.watch_cache) = (0, false);
    client.connect_timeout = options.connect_timeout;
    client.probe_timeout = options.connect_timeout / 2;
    let mut limits = Limits::default();
    limits.max_calls = options.max_calls;
    limits.question_timeout = options.question_timeout;
    client.limits = Arc::new(limits);
    let builder = Client::builder().options(client);
    builder.check_output(OutputCheck::Off)
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
