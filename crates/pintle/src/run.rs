//! The `main` of a server: the command line selects the transport.

use std::fmt;
use std::future::Future;
use std::io::Write as _;
use std::sync::Arc;

#[cfg(feature = "auth-server")]
use tokio::net::ToSocketAddrs;

use pintle_runtime::{IntoService, PipeOptions, Service as _, serve_stdio};

use crate::command_line::{CommandLine, HttpSettings, Transport};
use crate::{Error, Result};

/// Serves until the peer is gone, on the transport that the command line names.
pub trait Run: IntoService + Sized + Send {
    /// Serves on standard streams, or over HTTP with `--http ADDRESS`: `--http 127.0.0.1:8000`, `--http localhost:8000`.
    /// The endpoint is `/mcp`, and its URL is written to standard error. With `--health` the port answers
    /// `/healthz` and `/readyz` as well. `--help` prints the arguments.
    ///
    /// Over HTTP it ends at Ctrl-C, and at SIGTERM on Unix: running requests may finish within 10 s. With
    /// `--shutdown-delay SECONDS` it accepts requests for so long before that, so that a load balancer notices: see
    /// `HttpLimits::shutdown_delay`. With `--quota REQUESTS` each client has so many requests in a minute, or in the
    /// time of `--quota-interval SECONDS`: see `HttpLimits::max_requests_per_peer`. For other limits bind an `HttpServer`.
    ///
    /// With `--state URL`, or the URL in the environment variable `PINTLE_STATE`, replicas share the state of
    /// the server: `pintle::state` has the URLs. This needs the feature `replicas`, which the engines add.
    ///
    /// If the program has set up no subscriber for `tracing`, warnings and errors of these crates
    /// go to standard error: at most 100 lines a minute, of at most 4 KiB each.
    ///
    /// # Errors
    ///
    /// An invalid description of the server, an invalid command line, and every failure of the transport.
    fn run(self) -> impl Future<Output = Result<(), RunError>> + Send;

    /// Serves on standard streams until standard input ends, whatever the command line contains.
    ///
    /// # Errors
    ///
    /// An invalid description of the server, and every failure of standard streams.
    fn serve_stdio(self) -> impl Future<Output = Result<(), RunError>> + Send;

    /// Serves over HTTP at `/mcp` until the process receives Ctrl-C, or SIGTERM on Unix. Accepts requests
    /// for the host of the guard only, and with a valid token only. TLS is the task of a proxy in front.
    ///
    /// # Errors
    ///
    /// An invalid description of the server, an invalid host, and an address that cannot be bound.
    #[cfg(feature = "auth-server")]
    fn serve_http_with_bearer(
        self,
        guard: pintle_auth::resource::RequireBearer,
        address: impl ToSocketAddrs + Send,
    ) -> impl Future<Output = Result<(), RunError>> + Send;
}

impl<T: IntoService + Send> Run for T {
    async fn run(self) -> Result<(), RunError> {
        run(self).await.map_err(RunError)
    }

    async fn serve_stdio(self) -> Result<(), RunError> {
        on_stdio(self).await.map_err(RunError)
    }

    #[cfg(feature = "auth-server")]
    async fn serve_http_with_bearer(
        self,
        guard: pintle_auth::resource::RequireBearer,
        address: impl ToSocketAddrs + Send,
    ) -> Result<(), RunError> {
        let server = bind_with_bearer(self, guard, address).await;
        server.map_err(RunError)?.run().await;
        Ok(())
    }
}

/// Error of a server that does not start, or of its transport.
///
/// It is an error type, so `?` converts it into `pintle::Error`, `anyhow::Error` and any other error that
/// accepts errors. Its text, `Debug` and source are those of the cause.
pub struct RunError(Error);

impl RunError {
    /// Returns the cause, for a comparison by its type: a `StartError`, an `io::Error` or another error.
    pub fn into_cause(self) -> Error {
        self.0
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

async fn run<T: IntoService + Send>(server: T) -> Result<()> {
    crate::fallback::install();
    let line = CommandLine::parse(std::env::args_os().skip(1))?;
    if line.transport == Transport::Help {
        return print_help();
    }
    let server = with_state(server, line.state).await?;
    match line.transport {
        Transport::Http(address) => serve_http(server, &address, line.http).await,
        Transport::Stdio | Transport::Help => on_stdio(server).await,
    }
}

async fn on_stdio<T: IntoService>(server: T) -> Result<()> {
    let service = Arc::new(server.into_service()?);
    // Started here as well, because an error of standard streams would hide this one.
    service.start().await?;
    let served = serve_stdio(Arc::clone(&service), PipeOptions::default()).await;
    service.stop().await;
    served?;
    Ok(())
}

#[cfg(feature = "auth-server")]
async fn bind_with_bearer<T: IntoService>(
    server: T,
    guard: pintle_auth::resource::RequireBearer,
    address: impl ToSocketAddrs,
) -> Result<pintle_http::HttpServer<T::Service>> {
    let mut options = pintle_http::HttpOptions::default();
    options.host_policy = pintle_http::HostPolicy::hosts([guard.host()])?;
    let service = pintle_http::HttpService::new(server.into_service()?, options);
    Ok(pintle_http::HttpServer::bind_with_layer(guard, service, address).await?)
}

/// Opens the state that the command line or the environment names, and passes it to the server.
#[cfg(feature = "replicas")]
async fn with_state<T: IntoService>(mut server: T, flag: Option<String>) -> Result<T> {
    let Some(url) = crate::StateUrl::of_program(flag.map(Into::into)) else {
        return Ok(server);
    };
    let state = url.open().await?;
    if server.accept_state(&state) {
        return Ok(server);
    }
    Err("this server shares no state: remove --state and PINTLE_STATE".into())
}

#[cfg(not(feature = "replicas"))]
async fn with_state<T: IntoService>(server: T, flag: Option<String>) -> Result<T> {
    let is_set = |url: std::ffi::OsString| !url.is_empty();
    if flag.is_some() || std::env::var_os("PINTLE_STATE").is_some_and(is_set) {
        return Err(
            "this program was built without shared state; enable the feature `replicas` of the crate `pintle`"
                .into(),
        );
    }
    Ok(server)
}

#[cfg(feature = "http")]
async fn serve_http(
    server: impl IntoService + Send,
    address: &str,
    settings: HttpSettings,
) -> Result<()> {
    use pintle_http::{HttpOptions, HttpServer, ServeHttp};
    use std::num::NonZeroUsize;
    let mut options = HttpOptions::default();
    options.serve_health = settings.health;
    let usual = options.limits.shutdown_delay;
    options.limits.shutdown_delay = settings.shutdown_delay.unwrap_or(usual);
    let usual = options.limits.max_requests_per_peer;
    options.limits.max_requests_per_peer = settings.quota.map_or(usual, NonZeroUsize::get);
    let usual = options.limits.quota_interval;
    options.limits.quota_interval = settings.quota_interval.unwrap_or(usual);
    let server = HttpServer::bind(server.into_http_with(options)?, address).await?;
    let url = format!("http://{}/mcp", server.address()?);
    // Only people read it; the server runs without.
    let _ = writeln!(std::io::stderr(), "listening on {url}");
    server.run().await;
    Ok(())
}

#[cfg(not(feature = "http"))]
async fn serve_http(
    _server: impl IntoService + Send,
    _address: &str,
    _settings: HttpSettings,
) -> Result<()> {
    Err(
        "this program was built without HTTP; enable the feature `http` of the crate `pintle`"
            .into(),
    )
}

fn print_help() -> Result<()> {
    let program = std::env::args_os().next().unwrap_or_default();
    let program = std::path::Path::new(&program).file_name();
    let program = program.unwrap_or("server".as_ref()).display();
    writeln!(
        std::io::stdout(),
        "An MCP server.\n\n\
         Usage: {program} [--stdio | --http ADDRESS [--health] [--shutdown-delay SECONDS]\n       \
         [--quota REQUESTS [--quota-interval SECONDS]]] [--state URL]\n\n\
         Options:\n  \
           --stdio         Serve on standard input and output; the default\n  \
           --http ADDRESS  Serve over HTTP at /mcp, such as --http 127.0.0.1:8000\n  \
           --health        Answer /healthz and /readyz over HTTP\n  \
           --shutdown-delay SECONDS\n                  \
                           Accept requests over HTTP for so long after SIGTERM; /readyz is 503 then\n  \
           --quota REQUESTS\n                  \
                           Requests of each client in a minute; more are answered 429\n                  \
                           With --state it holds for all replicas together\n  \
           --quota-interval SECONDS\n                  \
                           Another interval of the quota\n  \
           --state URL     Share the state with other replicas, such as --state sqlite:state.sqlite\n                  \
                           Default: the environment variable PINTLE_STATE\n  \
           --help          Print this text"
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_runs_on_a_task_of_its_own() {
        fn can_be_spawned(_: impl Future<Output: Send> + Send + 'static) {}
        can_be_spawned(pintle_server::Server::new("spawned", "1").run());
        can_be_spawned(pintle_server::Server::new("spawned", "1").serve_stdio());
    }

    #[tokio::test]
    async fn an_error_at_the_start_is_an_error_type_with_its_cause() {
        use pintle_server::{Server, StartError, Tool};
        fn is_error<E: std::error::Error + Send + Sync + 'static>(_: &E) {}
        let twice = || Tool::new("twice").handler(async || "");
        let server = || {
            Server::new("broken", "1")
                .add_tool(twice())
                .add_tool(twice())
        };
        let error = server().serve_stdio().await.expect_err("two tools");
        is_error(&error);
        let expected = server().into_service().map(drop).expect_err("two tools");
        assert_eq!(error.to_string(), expected.to_string());
        assert_eq!(format!("{error:?}"), format!("{expected:?}"));
        assert!(error.into_cause().is::<StartError>());
        let main = || async { Ok::<(), anyhow::Error>(server().serve_stdio().await?) };
        let error = main().await.expect_err("two tools");
        assert_eq!(error.to_string(), expected.to_string());
    }

    /// The status line of the answer to one POST.
    #[cfg(feature = "auth-server")]
    async fn post(address: std::net::SocketAddr, host: &str) -> String {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let stream = tokio::net::TcpStream::connect(address).await;
        let mut stream = stream.expect("a connection");
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}"
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("answered");
        answer.lines().next().unwrap_or_default().to_owned()
    }

    #[cfg(feature = "auth-server")]
    #[tokio::test]
    async fn a_server_with_bearer_serves_one_host_and_requires_a_token() {
        use pintle_http::client::{DocumentClient, HttpClientOptions};
        let fetch = DocumentClient::new(&HttpClientOptions::default());
        let guard = pintle_auth::resource::RequireBearer::jwks("https://login.example.com", fetch)
            .audience("https://store.example.com/mcp")
            .build();
        let server = pintle_server::Server::new("store", "1");
        let bound = bind_with_bearer(server, guard.expect("a guard"), "127.0.0.1:0").await;
        let bound = bound.expect("a server");
        let address = bound.address().expect("an address");
        let running = tokio::spawn(bound.run());
        let status = post(address, "store.example.com").await;
        assert_eq!(status, "HTTP/1.1 401 Unauthorized");
        let status = post(address, "other.example.com").await;
        assert_eq!(status, "HTTP/1.1 403 Forbidden");
        running.abort();
    }
}
