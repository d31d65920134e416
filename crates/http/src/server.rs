//! The server side of the binding: one tower service for every revision.
//!
//! A request is classified, then takes one of four ways: an exchange that lives as long as its
//! response, a message to a session, a stream, or a refusal. No way has a task of its own, and
//! none waits for another's reader.

mod accept;
mod batch;
mod connection;
mod connection_phase;
mod deadline;
mod endpoint;
mod events;
mod exchange;
mod health;
mod listen;
mod options;
mod outage;
mod peers;
mod quotas;
mod refusals;
mod reply;
mod response;
mod session;
mod session_changes;
mod session_doubts;
mod session_mail;
mod session_newest;
mod session_streams;
mod sessions;
mod shared;
mod site;
#[cfg(feature = "sse")]
mod sse;
mod stateful;
mod timeout_io;
mod timers;
mod token_expiry;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll};

use http::Request;
use http::request::Parts;
use http_body::Body;
use pintle_runtime::{BoxFuture, Service, StartHookError};

pub use health::Health;
pub use listen::{HttpServer, ServeError};
pub use options::{HttpLimits, HttpOptions};
pub use peers::ClientAddress;
pub use response::ResponseBody;
pub use site::Site;
#[cfg(feature = "sse")]
pub use sse::SseService;

use endpoint::{Endpoint, EndpointResponse};
use peers::{Excess, Peer, Permit, Resource};

use crate::rules::cause::Cause;
use crate::rules::classify::HttpRejection;

/// Whether replicas can share sessions. Without the feature the compiler removes that code, because accessors of shared
/// state return `None`, and futures of it are boxed.
const HAS_REPLICAS: bool = cfg!(feature = "replicas");

/// The future of one response of an [`HttpService`]. It never fails.
pub struct AnswerFuture(BoxFuture<'static, EndpointResponse>);

impl AnswerFuture {
    fn new(answer: impl Future<Output = EndpointResponse> + Send + 'static) -> Self {
        Self(Box::pin(answer))
    }
}

impl Future for AnswerFuture {
    type Output = Result<EndpointResponse, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for AnswerFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerFuture")
    }
}

/// An MCP endpoint: a tower service that answers requests of every revision on one path.
///
/// Cloning gives another handle to the same endpoint: its sessions are shared. It never fails,
/// and it reads no paths: mount it where it belongs.
pub struct HttpService<S> {
    endpoint: Arc<Endpoint<S>>,
}

impl<S: Service> HttpService<S> {
    /// Serves `service` over HTTP.
    pub fn new(service: S, options: HttpOptions) -> Self {
        Self {
            endpoint: Arc::new(Endpoint::new(service, options)),
        }
    }

    /// Runs the hooks of the start, as [`HttpServer`] does by itself. A web framework calls it before it serves,
    /// and [`stop`](Self::stop) after its last request.
    ///
    /// # Errors
    ///
    /// [`StartHookError`]; the endpoint should not serve then.
    pub async fn start(&self) -> Result<(), StartHookError> {
        self.endpoint.service.start().await
    }

    /// Runs the hooks of the stop, when all transports of the service that started have stopped.
    pub async fn stop(&self) {
        self.endpoint.service.stop().await;
    }

    /// Closes the endpoint, and with it every clone. New requests are answered 503, streams and listeners end,
    /// and questions to clients fail. Requests that run may finish; the endpoint sets no bound on that.
    pub fn close(&self) {
        self.endpoint.close();
    }

    /// Waits for `signal`, closes the endpoint, and releases the tasks of this replica to others. Pass the future to a web framework's graceful shutdown,
    /// because an open stream keeps its connection, and the framework waits for every connection:
    ///
    /// ```ignore
    /// let shutdown = endpoint.close_after(async { drop(tokio::signal::ctrl_c().await) });
    /// axum::serve(listener, router).with_graceful_shutdown(shutdown).await?;
    /// ```
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the endpoint open.
    pub fn close_after<F>(&self, signal: F) -> impl Future<Output = ()> + Send + use<S, F>
    where
        F: Future + Send,
    {
        let service = self.clone();
        async move {
            signal.await;
            service.close();
            service.leave().await;
        }
    }

    /// Returns the health of the endpoint, for another port or a web framework.
    /// [`HttpOptions::serve_health`] answers its paths on the port of an [`HttpServer`].
    pub fn health(&self) -> Health {
        Health::of(&self.endpoint)
    }

    /// Announces the shutdown: the endpoint is not ready from now on, and still serves.
    pub(crate) fn begin_drain(&self) {
        self.endpoint.begin_drain();
    }

    /// Whether the shutdown is announced.
    pub(crate) fn is_draining(&self) -> &AtomicBool {
        self.endpoint.is_draining()
    }

    /// Waits until no session has an open question to its client.
    pub(crate) async fn until_answered(&self) {
        self.endpoint.sessions.until_answered().await;
    }

    /// The refusal of a request for a host that is not served, if it is one.
    pub(crate) fn refuse_foreign_host(&self, parts: &Parts) -> Option<EndpointResponse> {
        let access = &self.endpoint.settings.access;
        let barred = access.check_host(parts).err()?;
        let rejection = HttpRejection::because(barred.cause());
        Some(self.endpoint.reject_head(rejection, parts))
    }

    /// Answers a request of a connection from `address`, if that is known.
    fn answer<B>(&self, request: Request<B>, address: Option<IpAddr>) -> AnswerFuture
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let endpoint = Arc::clone(&self.endpoint);
        let (parts, body) = request.into_parts();
        AnswerFuture::new(endpoint.answer(Arc::new(parts), body, address))
    }

    pub(crate) fn refuse(&self, cause: &'static Cause) -> EndpointResponse {
        self.endpoint.refuse(cause)
    }

    /// Releases the work that outlives requests.
    pub(crate) async fn leave(&self) {
        self.endpoint.service.leave().await;
    }

    /// Counts a connection from `address`, if that is known.
    fn connection_permit(&self, address: Option<IpAddr>) -> Result<Permit, Excess> {
        let peer = Peer::of_connection(address, self.options());
        self.endpoint.permit(&peer, Resource::Connection)
    }

    pub(crate) fn options(&self) -> &HttpOptions {
        &self.endpoint.options
    }
}

impl<S> Clone for HttpService<S> {
    fn clone(&self) -> Self {
        Self {
            endpoint: Arc::clone(&self.endpoint),
        }
    }
}

impl<S> fmt::Debug for HttpService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("options", &self.endpoint.options)
            .finish_non_exhaustive()
    }
}

impl<S, B> tower_service::Service<Request<B>> for HttpService<S>
where
    S: Service,
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = EndpointResponse;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        self.answer(request, None)
    }
}
