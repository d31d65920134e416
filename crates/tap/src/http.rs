//! A reverse proxy before a server over HTTP. Bodies pass unchanged.

mod body;
mod exchange;

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::http::{Request, Response, Uri};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pintle_http::client::{EndpointUrl, HttpClient, HttpClientOptions, UrlError, WebClient};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::tap::Tap;

use body::TappedBody;

/// Maximum time for the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Pause after a failed accept, for example without free file descriptors.
const ACCEPT_DELAY: Duration = Duration::from_millis(100);

/// A reverse proxy for one server over HTTP, on an address of this machine.
///
/// Paths and queries pass unchanged, so that a client uses the path of the server's URL. Bodies pass byte for byte, and
/// as they arrive. All headers pass, except those of the connection (hop by hop) and `Host`. Redirects are not followed.
#[derive(Debug)]
pub struct HttpTap {
    listener: TcpListener,
    upstream: Arc<Upstream<WebClient>>,
    max_connections: usize,
}

/// The server behind the tap.
#[derive(Debug)]
struct Upstream<C> {
    client: C,
    url: Uri,
    tap: Tap,
    max_body_bytes: usize,
    next_stream: AtomicU64,
}

/// Why a reverse proxy does not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum HttpTapError {
    /// The URL of the server is invalid.
    Url(UrlError),
    /// The address is not loopback, so that other machines could use the server.
    Exposed(SocketAddr),
    /// The address cannot be listened on.
    Listen(io::Error),
}

impl fmt::Display for HttpTapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(error) => write!(f, "invalid URL of the server: {error}"),
            Self::Exposed(address) => write!(f, "{address} is not a loopback address"),
            Self::Listen(error) => write!(f, "the address cannot be listened on: {error}"),
        }
    }
}

impl std::error::Error for HttpTapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Url(error) => Some(error),
            Self::Listen(error) => Some(error),
            Self::Exposed(_) => None,
        }
    }
}

impl HttpTap {
    /// Listens on a loopback address, for the server at a URL. Port 0 is any free port.
    ///
    /// # Errors
    ///
    /// [`HttpTapError`].
    pub async fn bind(
        url: &str,
        address: SocketAddr,
        tap: Tap,
        options: &HttpClientOptions,
    ) -> Result<Self, HttpTapError> {
        let url = parse(url).map_err(HttpTapError::Url)?;
        if !address.ip().is_loopback() {
            return Err(HttpTapError::Exposed(address));
        }
        let listener = TcpListener::bind(address).await;
        let (max_body_bytes, max_connections) = tap.http_limits();
        Ok(Self {
            listener: listener.map_err(HttpTapError::Listen)?,
            max_connections,
            upstream: Arc::new(Upstream {
                client: WebClient::new(options),
                url,
                tap,
                max_body_bytes,
                next_stream: AtomicU64::new(1),
            }),
        })
    }

    /// Returns the URL for clients: that of the server, with the address of the tap.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn url(&self) -> io::Result<String> {
        let path = self
            .upstream
            .url
            .path_and_query()
            .map_or("/", |path| path.as_str());
        Ok(format!("http://{}{path}", self.listener.local_addr()?))
    }

    /// Serves until `stop` is complete. Connections end with it.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let permits = Arc::new(Semaphore::new(self.max_connections));
        let mut connections = JoinSet::new();
        let accept = async {
            loop {
                let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
                    return;
                };
                while connections.try_join_next().is_some() {}
                match self.listener.accept().await {
                    Ok((stream, _)) => {
                        let upstream = Arc::clone(&self.upstream);
                        connections.spawn(async move {
                            connection(stream, upstream).await;
                            drop(permit);
                        });
                    }
                    Err(_) => tokio::time::sleep(ACCEPT_DELAY).await,
                }
            }
        };
        tokio::select! {
            () = accept => {}
            () = stop => {}
        }
    }
}

fn parse(url: &str) -> Result<Uri, UrlError> {
    let url = EndpointUrl::parse(url)?;
    url.as_str().parse().map_err(|_| UrlError::InvalidCharacter)
}

async fn connection(stream: TcpStream, upstream: Arc<Upstream<WebClient>>) {
    // Events are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let upstream = Arc::clone(&upstream);
        async move { Ok::<Response<TappedBody>, Infallible>(upstream.exchange(request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    // A broken connection has no other reader than the client.
    let _ = served.await;
}

impl<C: HttpClient> Upstream<C> {
    fn next_stream(&self) -> u64 {
        self.next_stream.fetch_add(1, Ordering::Relaxed)
    }
}
