//! In-process, byte-stream, TCP and Unix-socket targets that a client can connect to.

use std::fmt;
use std::sync::Arc;

use pintle_proto::{TransportError, TransportErrorKind};
use pintle_runtime::sync::Mutex;
use pintle_runtime::{
    Connect, IntoService, PipeOptions, ServerAddress, Service, StreamOptions, StreamTransport,
    Transport, Wire, serve_pipe,
};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::task::JoinHandle;

/// Capacity of each direction between a client and a server in one process, in bytes.
const DUPLEX_BYTES: usize = 64 << 10;

/// A server in this process. Each connection starts a conversation of its own with it.
pub struct InProcess<S> {
    service: Arc<S>,
    options: PipeOptions,
}

impl<S: Service> InProcess<S> {
    /// Connects to a service, which is served with the default [`PipeOptions`].
    pub fn new(service: S) -> Self {
        Self {
            service: Arc::new(service),
            options: PipeOptions::default(),
        }
    }

    /// Sets the limits and timeouts of the serving side.
    #[must_use]
    pub fn with_options(mut self, options: PipeOptions) -> Self {
        self.options = options;
        self
    }
}

/// Builds the service of a server and returns a target that connects to it in this process.
///
/// # Errors
///
/// The error of [`IntoService::into_service`] if the server's description is invalid.
pub fn in_process<S: IntoService>(server: S) -> Result<InProcess<S::Service>, S::Error> {
    server.into_service().map(InProcess::new)
}

impl<S: Service> Connect for InProcess<S> {
    type Transport = InProcessTransport;

    async fn connect(&self) -> Result<InProcessTransport, TransportError> {
        let (near, far) = duplex(DUPLEX_BYTES);
        let (reader, writer) = split(far);
        let (service, options) = (Arc::clone(&self.service), self.options.clone());
        let server = tokio::spawn(async move {
            let end = serve_pipe(service, reader, writer, options).await;
            tracing::debug!(?end, "a server in this process ended");
        });
        let (reader, writer) = split(near);
        Ok(InProcessTransport {
            streams: StreamTransport::new(reader, writer),
            server: Serving(server),
        })
    }
}

impl<S> fmt::Debug for InProcess<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InProcess")
    }
}

/// The transport of a conversation with a server in this process.
#[derive(Debug)]
pub struct InProcessTransport {
    streams: StreamTransport<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>,
    server: Serving,
}

/// The task that drives the server. Dropping this value aborts the task.
#[derive(Debug)]
struct Serving(JoinHandle<()>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Transport for InProcessTransport {
    async fn run(self, wire: Wire) -> Result<(), TransportError> {
        let Self { streams, server } = self;
        let end = streams.run(wire).await;
        drop(server);
        end
    }
}

/// A server behind a pair of byte streams. They carry one conversation; a second connection fails.
pub struct Streams<R, W>(Mutex<Option<StreamTransport<R, W>>>);

impl<R, W> Streams<R, W> {
    /// Reads from `reader` and writes to `writer`, with the default [`StreamOptions`].
    pub fn new(reader: R, writer: W) -> Self {
        Self::with(reader, writer, StreamOptions::default())
    }

    /// As [`Streams::new`], with other limits and timeouts.
    pub fn with(reader: R, writer: W, options: StreamOptions) -> Self {
        Self(Mutex::new(Some(StreamTransport::with(
            reader, writer, options,
        ))))
    }
}

impl<R, W> Connect for Streams<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Transport = StreamTransport<R, W>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let streams = self.0.lock().take();
        let used = || {
            TransportError::new(TransportErrorKind::Unreachable)
                .with_detail("its streams are used up")
        };
        streams.ok_or_else(used)
    }
}

impl<R, W> fmt::Debug for Streams<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streams")
    }
}

/// A server that listens on a TCP port and frames messages as lines.
#[derive(Debug, Clone)]
pub struct Tcp {
    address: String,
    options: StreamOptions,
}

impl Tcp {
    /// Connects to `address`: a host and a port.
    pub fn new(address: impl Into<String>) -> Self {
        Self {
            address: address.into(),
            options: StreamOptions::default(),
        }
    }

    /// Sets the limits and timeouts of the transport.
    #[must_use]
    pub fn with_options(mut self, options: StreamOptions) -> Self {
        self.options = options;
        self
    }
}

impl Connect for Tcp {
    type Transport =
        StreamTransport<tokio::net::tcp::OwnedReadHalf, tokio::net::tcp::OwnedWriteHalf>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let stream = tokio::net::TcpStream::connect(&self.address).await;
        let stream = stream.map_err(|error| unreachable(&self.address, error))?;
        // The result may be ignored: a closed connection is detected by the next read.
        let _ = stream.set_nodelay(true);
        let (reader, writer) = stream.into_split();
        Ok(StreamTransport::with(reader, writer, self.options.clone()))
    }

    fn key(&self) -> Option<String> {
        Some(format!("tcp:{}", self.address))
    }

    fn server_address(&self) -> Option<ServerAddress> {
        let (host, port) = self.address.rsplit_once(':')?;
        let host = host.trim_start_matches('[').trim_end_matches(']').into();
        let port = port.parse().ok()?;
        Some(ServerAddress { host, port })
    }
}

/// A server that listens on a Unix socket and frames messages as lines.
#[cfg(unix)]
#[derive(Debug, Clone)]
pub struct Unix {
    path: std::path::PathBuf,
    options: StreamOptions,
}

#[cfg(unix)]
impl Unix {
    /// Connects to the socket at `path`.
    pub fn new(path: impl Into<std::path::PathBuf>) -> Self {
        Self {
            path: path.into(),
            options: StreamOptions::default(),
        }
    }

    /// Sets the limits and timeouts of the transport.
    #[must_use]
    pub fn with_options(mut self, options: StreamOptions) -> Self {
        self.options = options;
        self
    }
}

#[cfg(unix)]
impl Connect for Unix {
    type Transport =
        StreamTransport<tokio::net::unix::OwnedReadHalf, tokio::net::unix::OwnedWriteHalf>;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        let stream = tokio::net::UnixStream::connect(&self.path).await;
        let name = self.path.to_string_lossy();
        let stream = stream.map_err(|error| unreachable(&name, error))?;
        let (reader, writer) = stream.into_split();
        Ok(StreamTransport::with(reader, writer, self.options.clone()))
    }

    fn key(&self) -> Option<String> {
        Some(format!("unix:{}", self.path.to_string_lossy()))
    }
}

fn unreachable(name: &str, error: std::io::Error) -> TransportError {
    TransportError::new(TransportErrorKind::Unreachable)
        .with_detail(name)
        .with_source(error)
}
