//! The listener for metrics.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pintle_runtime::BoxFuture;
use prometheus::Registry;
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::Semaphore;

use crate::export_error::ExportError;
use crate::exports::ExportsBuilder;
use crate::metrics_text::MetricsText;

/// Largest number of connections to the listener; others wait.
const MAX_CONNECTIONS: usize = 16;
/// Longest time of a connection. Each has one request.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);
/// Largest size of the head of a request, in bytes.
const MAX_HEADER_BYTES: usize = 16 << 10;

impl ExportsBuilder {
    /// Offers the metrics as the text of Prometheus: see [`Exports::metrics`](crate::Exports::metrics).
    ///
    /// # Errors
    ///
    /// [`ExportError::Setting`].
    pub fn prometheus(mut self) -> Result<Self, ExportError> {
        let registry = Registry::new();
        let exporter = opentelemetry_prometheus::exporter().with_registry(registry.clone());
        let reader = exporter.build();
        let reader = reader.map_err(|error| ExportError::Setting(error.to_string()))?;
        self.meters = self.meters.with_reader(reader);
        self.metrics = Some(MetricsText::new(registry));
        Ok(self)
    }
}

fn answer(metrics: &MetricsText, method: &Method) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(method) {
        let mut answer = empty(StatusCode::METHOD_NOT_ALLOWED);
        let allowed = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(ALLOW, allowed);
        return answer;
    }
    let Ok(text) = metrics.render() else {
        return empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let mut answer = Response::new(Full::from(text));
    let media_type = HeaderValue::from_static(MetricsText::CONTENT_TYPE);
    answer.headers_mut().insert(CONTENT_TYPE, media_type);
    answer
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer
}

/// The answers to other paths than `/metrics`; `None` becomes 404.
type OtherPaths =
    Arc<dyn Fn(Method, Uri) -> BoxFuture<'static, Option<Response<Bytes>>> + Send + Sync>;

/// A listener that answers `GET /metrics`. It has no authentication, so its address should be private.
pub struct MetricsServer {
    listener: TcpListener,
    routes: Routes,
}

#[derive(Clone)]
struct Routes {
    metrics: MetricsText,
    others: Option<OtherPaths>,
}

impl fmt::Debug for MetricsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("MetricsServer");
        debug
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

impl MetricsServer {
    /// Listens on an address; port 0 is any free port.
    ///
    /// # Errors
    ///
    /// The address cannot be listened on.
    pub async fn bind(address: impl ToSocketAddrs, metrics: MetricsText) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let routes = Routes {
            metrics,
            others: None,
        };
        Ok(Self { listener, routes })
    }

    /// Answers other paths by a function, such as the checks of `pintle_http::Health`. `None` becomes 404.
    #[must_use]
    pub fn other_paths<F, Answer>(mut self, answer: F) -> Self
    where
        F: Fn(Method, Uri) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Option<Response<Bytes>>> + Send + 'static,
    {
        let others: OtherPaths = Arc::new(move |method, uri| Box::pin(answer(method, uri)));
        self.routes.others = Some(others);
        self
    }

    /// Returns the address of the listener.
    ///
    /// # Errors
    ///
    /// The system does not return it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the future is dropped. Up to 16 connections are served at the same time, each for up to 10 s.
    pub async fn run(self) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = tokio::task::JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            // The semaphore is never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else {
                return;
            };
            let Ok((stream, _)) = self.listener.accept().await else {
                // Such as too many open files: another connection may end meanwhile.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            };
            let routes = self.routes.clone();
            connections.spawn(async move {
                let _place = place;
                // A scrape that takes longer, or a broken connection, needs no report.
                let _ = tokio::time::timeout(CONNECTION_TIMEOUT, serve(stream, routes)).await;
            });
        }
    }
}

async fn serve(stream: TcpStream, routes: Routes) {
    let respond = service_fn(|request: Request<hyper::body::Incoming>| {
        let routes = routes.clone();
        async move { Ok::<_, Infallible>(routes.answer(&request).await) }
    });
    let mut protocol = http1::Builder::new();
    let protocol = protocol.keep_alive(false).max_buf_size(MAX_HEADER_BYTES);
    // A client that breaks the connection gets no answer.
    let _ = protocol
        .serve_connection(TokioIo::new(stream), respond)
        .await;
}

impl Routes {
    async fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        if request.uri().path() == "/metrics" {
            return answer(&self.metrics, request.method());
        }
        let Some(others) = &self.others else {
            return empty(StatusCode::NOT_FOUND);
        };
        let answer = others(request.method().clone(), request.uri().clone());
        match answer.await {
            Some(answer) => answer.map(Full::new),
            None => empty(StatusCode::NOT_FOUND),
        }
    }
}
