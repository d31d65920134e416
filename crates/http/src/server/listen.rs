//! An endpoint on a port of its own, without a web framework.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pintle_runtime::{Service, Shutdown, ShutdownHandle};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use tower_layer::Layer;
use tower_service::Service as TowerService;

use super::patient::Patient;
use super::site::{Front, FrontBody, Outermost, Site};
use super::{HttpLimits, HttpService};

/// How long accepting pauses after it failed; doubles up to [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Longer than any connection lives: hyper adds its time-outs to the clock, which has an end.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The headers hyper takes without being told; telling it costs an allocation per request.
const HYPERS_OWN_LINES: usize = 100;

/// Why an endpoint could not be served.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The author of the server got something wrong.
    #[error("the server cannot be served as it is described")]
    Server(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anybody who reaches the address could use the server.
    #[error(
        "{address} is not a loopback address, and nobody is asked who they are: put a layer that \
         authorizes in front (`HttpServer::bind_behind`), or set `allow_insecure_bind` if that is \
         done elsewhere"
    )]
    Exposed {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// Whoever reaches the address would be turned away, because only loopback names are served.
    #[error(
        "{address} is not a loopback address, and only loopback names are served: name the hosts \
         that clients ask for (`Access::hosts`)"
    )]
    Unreachable {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("the address cannot be listened on")]
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
    ///   set: nobody is asked who they are.
    /// - [`ServeError::Listen`] if the address is taken or not ours.
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
    /// `pintle-auth`. It goes around every path, also those where there is nothing.
    ///
    /// # Errors
    ///
    /// - [`ServeError::Unreachable`] for an address that is not loopback while only loopback names are
    ///   served, unless `allow_insecure_bind` was set.
    /// - [`ServeError::Listen`] if the address is taken or not ours.
    pub async fn bind_behind<L, B>(
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
        let mut server = Self::listen(service, &addresses).await?;
        server.layer = Some(Box::new(move |site| {
            Front::Layered(Arc::new(Outermost(layer.layer(site))))
        }));
        Ok(server)
    }

    async fn listen(service: HttpService<S>, addresses: &[SocketAddr]) -> Result<Self, ServeError> {
        let listener = TcpListener::bind(addresses)
            .await
            .map_err(ServeError::Listen)?;
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
    /// Whatever the operating system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` is ready. Then nothing new is accepted, streams end, and running
    /// requests may finish within [`HttpLimits::drain`].
    pub async fn run_until(self, end: impl Future<Output = ()>) {
        let (closing, closed) = ShutdownHandle::new();
        let service = self.site.service().clone();
        let front = match self.layer {
            Some(layer) => layer(self.site),
            None => Front::Bare(self.site),
        };
        let mut acceptor = Acceptor {
            listener: self.listener,
            service,
            front,
            closed,
            connections: JoinSet::new(),
            pause: SHORTEST_PAUSE,
            accepts_from: Instant::now(),
        };
        let mut end = pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => break,
                () = acceptor.step() => {}
            }
        }
        closing.begin();
        acceptor.drain().await;
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
    let is_exposed = |address: &&SocketAddr| !address.ip().is_loopback();
    addresses.iter().find(is_exposed).copied()
}

/// Where connections come from.
trait Source {
    fn accept(&self) -> impl Future<Output = io::Result<TcpStream>> + Send;
}

impl Source for TcpListener {
    async fn accept(&self) -> io::Result<TcpStream> {
        TcpListener::accept(self).await.map(|(stream, _)| stream)
    }
}

/// Accepts connections, within bounds, and runs each as a task.
struct Acceptor<S, L = TcpListener> {
    listener: L,
    service: HttpService<S>,
    front: Front<S>,
    closed: Shutdown,
    connections: JoinSet<()>,
    pause: Duration,
    accepts_from: Instant,
}

impl<S: Service, L: Source> Acceptor<S, L> {
    async fn step(&mut self) {
        let has_room = self.connections.len() < self.limits().connections;
        let from = self.accepts_from;
        let listener = &self.listener;
        let accept = async {
            sleep_until(from).await;
            listener.accept().await
        };
        tokio::select! {
            biased;
            Some(_) = self.connections.join_next() => {}
            accepted = accept, if has_room => match accepted {
                Ok(stream) => self.admit(stream),
                Err(error) => self.back_off(&error),
            },
        }
    }

    fn admit(&mut self, stream: TcpStream) {
        self.pause = SHORTEST_PAUSE;
        let connection = Connection {
            service: self.service.clone(),
            front: self.front.clone(),
            closed: self.closed.clone(),
        };
        self.connections.spawn(connection.serve(stream));
    }

    /// Out of file descriptors, usually: trying again at once would only burn the processor.
    fn back_off(&mut self, error: &io::Error) {
        if is_of_the_peer(error) {
            return;
        }
        tracing::warn!(%error, pause = ?self.pause, "accepting pauses");
        self.accepts_from = Instant::now() + self.pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
    }

    async fn drain(mut self) {
        let drain = self.limits().drain;
        drop(self.listener);
        self.service.close();
        let all_done = async { while self.connections.join_next().await.is_some() {} };
        if timeout(drain, all_done).await.is_err() {
            tracing::warn!(open = self.connections.len(), "connections are cut");
        }
    }

    fn limits(&self) -> &HttpLimits {
        &self.service.options().limits
    }
}

fn is_of_the_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset
    )
}

/// What one connection needs to know.
struct Connection<S> {
    service: HttpService<S>,
    front: Front<S>,
    closed: Shutdown,
}

impl<S: Service> Connection<S> {
    async fn serve(self, stream: TcpStream) {
        let limits = &self.service.options().limits;
        if let Err(error) = attend(&stream, limits) {
            tracing::debug!(%error, "a connection is not attended to as it should be");
        }
        let io = TokioIo::new(Patient::new(stream, limits.write_stall));
        let answer = service_fn(|request| self.answer(request));
        let mut connection = pin!(protocol(limits).serve_connection(io, answer));
        let closed = &mut self.closed.clone();
        let end = tokio::select! {
            biased;
            end = connection.as_mut() => end,
            () = closed.begun() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = end {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<FrontBody>, Infallible> {
        Ok(self.front.answer(request).await)
    }
}

/// Answers are written whole, so waiting for more to send would only delay them. A peer that
/// vanished without a word is noticed within about two signs of life.
fn attend(stream: &TcpStream, limits: &HttpLimits) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(stream);
    let probes = TcpKeepalive::new()
        .with_time(limits.keep_alive)
        .with_interval(limits.keep_alive / 3);
    #[cfg(target_os = "linux")]
    let probes = probes.with_retries(3);
    socket.set_tcp_keepalive(&probes)?;
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(limits.write_stall))?;
    Ok(())
}

fn protocol(limits: &HttpLimits) -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time.min(FOR_EVER))
        // hyper does not go below this.
        .max_buf_size(limits.head_bytes.max(8 << 10));
    if limits.head_lines != HYPERS_OWN_LINES {
        protocol.max_headers(limits.head_lines);
    }
    protocol
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
    use std::sync::Mutex;

    use pintle_model::{Error, Implementation, ServerCapabilities};
    use pintle_proto::{Incoming, Reply, ServerProfile};
    use pintle_runtime::Context;

    use super::*;
    use crate::HttpOptions;

    struct Nothing;

    impl Service for Nothing {
        async fn call(&self, request: Incoming, _cx: Context) -> Result<Reply, Error> {
            Err(Error::method_not_found(request.method.as_str()))
        }

        fn profile(&self) -> Arc<ServerProfile> {
            let identity = Implementation::new("nothing", "0");
            let capabilities = ServerCapabilities::default();
            Arc::new(ServerProfile::new(identity, capabilities))
        }
    }

    /// Fails, and notes when it was asked.
    struct Failing {
        kind: io::ErrorKind,
        asked: Mutex<Vec<Instant>>,
    }

    impl Source for Failing {
        async fn accept(&self) -> io::Result<TcpStream> {
            self.asked.lock().expect("no panic").push(Instant::now());
            Err(self.kind.into())
        }
    }

    /// How long it takes to fail eight times, in milliseconds, each time.
    async fn pauses(kind: io::ErrorKind) -> Vec<u128> {
        let (_closing, closed) = ShutdownHandle::new();
        let service = HttpService::new(Nothing, HttpOptions::default());
        let mut acceptor = Acceptor {
            listener: Failing {
                kind,
                asked: Mutex::default(),
            },
            front: Front::Bare(Site::new(service.clone())),
            service,
            closed,
            connections: JoinSet::new(),
            pause: SHORTEST_PAUSE,
            accepts_from: Instant::now(),
        };
        for _ in 0..8 {
            acceptor.step().await;
        }
        let asked = acceptor.listener.asked.into_inner().expect("no panic");
        asked
            .windows(2)
            .map(|two| (two[1] - two[0]).as_millis())
            .collect()
    }

    // hardening: H-181
    #[tokio::test(start_paused = true)]
    async fn accepting_pauses_longer_and_longer_while_it_fails() {
        let out_of_descriptors = io::ErrorKind::Other;
        let expected = [50, 100, 200, 400, 800, 1000, 1000];
        assert_eq!(pauses(out_of_descriptors).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_is_gone_already_costs_no_pause() {
        assert_eq!(pauses(io::ErrorKind::ConnectionAborted).await, [0; 7]);
    }
}
