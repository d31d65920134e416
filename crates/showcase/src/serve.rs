//! The served showcase: its transports, and the signals that stop it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use pintle::auth::resource::{RequireBearer, RequireBearerError};
use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::http::{Health, HostPolicy, HttpOptions, HttpServer, ServeError, ServeHttp as _};
use pintle::runtime::{BoxFuture, PipeOptions, ShutdownHandle, serve_stdio};
use pintle::server::{App, Server, StartError};
use pintle::{StateError, StateUrl};

use crate::observation::{Observation, ObservationError};
use crate::observe::Observer;

/// Options of the served showcase.
#[derive(Debug, PartialEq, Eq)]
pub struct Serving {
    /// The transport to serve on.
    pub transport: Transport,
    /// Number of entries on a page of a list; `None` for the default of the server.
    pub page_size: Option<NonZeroUsize>,
    /// The state that replicas share; `None` for that of the environment variable `PINTLE_STATE`.
    pub state: Option<StateUrl>,
    /// Whether `/healthz` and `/readyz` are answered over HTTP.
    pub health: bool,
    /// The records that the operator requests.
    pub observation: Observation,
}

/// Transport of the showcase.
#[derive(Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP at an address.
    Http {
        /// The address to listen on.
        address: SocketAddr,
        /// The clients that are accepted.
        exposure: Exposure,
    },
}

/// The clients that the server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exposure {
    /// Clients on this machine, without a token. An address that is not loopback is rejected.
    Loopback,
    /// Every client that reaches the address, without a token.
    AnyClient,
    /// Clients that reach the address and have a token.
    TokenHolders(BearerPolicy),
}

/// The tokens that the server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BearerPolicy {
    /// Issuer that signed the token.
    pub issuer: String,
    /// Audience of the token.
    pub audience: String,
    /// Scopes that the token must have.
    pub scopes: Vec<String>,
}

/// An event that the operator of the showcase is notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServingEvent {
    /// The showcase is served on standard input and output.
    StdioStarted,
    /// The showcase is served over HTTP, at this address.
    HttpStarted(SocketAddr),
    /// The showcase is not served over HTTP any more.
    HttpEnded,
    /// The metrics are served at this address.
    MetricsStarted(SocketAddr),
}

/// The showcase cannot be served, or its transport failed.
#[derive(Debug, thiserror::Error)]
pub enum ServingError {
    /// The description of the server is not valid.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The shared state cannot be opened.
    #[error(transparent)]
    State(#[from] StateError),
    /// The tokens that the server accepts are not valid settings.
    #[error(transparent)]
    Bearer(#[from] RequireBearerError),
    /// The HTTP server cannot listen.
    #[error(transparent)]
    Http(#[from] ServeError),
    /// The records that the operator requests cannot be made.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// Standard streams or signals of the process cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves until the peer disconnects, Ctrl-C, or SIGTERM. `report` receives the events.
///
/// # Errors
///
/// The server cannot start, or its transport failed.
// The future is boxed, because the compiler generates its code in the crate that boxes or awaits it.
pub fn serve(
    serving: Serving,
    report: fn(ServingEvent),
) -> BoxFuture<'static, Result<(), ServingError>> {
    Box::pin(run(serving, report))
}

async fn run(serving: Serving, report: fn(ServingEvent)) -> Result<(), ServingError> {
    let server = paged(crate::server(), serving.page_size);
    let server = match StateUrl::of_program(serving.state) {
        Some(url) => server.state_backend(url.open().await?),
        None => server,
    };
    let started = |address| report(ServingEvent::MetricsStarted(address));
    let mut observer = Observer::start(serving.observation, started).await?;
    let server = observer.layers(server);
    let mut options = HttpOptions::default();
    options.serve_health = serving.health;
    let end = match serving.transport {
        Transport::Stdio => over_stdio(server, &mut observer, report).await,
        Transport::Http { address, exposure } => {
            let address = (address, options);
            over_http(server, address, exposure, &mut observer, report).await
        }
    };
    observer.finish().await;
    end
}

fn paged(server: Server, size: Option<NonZeroUsize>) -> Server {
    match size {
        Some(size) => server.page_size(size.get()),
        None => server,
    }
}

async fn over_stdio(
    server: Server,
    observer: &mut Observer,
    report: fn(ServingEvent),
) -> Result<(), ServingError> {
    observer.serve(None);
    let app = Arc::new(server.build()?);
    let mut options = PipeOptions::default();
    let (shutdown, signal) = ShutdownHandle::new();
    options.shutdown = signal;
    let end = stop_signal()?;
    tokio::spawn(async move {
        end.await;
        shutdown.begin();
    });
    report(ServingEvent::StdioStarted);
    serve_stdio(app, options).await?;
    Ok(())
}

async fn over_http(
    server: Server,
    (address, mut options): (SocketAddr, HttpOptions),
    exposure: Exposure,
    observer: &mut Observer,
    report: fn(ServingEvent),
) -> Result<(), ServingError> {
    let (server, health) = match exposure {
        Exposure::TokenHolders(policy) => serve_guarded(&policy, server, address, options).await?,
        Exposure::AnyClient | Exposure::Loopback => {
            options.allow_insecure_bind = exposure == Exposure::AnyClient;
            let service = server.into_http_with(options)?;
            let health = service.health();
            (HttpServer::bind(service, address).await?, health)
        }
    };
    observer.serve(Some(health));
    let end = stop_signal()?;
    report(ServingEvent::HttpStarted(server.address()?));
    server.run_until(end).await;
    report(ServingEvent::HttpEnded);
    Ok(())
}

/// Listens behind a layer that accepts only requests with a token. Names of this machine are
/// accepted as hosts, too, because a web page that uses such a name has no token.
async fn serve_guarded(
    policy: &BearerPolicy,
    server: Server,
    address: SocketAddr,
    mut options: HttpOptions,
) -> Result<(HttpServer<App>, Health), ServingError> {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let scopes = policy.scopes.iter();
    let layer = scopes
        .fold(
            RequireBearer::jwks(&policy.issuer, fetch).audience(&policy.audience),
            |all, scope| all.require(scope),
        )
        .build()?;
    options.host_policy = HostPolicy::hosts([layer.host(), "localhost", "127.0.0.1", "[::1]"])
        .map_err(|error| ServeError::Server(Box::new(error)))?;
    let service = server.into_http_with(options)?;
    let health = service.health();
    let server = HttpServer::bind_with_layer(layer, service, address).await?;
    Ok((server, health))
}

/// Returns a future that is ready on Ctrl-C or SIGTERM. The handlers are installed at once.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut terminated = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

/// Returns a future that is ready on Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()> + Send> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
