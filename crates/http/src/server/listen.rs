//! An endpoint on a port of its own, without a web framework.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use pintle_runtime::{Host, Service, ShutdownHandle, StartHookError};
use tokio::net::{TcpListener, ToSocketAddrs};
use tower_layer::Layer;
use tower_service::Service as TowerService;

use super::HttpService;
use super::accept::Acceptor;
use super::site::{Front, Outermost, Site};

/// Why an endpoint could not be served.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The author of the server got something wrong.
    #[error("invalid server definition")]
    Server(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A hook that runs before the first request failed.
    #[error(transparent)]
    Start(#[from] StartHookError),
    /// The address is not loopback, so every client in the network could use the server.
    #[error(
        "{address} is not a loopback address, and clients are not authenticated; \
         use an authenticating layer (`HttpServer::bind_with_layer`), \
         or set `allow_insecure_bind` if a proxy authenticates them"
    )]
    Exposed {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The address is not loopback, but only loopback hosts are allowed, so every request would fail.
    #[error(
        "{address} is not a loopback address, but only loopback hosts are allowed; \
         allow the hosts that clients request (`HostPolicy::hosts`)"
    )]
    Unreachable {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("the server cannot listen on the address")]
    Listen(#[source] io::Error),
}

/// The sentences themselves: this is what a `main` that returns the error prints.
impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        let mut cause = std::error::Error::source(self);
        while let Some(reason) = cause {
            write!(f, ": {reason}")?;
            cause = reason.source();
        }
        Ok(())
    }
}

/// A listening endpoint: HTTP/1.1 on one port, at `/mcp`.
pub struct HttpServer<S> {
    listener: TcpListener,
    site: Site<S>,
    layer: Option<BoxLayer<S>>,
}

/// Puts a layer around a site.
type BoxLayer<S> = Box<dyn FnOnce(Site<S>) -> Front<S> + Send>;

impl<S: Service> HttpServer<S> {
    /// Listens on an address. Port 0 is any free port: see [`HttpServer::address`].
    ///
    /// # Errors
    ///
    /// - [`ServeError::Exposed`] for an address that is not loopback, unless `allow_insecure_bind` was
    ///   set, because clients are not authenticated.
    /// - [`ServeError::Listen`] if the address is taken or not ours.
    /// - [`ServeError::Start`] if a hook of the start fails.
    pub async fn bind(
        service: HttpService<S>,
        address: impl ToSocketAddrs,
    ) -> Result<Self, ServeError> {
        let addresses = resolve(address).await?;
        if let Some(address) = exposed(&addresses)
            && !service.options().allow_insecure_bind
        {
            return Err(ServeError::Exposed { address });
        }
        Self::listen(service, &addresses).await
    }

    /// Listens on an address, behind a layer that decides who may come, such as `RequireBearer` of
    /// `pintle-auth`. It goes around every path, also those where there is nothing. A request for a
    /// host that is not served is refused before the layer gets it.
    ///
    /// # Errors
    ///
    /// - [`ServeError::Unreachable`] for an address that is not loopback while only loopback names are
    ///   served, unless `allow_insecure_bind` was set.
    /// - [`ServeError::Listen`] if the address is taken or not ours.
    /// - [`ServeError::Start`] if a hook of the start fails.
    pub async fn bind_with_layer<L, B>(
        layer: L,
        service: HttpService<S>,
        address: impl ToSocketAddrs,
    ) -> Result<Self, ServeError>
    where
        L: Layer<Site<S>> + Send + 'static,
        L::Service: TowerService<Request<Incoming>, Response = Response<B>, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as TowerService<Request<Incoming>>>::Future: Send,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let addresses = resolve(address).await?;
        if let Some(address) = exposed(&addresses)
            && !service.options().names_others()
        {
            return Err(ServeError::Unreachable { address });
        }
        let endpoint = service.clone();
        let mut server = Self::listen(service, &addresses).await?;
        server.layer = Some(Box::new(move |site| {
            let service = layer.layer(site);
            Front::Layered(Arc::new(Outermost { service, endpoint }))
        }));
        Ok(server)
    }

    async fn listen(service: HttpService<S>, addresses: &[SocketAddr]) -> Result<Self, ServeError> {
        let listener = TcpListener::bind(addresses)
            .await
            .map_err(ServeError::Listen)?;
        service.start().await?;
        Ok(Self {
            listener,
            site: Site::new(service),
            layer: None,
        })
    }

    /// Serves at another path than `/mcp`. Everything else is answered 404.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.site.at(path);
        self
    }

    /// Serves the transport of 2024-11-05 beside it: streams at `/sse`, messages at `/messages`.
    #[cfg(feature = "sse")]
    #[must_use]
    pub fn with_sse(mut self) -> Self {
        self.site.serve_sse();
        self
    }

    /// The address that is listened on.
    ///
    /// # Errors
    ///
    /// The error of the operating system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` is ready. Then the server is not ready (`/readyz`) but still serves for
    /// [`HttpLimits::shutdown_delay`](crate::server::HttpLimits::shutdown_delay). Then nothing new is accepted, streams end, tasks are released to other
    /// replicas, and running requests may finish within [`HttpLimits::drain_timeout`](crate::server::HttpLimits::drain_timeout).
    /// At last the hooks of the stop run.
    pub async fn run_until(self, end: impl Future<Output = ()>) {
        let (closing, closed) = ShutdownHandle::new();
        let service = self.site.service().clone();
        let front = match self.layer {
            Some(layer) => layer(self.site),
            None => Front::Bare(self.site),
        };
        let mut ended = closed.clone();
        let acceptor = Acceptor::new(self.listener, service.clone(), front, closed);
        // Beside the requests that finish, because another replica can run the tasks at once.
        let leaving = async {
            ended.begun().await;
            service.leave().await;
        };
        tokio::join!(acceptor.run_until(closing, end), leaving);
        service.stop().await;
    }

    /// Serves until the process is asked to end (Ctrl-C, or SIGTERM on Unix).
    pub async fn run(self) {
        self.run_until(asked_to_end()).await;
    }
}

impl<S> fmt::Debug for HttpServer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("listener", &self.listener)
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

async fn resolve(address: impl ToSocketAddrs) -> Result<Vec<SocketAddr>, ServeError> {
    let found = tokio::net::lookup_host(address).await;
    Ok(found.map_err(ServeError::Listen)?.collect())
}

/// One of the addresses that others than this machine reach.
fn exposed(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let is_exposed = |address: &&SocketAddr| !Host::from(address.ip()).is_loopback();
    addresses.iter().find(is_exposed).copied()
}

async fn asked_to_end() {
    let interrupted = async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        () = interrupted => {}
        () = terminated() => {}
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_other_machines_are_exposed() {
        for (text, is_exposed) in [
            ("127.0.0.1:0", false),
            ("127.0.0.2:0", false),
            ("[::1]:0", false),
            ("[::ffff:127.0.0.1]:0", false),
            ("0.0.0.0:0", true),
            ("[::]:0", true),
            ("[::ffff:0.0.0.0]:0", true),
            ("192.0.2.1:0", true),
        ] {
            let address: SocketAddr = text.parse().expect("an address");
            assert_eq!(exposed(&[address]).is_some(), is_exposed, "{text}");
        }
    }
}
