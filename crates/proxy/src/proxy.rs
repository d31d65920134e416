//! The proxy as a service.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle::client::{Client, ClientBuilder, ConnectError, ServerInfo};
use pintle::model::method::{Listen, Method, Notice, RootsChanged};
use pintle::model::{ClientCapabilities, Error};
use pintle::proto::{IncomingNotice, Reply, ServerProfile};
use pintle::runtime::{
    BoxFuture, Context, EngineHandle, IntoService, ParamHeader, Principal, Service,
};

use crate::connections::{Connections, declared};
use crate::error::ProxyError;
use crate::link::Link;
use crate::options::ProxyOptions;
use crate::parked::Parked;
use crate::upstream::{Connect, Upstream, client_of};

/// Interval of the removal of ended sessions and expired calls.
const SWEEP: Duration = Duration::from_secs(1);

/// A server for clients of every revision, which passes all requests to another server. Clones are the same
/// proxy.
#[derive(Clone)]
pub struct Proxy(Arc<Shared>);

/// The state of a proxy.
pub(crate) struct Shared {
    pub(crate) upstream: Arc<Upstream>,
    profile: Arc<ServerProfile>,
    pub(crate) connections: Connections,
    pub(crate) parked: Parked,
}

/// A proxy that is not connected yet.
#[must_use = "a proxy is made by connecting it"]
pub struct ProxyBuilder {
    connect: Box<Connect>,
    options: ProxyOptions,
    first: ClientCapabilities,
}

impl Proxy {
    /// Connects to a server with the default options. The proxy calls the closure for each connection; it
    /// returns a client of the server.
    ///
    /// # Errors
    ///
    /// [`ProxyError`].
    pub async fn connect(
        connect: impl Fn(ClientBuilder) -> Result<Client, ConnectError> + Send + Sync + 'static,
    ) -> Result<Self, ProxyError> {
        Self::builder(connect).connect().await
    }

    /// Returns the configuration of a proxy with the default options.
    pub fn builder(
        connect: impl Fn(ClientBuilder) -> Result<Client, ConnectError> + Send + Sync + 'static,
    ) -> ProxyBuilder {
        ProxyBuilder {
            connect: Box::new(connect),
            options: ProxyOptions::default(),
            first: ClientCapabilities::default(),
        }
    }

    /// Returns the description of the server behind the proxy.
    pub fn server(&self) -> &ServerInfo {
        &self.0.upstream.server
    }

    /// Returns the number of open connections to the server.
    pub fn connections(&self) -> usize {
        self.0.connections.all().len()
    }
}

impl ProxyBuilder {
    /// Sets all limits and timeouts.
    pub fn options(mut self, options: ProxyOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the capabilities of the first client, where they are known; none by default. The first connection
    /// declares them, and the first client that has the same uses it. So one client starts one process.
    pub fn first_client(mut self, capabilities: ClientCapabilities) -> Self {
        self.first = declared(&capabilities);
        self
    }

    /// Opens a first connection, and reads the description of the server.
    ///
    /// # Errors
    ///
    /// [`ProxyError`].
    pub async fn connect(self) -> Result<Proxy, ProxyError> {
        let builder = client_of(&self.options);
        let first = Link::build(&*self.connect, builder, self.first.clone());
        let first = first.map_err(ProxyError::Client)?;
        let server = first.client().open().await.map_err(ProxyError::Connect)?;
        let upstream = Upstream::new(self.connect, self.options, server);
        upstream.list_tools(first.client()).await;
        let shared = Arc::new(Shared {
            profile: Arc::new(upstream.profile()),
            upstream: Arc::new(upstream),
            connections: Connections::new(first, self.first),
            parked: Parked::default(),
        });
        tokio::spawn(sweep(Arc::downgrade(&shared)));
        Ok(Proxy(shared))
    }
}

/// Removes ended sessions and expired calls while the proxy exists.
async fn sweep(proxy: Weak<Shared>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(proxy) = proxy.upgrade() else {
            return;
        };
        proxy.parked.sweep();
        proxy.connections.sweep(&proxy.upstream);
    }
}

impl Service for Proxy {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.answer(&cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.0.profile)
    }

    fn param_headers(&self, tool: &str, _principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        self.0.upstream.tools.headers(tool)
    }

    fn notified(&self, notified: IncomingNotice) {
        match notified.method.as_str() {
            RootsChanged::NAME => {
                for link in self.0.connections.all() {
                    let _ = link.client().notify(RootsChanged::NAME, None);
                }
            }
            Listen::NAME => self.0.connections.follow(&self.0.upstream),
            _ => {}
        }
    }

    fn attach(&self, engine: Weak<dyn EngineHandle>) {
        self.0.upstream.attach(engine);
        self.0.connections.follow(&self.0.upstream);
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.0.parked.clear();
            for link in self.0.connections.clear() {
                link.client().close().await;
            }
        })
    }
}

impl IntoService for Proxy {
    type Service = Self;
    type Error = Infallible;

    fn into_service(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("server", &self.0.upstream.server)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ProxyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyBuilder")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
