//! The server to judge, and ways to reach it.

use std::fmt;
use std::io;
use std::sync::Arc;

use http::{HeaderMap, Uri};
use pintle_http::client::{
    BoxIo, Dialer, EndpointUrl, HttpClientOptions, UrlError, UrlOrigin, WebClient,
};
use pintle_process::{Command, SpawnError};
use pintle_runtime::{BoxFuture, Host};
use tokio::net::TcpStream;

use crate::level::Carrier;
use crate::options::CheckOptions;
use crate::wire::{HttpWire, PipeWire, Wire};

type OpenPipe = dyn Fn() -> BoxFuture<'static, io::Result<BoxIo>> + Send + Sync;

/// A server to judge. Clones are the same server.
#[derive(Clone)]
pub struct Target(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    Program(Command),
    Pipe(Arc<OpenPipe>),
    Http(Endpoint),
}

/// An endpoint, and the client that reaches it.
#[derive(Clone)]
pub(crate) struct Endpoint {
    client: WebClient,
    /// Reaches the same server for every name of a host; `None` where that is not possible.
    any_host: Option<WebClient>,
    pub(crate) uri: Uri,
    headers: HeaderMap,
}

/// The reason why a server cannot be reached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The program does not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The connection cannot be opened.
    #[error("the connection cannot be opened")]
    Io(#[from] io::Error),
}

impl Target {
    /// A program to start, whose standard streams carry the messages.
    pub fn program(command: Command) -> Self {
        Self(Kind::Program(command))
    }

    /// A stream of bytes with one message per line, such as a socket. `open` opens a new conversation.
    pub fn pipe(
        open: impl Fn() -> BoxFuture<'static, io::Result<BoxIo>> + Send + Sync + 'static,
    ) -> Self {
        Self(Kind::Pipe(Arc::new(open)))
    }

    /// An endpoint at a URL. The headers of `options` are sent with every request.
    ///
    /// # Errors
    ///
    /// [`UrlError`] for an invalid URL.
    pub fn http(url: &str, options: &HttpClientOptions) -> Result<Self, UrlError> {
        let parsed = EndpointUrl::parse(url)?;
        let uri: Uri = url.parse().map_err(|_| UrlError::InvalidCharacter)?;
        let client = WebClient::new(options);
        let any_host = same_address(&uri).map(|dialer| WebClient::over(dialer, options));
        Ok(Self(Kind::Http(Endpoint {
            client,
            any_host,
            uri: parsed.as_str().parse().unwrap_or(uri),
            headers: options.headers.clone(),
        })))
    }

    /// An endpoint behind a dialer, such as a server in memory.
    ///
    /// # Errors
    ///
    /// [`UrlError`] for an invalid URL.
    pub fn http_over(url: &str, client: WebClient) -> Result<Self, UrlError> {
        EndpointUrl::parse(url)?;
        let uri = url.parse().map_err(|_| UrlError::InvalidCharacter)?;
        Ok(Self(Kind::Http(Endpoint {
            any_host: Some(client.clone()),
            client,
            uri,
            headers: HeaderMap::new(),
        })))
    }

    /// Returns the transport of conversations with the server.
    pub fn carrier(&self) -> Carrier {
        match self.0 {
            Kind::Program(_) | Kind::Pipe(_) => Carrier::Stdio,
            Kind::Http(_) => Carrier::Http,
        }
    }

    /// Opens a connection without a message.
    pub(crate) async fn open(&self, options: &CheckOptions) -> Result<Box<dyn Wire>, OpenError> {
        Ok(match &self.0 {
            Kind::Program(command) => Box::new(PipeWire::start(command, options)?),
            Kind::Pipe(open) => Box::new(PipeWire::over(open().await?, options)),
            Kind::Http(endpoint) => Box::new(endpoint.wire(options)),
        })
    }
}

impl Endpoint {
    pub(crate) fn wire(&self, options: &CheckOptions) -> HttpWire {
        HttpWire::new(
            self.client.clone(),
            self.uri.clone(),
            self.headers.clone(),
            options,
        )
    }

    /// Returns a connection to the same server whose requests name another host.
    pub(crate) fn wire_for_host(&self, host: &str, options: &CheckOptions) -> Option<HttpWire> {
        let client = self.any_host.clone()?;
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let uri = format!("http://{host}{path}").parse().ok()?;
        Some(HttpWire::new(client, uri, self.headers.clone(), options))
    }

    /// Returns true if the server listens on a loopback address.
    pub(crate) fn is_local(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        Host::parse(host).is_ok_and(|host| host.is_local())
    }

    /// Returns the host and the port of the URL.
    pub(crate) fn authority(&self) -> &str {
        self.uri
            .authority()
            .map_or("", |authority| authority.as_str())
    }
}

/// Dials one address, whatever the host of the URL is.
struct SameAddress(String);

impl Dialer for SameAddress {
    fn dial(&self, _origin: &UrlOrigin) -> BoxFuture<'static, io::Result<BoxIo>> {
        let address = self.0.clone();
        Box::pin(async move { Ok(BoxIo::new(TcpStream::connect(address).await?)) })
    }
}

fn same_address(uri: &Uri) -> Option<SameAddress> {
    if uri.scheme_str() != Some("http") {
        return None;
    }
    let port = uri.port_u16().unwrap_or(80);
    Some(SameAddress(format!("{}:{port}", uri.host()?)))
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.carrier()).finish()
    }
}
