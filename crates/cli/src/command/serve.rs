//! `pintle serve`: serves the showcase until the command is stopped.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use pintle::auth::resource::{RequireBearer, RequireBearerError};
use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::http::{HostPolicy, HttpOptions, HttpServer, ServeError, ServeHttp as _};
use pintle::runtime::{PipeOptions, ShutdownHandle, serve_stdio};
use pintle::server::{App, Server, StartError};

use crate::args::ServeArgs;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::showcase;

/// Options of the served showcase.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Serving {
    /// The transport to serve on.
    pub(crate) transport: Transport,
    /// Number of entries on a page of a list; `None` for the default of the server.
    pub(crate) page_size: Option<NonZeroUsize>,
}

/// Transport of the showcase.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Transport {
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
pub(crate) enum Exposure {
    /// Clients on this machine, without a token. An address that is not loopback is rejected.
    Loopback,
    /// Every client that reaches the address, without a token.
    AnyClient,
    /// Clients that reach the address and have a token.
    TokenHolders(BearerPolicy),
}

/// The tokens that the server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BearerPolicy {
    /// Issuer that signed the token.
    pub(crate) issuer: String,
    /// Audience of the token.
    pub(crate) audience: String,
    /// Scopes that the token must have.
    pub(crate) scopes: Vec<String>,
}

impl From<ServeArgs> for Serving {
    fn from(args: ServeArgs) -> Self {
        Self {
            page_size: args.page_size,
            transport: args.into(),
        }
    }
}

impl From<ServeArgs> for Transport {
    fn from(args: ServeArgs) -> Self {
        if args.stdio {
            return Self::Stdio;
        }
        let exposure = match (args.auth_issuer, args.audience) {
            (Some(issuer), Some(audience)) => Exposure::TokenHolders(BearerPolicy {
                issuer,
                audience,
                scopes: args.require_scope,
            }),
            _ if args.allow_insecure_bind => Exposure::AnyClient,
            _ => Exposure::Loopback,
        };
        Self::Http {
            address: args.http,
            exposure,
        }
    }
}

/// Serves until the peer disconnects, Ctrl-C, or SIGTERM.
pub(crate) async fn run(serving: Serving) -> Result<(), CliError> {
    let server = paged(showcase::server(), serving.page_size);
    match serving.transport {
        Transport::Stdio => over_stdio(server).await,
        Transport::Http { address, exposure } => over_http(server, address, exposure).await,
    }
}

fn paged(server: Server, size: Option<NonZeroUsize>) -> Server {
    match size {
        Some(size) => server.page_size(size),
        None => server,
    }
}

async fn over_stdio(server: Server) -> Result<(), CliError> {
    let app = Arc::new(server.build()?);
    let mut options = PipeOptions::default();
    let (shutdown, signal) = ShutdownHandle::new();
    options.shutdown = signal;
    let end = stop_signal()?;
    tokio::spawn(async move {
        end.await;
        shutdown.begin();
    });
    output::serving_stdio();
    serve_stdio(app, options).await?;
    Ok(())
}

async fn over_http(
    server: Server,
    address: SocketAddr,
    exposure: Exposure,
) -> Result<(), CliError> {
    let server = match exposure {
        Exposure::TokenHolders(policy) => serve_guarded(&policy, server, address).await?,
        Exposure::AnyClient | Exposure::Loopback => {
            let mut options = HttpOptions::default();
            options.allow_insecure_bind = exposure == Exposure::AnyClient;
            HttpServer::bind(server.into_http_with(options)?, address).await?
        }
    };
    let end = stop_signal()?;
    output::serving_http(server.address()?);
    server.run_until(end).await;
    output::ended();
    Ok(())
}

/// Listens behind a layer that accepts only requests with a token. Names of this machine are
/// accepted as hosts, too, because a web page that uses such a name has no token.
async fn serve_guarded(
    policy: &BearerPolicy,
    server: Server,
    address: SocketAddr,
) -> Result<HttpServer<App>, CliError> {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    let scopes = policy.scopes.iter();
    let layer = scopes
        .fold(
            RequireBearer::jwks(&policy.issuer, fetch).audience(&policy.audience),
            |all, scope| all.require(scope),
        )
        .build()?;
    let mut options = HttpOptions::default();
    options.host_policy = HostPolicy::hosts([layer.host(), "localhost", "127.0.0.1", "[::1]"])
        .map_err(|error| ServeError::Server(Box::new(error)))?;
    let service = server.into_http_with(options)?;
    Ok(HttpServer::bind_with_layer(layer, service, address).await?)
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

/// An address that is not loopback.
#[derive(Debug)]
struct ExposedAddressError {
    address: SocketAddr,
}

impl fmt::Display for ExposedAddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.address;
        write!(
            f,
            "{address} is not a loopback address, so any client that reaches it could use the server; \
             add --auth-issuer and --audience to require a token, or --allow-insecure-bind to accept \
             every client"
        )
    }
}

impl Error for ExposedAddressError {}

impl From<StartError> for CliError {
    fn from(error: StartError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl From<RequireBearerError> for CliError {
    fn from(error: RequireBearerError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl From<ServeError> for CliError {
    fn from(error: ServeError) -> Self {
        match error {
            ServeError::Exposed { address } => {
                Self::new(Exit::Usage, ExposedAddressError { address })
            }
            error => Self::new(Exit::Unreachable, error),
        }
    }
}
