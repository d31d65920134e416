//! The proxy as a service.

use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use pintle::client::{Client, ClientBuilder, ConnectError, ServerInfo};
use pintle::model::method::{Listen, Method, Notice, RootsChanged};
use pintle::model::{ClientCapabilities, Error};
use pintle::proto::{Change, IncomingNotice, Reply, ServerProfile};
use pintle::runtime::sync::Mutex;
use pintle::runtime::{
    BoxFuture, Context, EngineHandle, IntoService, ParamHeader, Principal, Service,
};
use tokio::sync::Semaphore;

use crate::connections::Connections;
use crate::draining::Draining;
use crate::error::ProxyError;
use crate::filter::{Filters, PromptFilter, ResourceFilter, ToolFilter};
use crate::link::Link;
use crate::options::ProxyOptions;
use crate::parked::Parked;
use crate::tasks::Tasks;
use crate::upstream::{Connect, Upstream, client_of, declared};

/// Interval of the removal of ended sessions and expired calls.
const SWEEP: Duration = Duration::from_secs(1);

/// A server for clients of every revision, which passes all requests to another server. Clones are the same
/// proxy.
#[derive(Clone)]
pub struct Proxy(pub(crate) Arc<Shared>);

/// The state of a proxy.
pub(crate) struct Shared {
    pub(crate) upstream: Arc<Upstream>,
    profile: Mutex<Arc<ServerProfile>>,
    pub(crate) draining: Draining,
    /// One permit: one connection is replaced for its age at a time.
    pub(crate) renewal: Arc<Semaphore>,
    pub(crate) connections: Connections,
    pub(crate) parked: Parked,
    pub(crate) tasks: Arc<Tasks>,
}

/// A proxy that is not connected yet.
#[must_use = "a proxy is made by connecting it"]
pub struct ProxyBuilder {
    connect: Box<Connect>,
    options: ProxyOptions,
    filter: Filters,
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
            filter: Filters::default(),
            first: ClientCapabilities::default(),
        }
    }

    /// Returns the description of the server behind the proxy.
    pub fn server(&self) -> ServerInfo {
        self.0.upstream.server()
    }

    /// Returns the number of open conversations with clients.
    pub fn clients(&self) -> usize {
        self.0.upstream.attached().len()
    }

    /// Replaces all connections to the server: after a change of its program, for example. The sessions of clients stay,
    /// and clients are notified of changed lists. A running call ends on its earlier connection, unless the next
    /// replacement comes first. If the server cannot be reached, the present connections stay.
    ///
    /// # Errors
    ///
    /// [`ProxyError`].
    pub async fn replace(&self) -> Result<(), ProxyError> {
        let upstream = &self.0.upstream;
        let builder = client_of(&upstream.options, &upstream.filter.tools);
        let declares = self.0.connections.latest_capabilities();
        let (first, server) = open(&*upstream.connect, builder, declares).await?;
        upstream.set_server(server);
        upstream.list_tools(first.client()).await;
        *self.0.profile.lock() = Arc::new(upstream.profile());
        let earlier = self.0.connections.replace(upstream, first);
        let unfinished = self.0.draining.take();
        for link in &earlier {
            self.0.draining.add(link, None);
        }
        drop(earlier);
        for link in unfinished {
            link.client().close().await;
        }
        self.0.connections.follow(upstream);
        for change in [Change::Tools, Change::Prompts, Change::Resources] {
            upstream.publish(&change);
        }
        Ok(())
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

    /// Sets the tools that clients see; all by default.
    pub fn tools(mut self, filter: ToolFilter) -> Self {
        self.filter.tools = filter;
        self
    }

    /// Sets the prompts that clients see; all by default.
    pub fn prompts(mut self, filter: PromptFilter) -> Self {
        self.filter.prompts = filter;
        self
    }

    /// Sets the resources that clients see; all by default.
    pub fn resources(mut self, filter: ResourceFilter) -> Self {
        self.filter.resources = filter;
        self
    }

    /// Sets the capabilities of the first client, where they are known; none by default. The first connection
    /// declares them, and the first client that has the same uses it. So one client starts one process.
    pub fn first_client(mut self, capabilities: ClientCapabilities) -> Self {
        self.first = declared(&capabilities).into_owned();
        self
    }

    /// Opens a first connection, and reads the description of the server.
    ///
    /// # Errors
    ///
    /// [`ProxyError`].
    pub async fn connect(self) -> Result<Proxy, ProxyError> {
        self.filter.check()?;
        let declares = match self.options.is_shared {
            true => ClientCapabilities::default(),
            false => self.first,
        };
        let builder = client_of(&self.options, &self.filter.tools);
        let (first, server) = open(&*self.connect, builder, declares.clone()).await?;
        let upstream = Upstream::new(self.connect, (self.options, self.filter), server);
        upstream.list_tools(first.client()).await;
        let shared = Arc::new(Shared {
            profile: Mutex::new(Arc::new(upstream.profile())),
            draining: Draining::default(),
            renewal: Arc::new(Semaphore::new(1)),
            upstream: Arc::new(upstream),
            connections: Connections::new(first, declares),
            parked: Parked::default(),
            tasks: Arc::default(),
        });
        tokio::spawn(sweep(Arc::downgrade(&shared)));
        Ok(Proxy(shared))
    }
}

impl Shared {
    /// Returns the server's description of itself, as clients of the proxy receive it.
    pub(crate) fn profile(&self) -> Arc<ServerProfile> {
        Arc::clone(&self.profile.lock())
    }
}

/// Opens a connection that belongs to no clients yet, and reads the description of the server.
async fn open(
    connect: &Connect,
    builder: ClientBuilder,
    capabilities: ClientCapabilities,
) -> Result<(Arc<Link>, ServerInfo), ProxyError> {
    let link = Link::build(connect, builder, capabilities).map_err(ProxyError::Client)?;
    let server = link.client().open().await.map_err(ProxyError::Connect)?;
    Ok((link, server))
}

/// Removes ended sessions and expired calls while the proxy exists.
async fn sweep(proxy: Weak<Shared>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        let Some(proxy) = proxy.upgrade() else {
            return;
        };
        proxy.parked.sweep();
        proxy.upstream.remainders.sweep();
        proxy.connections.sweep(&proxy.upstream);
        proxy.tasks.sweep(proxy.upstream.options.park_timeout);
        proxy.draining.sweep();
        proxy.renew_aged();
    }
}

impl Service for Proxy {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        self.0.answer(&cx).await
    }

    fn profile(&self) -> Arc<ServerProfile> {
        self.0.profile()
    }

    fn param_headers(&self, tool: &str, _principal: Option<&Principal>) -> Arc<[ParamHeader]> {
        let upstream = &self.0.upstream;
        upstream
            .filter
            .tools
            .headers(tool, |name| upstream.tools.headers(name))
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
            self.0.tasks.clear();
            let draining = self.0.draining.take();
            for link in self.0.connections.clear().into_iter().chain(draining) {
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
            .field("server", &self.server())
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
