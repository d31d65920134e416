//! A served server: its transport, its records, and the signals that stop it.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
#[cfg(unix)]
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pintle::auth::resource::{RequireBearer, RequireBearerError};
use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::http::{
    Health, HostPolicy, HttpLimits, HttpOptions, HttpServer, ServeError, ServeHttp as _,
};
use pintle::runtime::{
    BoxFuture, BoxService, PipeOptions, Service as _, Shutdown, ShutdownHandle, serve_streams,
};

use tokio::task::JoinSet;

use crate::observation::{Observation, ObservationError};
use crate::observe::Observer;
use crate::signal::stop_signal;
use crate::stdio::Stdio;
use crate::transport::{BearerPolicy, Exposure, Transport};

/// How a server is served.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Serving {
    /// The transport to serve on.
    pub transport: Transport,
    /// Whether `/healthz` and `/readyz` are answered over HTTP; false by default.
    pub health: bool,
    /// Whether the transport of 2024-11-05 is also served over HTTP, at `/sse`; false by default.
    pub sse: bool,
    /// The quota of each client over HTTP; none by default.
    pub quota: Option<RequestQuota>,
    /// The records that the operator requests; none by default.
    pub observation: Observation,
}

/// Requests that each client may send in an interval. Clients with the same address are one, unless they have tokens.
/// With a shared state the quota holds for all replicas together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestQuota {
    /// The number of requests.
    pub requests: NonZeroUsize,
    /// The length of an interval.
    pub interval: Duration,
}

impl RequestQuota {
    fn limit(self, limits: &mut HttpLimits) {
        limits.max_requests_per_peer = self.requests.get();
        limits.quota_interval = self.interval;
    }
}

impl Serving {
    /// Returns the options of a server at a transport, without health and records.
    pub fn new(transport: Transport) -> Self {
        Self {
            transport,
            health: false,
            sse: false,
            quota: None,
            observation: Observation::default(),
        }
    }
}

/// An event that the operator of the server is notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ServingEvent {
    /// The server is served on standard input and output.
    StdioStarted,
    /// The server is served over HTTP, at this address.
    HttpStarted(SocketAddr),
    /// The server is served at this Unix socket.
    #[cfg(unix)]
    UnixStarted(PathBuf),
    /// The server is not served any more, over HTTP or at a Unix socket.
    Ended,
    /// The metrics are served at this address.
    MetricsStarted(SocketAddr),
}

/// The server cannot be served, or its transport failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServingError {
    /// The tokens that the server accepts are not valid settings.
    #[error(transparent)]
    Bearer(#[from] RequireBearerError),
    /// The HTTP server cannot listen.
    #[error(transparent)]
    Http(#[from] ServeError),
    /// The Unix socket cannot be listened on.
    #[cfg(unix)]
    #[error("the socket {} cannot be served: {error}", path.display())]
    Unix {
        /// The path of the socket.
        path: PathBuf,
        /// The reason of the system.
        error: io::Error,
    },
    /// The records that the operator requests cannot be made.
    #[error(transparent)]
    Observation(#[from] ObservationError),
    /// Standard streams or signals of the process cannot be used.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves until the peer disconnects, or a signal ends the program: see [`stop_signal`]. `report` receives the
/// events.
///
/// # Errors
///
/// [`ServingError`]: the server cannot start, or its transport failed.
// The future is boxed, because the compiler generates its code in the crate that boxes or awaits it.
pub fn serve(
    service: BoxService,
    serving: Serving,
    report: fn(ServingEvent),
) -> BoxFuture<'static, Result<(), ServingError>> {
    Box::pin(in_task(run(service, serving, None, report)))
}

/// Serves on standard streams that the program has taken before, as [`serve`] with [`Transport::Stdio`].
///
/// # Errors
///
/// As [`serve`].
pub fn serve_stdio(
    service: BoxService,
    stdio: Stdio,
    observation: Observation,
    report: fn(ServingEvent),
) -> BoxFuture<'static, Result<(), ServingError>> {
    let mut serving = Serving::new(Transport::Stdio);
    serving.observation = observation;
    Box::pin(in_task(run(service, serving, Some(stdio), report)))
}

/// Runs a future as a task, because each wake of the first future of a runtime with one thread costs a system call.
/// Dropping the future ends the task.
async fn in_task(
    future: impl Future<Output = Result<(), ServingError>> + Send + 'static,
) -> Result<(), ServingError> {
    let mut task = JoinSet::new();
    task.spawn(future);
    match task.join_next().await {
        Some(Ok(ended)) => ended,
        Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Some(Err(_)) | None => Ok(()),
    }
}

async fn run(
    service: BoxService,
    serving: Serving,
    stdio: Option<Stdio>,
    report: fn(ServingEvent),
) -> Result<(), ServingError> {
    let started = |address| report(ServingEvent::MetricsStarted(address));
    let identity = service.profile().identity().clone();
    let mut observer = Observer::start(&identity, serving.observation, started).await?;
    let service = observer.layers(service);
    let mut options = HttpOptions::default();
    options.serve_health = serving.health;
    if let Some(quota) = serving.quota {
        quota.limit(&mut options.limits);
    }
    let end = match serving.transport {
        Transport::Stdio => over_stdio(service, stdio, &mut observer, report).await,
        #[cfg(unix)]
        Transport::Unix(path) => over_unix(service, &path, &mut observer, report).await,
        Transport::Http { address, exposure } => {
            let address = (address, options);
            let listener = Listener {
                exposure,
                has_sse: serving.sse,
            };
            over_http(service, address, listener, &mut observer, report).await
        }
    };
    observer.finish().await;
    end
}

async fn over_stdio(
    service: BoxService,
    stdio: Option<Stdio>,
    observer: &mut Observer,
    report: fn(ServingEvent),
) -> Result<(), ServingError> {
    observer.serve(None);
    let options = pipe_options()?;
    report(ServingEvent::StdioStarted);
    let stdio = stdio.map_or_else(Stdio::take, Ok)?;
    serve_streams(Arc::new(service), stdio.into_streams(), options).await?;
    Ok(())
}

#[cfg(unix)]
async fn over_unix(
    service: BoxService,
    path: &Path,
    observer: &mut Observer,
    report: fn(ServingEvent),
) -> Result<(), ServingError> {
    let unusable = |error| ServingError::Unix {
        path: path.to_owned(),
        error,
    };
    let (listener, file) = crate::unix_socket::bind(path).map_err(unusable)?;
    observer.serve(None);
    let options = pipe_options()?;
    report(ServingEvent::UnixStarted(path.to_owned()));
    pintle::runtime::serve_unix(Arc::new(service), listener, options).await?;
    drop(file);
    report(ServingEvent::Ended);
    Ok(())
}

/// Returns the options of a pipe that a signal ends.
fn pipe_options() -> io::Result<PipeOptions> {
    let mut options = PipeOptions::default();
    options.shutdown = stopped()?;
    Ok(options)
}

fn stopped() -> io::Result<Shutdown> {
    let (shutdown, signal) = ShutdownHandle::new();
    let end = stop_signal()?;
    tokio::spawn(async move {
        end.await;
        shutdown.begin();
    });
    Ok(signal)
}

/// The clients of a listener, and whether it has the transport of 2024-11-05.
struct Listener {
    exposure: Exposure,
    has_sse: bool,
}

async fn over_http(
    service: BoxService,
    (address, mut options): (SocketAddr, HttpOptions),
    Listener { exposure, has_sse }: Listener,
    observer: &mut Observer,
    report: fn(ServingEvent),
) -> Result<(), ServingError> {
    let (server, health) = match exposure {
        Exposure::TokenHolders(policy) => serve_guarded(&policy, service, address, options).await?,
        Exposure::AnyClient | Exposure::Loopback => {
            options.allow_insecure_bind = exposure == Exposure::AnyClient;
            let Ok(service) = service.into_http_with(options);
            let health = service.health();
            (HttpServer::bind(service, address).await?, health)
        }
    };
    let server = match has_sse {
        true => server.with_sse(),
        false => server,
    };
    observer.serve(Some(health));
    let end = stop_signal()?;
    report(ServingEvent::HttpStarted(server.address()?));
    server.run_until(end).await;
    report(ServingEvent::Ended);
    Ok(())
}

/// Listens behind a layer that accepts only requests with a token. Names of this machine are
/// accepted as hosts, too, because a web page that uses such a name has no token.
async fn serve_guarded(
    policy: &BearerPolicy,
    service: BoxService,
    address: SocketAddr,
    mut options: HttpOptions,
) -> Result<(HttpServer<BoxService>, Health), ServingError> {
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
    let Ok(service) = service.into_http_with(options);
    let health = service.health();
    let server = HttpServer::bind_with_layer(layer, service, address).await?;
    Ok((server, health))
}
