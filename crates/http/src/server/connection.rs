//! One connection: its timeouts, and its orderly end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pintle_runtime::{Service, Shutdown};
use tokio::io::{AsyncRead, AsyncWrite};

use super::connection_phase::{ConnectionPhases, GuardedBody, ResponseGuard};
use super::health::Health;
use super::peers::Permit;
use super::site::{Front, FrontBody, FrontFuture};
use super::timeout_io::{IoTimeouts, TimeoutIo};
use super::{AnswerFuture, HttpLimits, HttpOptions, HttpService};
use crate::rules::cause::{self, Cause};

/// The number of headers that hyper accepts by default. Another number costs an allocation per request.
const HYPERS_OWN_LINES: usize = 100;

/// The context that serves one connection.
pub(super) struct Connection<S> {
    pub(super) service: HttpService<S>,
    pub(super) front: Front<S>,
    pub(super) closed: Shutdown,
    /// The other end, if the connection has an address.
    pub(super) address: Option<IpAddr>,
    pub(super) _permit: Permit,
}

impl<S: Service> Connection<S> {
    pub(super) async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let limits = &self.service.options().limits;
        let phases = ConnectionPhases::default();
        let patient = TimeoutIo::new(stream, IoTimeouts::from(limits), phases.clone());
        let answer = service_fn(|request| self.answer(request, &phases));
        let mut connection = pin!(protocol(limits).serve_connection(TokioIo::new(patient), answer));
        let mut closed = self.closed.clone().wait();
        // None if the endpoint closes first.
        let end = poll_fn(|cx| match connection.as_mut().poll(cx) {
            Poll::Ready(end) => Poll::Ready(Some(end)),
            Poll::Pending => closed.poll(cx).map(|()| None),
        });
        let end = match end.await {
            Some(end) => end,
            None => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = end {
            tracing::debug!(%error, "a connection ended early");
        }
    }

    fn answer(&self, request: Request<Incoming>, phases: &ConnectionPhases) -> Answering<'_> {
        let response = phases.begin_response();
        // A body with a transfer coding has no known size, and others need no search for the header.
        let has_size = request.body().size_hint().exact().is_some();
        let is_chunked = !has_size && request.headers().contains_key(TRANSFER_ENCODING);
        let refused = too_large(&request, self.service.options())
            .or_else(|| is_chunked.then(|| misframed(request.headers()))?);
        let answer = match refused {
            Some(cause) => FrontFuture::ready(self.service.refuse(cause)),
            None if self.serves_health(&request) => self.check(request),
            None => self.front.answer(request, self.address),
        };
        Answering {
            answer,
            closes: is_chunked || refused.is_some(),
            is_draining: self.service.is_draining(),
            response: Some(response),
        }
    }

    fn serves_health(&self, request: &Request<Incoming>) -> bool {
        self.service.options().serve_health && Health::has(request.method(), request.uri())
    }

    /// Answers a check before all layers, because a check has no token.
    fn check(&self, request: Request<Incoming>) -> FrontFuture<'_> {
        let (service, health) = (self.service.clone(), self.service.health());
        FrontFuture::Own(AnswerFuture::new(async move {
            let answer = health.answer(request.method(), request.uri()).await;
            answer.unwrap_or_else(|| service.refuse(&cause::NO_ENDPOINT))
        }))
    }
}

/// The future of one response of a connection.
struct Answering<'a> {
    answer: FrontFuture<'a>,
    /// Whether the connection ends after the response.
    closes: bool,
    /// The same for all connections. A client that waits on such a connection could send a request when it is closed.
    is_draining: &'a AtomicBool,
    /// `None` after the end.
    response: Option<ResponseGuard>,
}

impl Future for Answering<'_> {
    type Output = Result<Response<GuardedBody<FrontBody>>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut answer = ready!(Pin::new(&mut self.answer).poll(cx));
        if self.closes || self.is_draining.load(Ordering::Relaxed) {
            close_after(&mut answer);
        }
        let response = self.response.take();
        Poll::Ready(Ok(answer.map(|body| GuardedBody::new(body, response))))
    }
}

/// Returns the reason to reject a head above the limit. hyper limits its buffer, not the head.
fn too_large<B>(request: &Request<B>, options: &HttpOptions) -> Option<&'static Cause> {
    let is_too_large = head_bytes(request) > options.limits.max_header_bytes;
    is_too_large.then_some(&cause::HEAD_TOO_LARGE)
}

/// Returns the reason to reject transfer codings other than `chunked`. hyper does not reject unknown ones.
fn misframed(headers: &HeaderMap) -> Option<&'static Cause> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    match (codings.next(), codings.next()) {
        (Some(coding), None) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => None,
        _ => Some(&cause::INVALID_FRAMING),
    }
}

/// Returns the size of a head without optional white space.
fn head_bytes<B>(request: &Request<B>) -> usize {
    let uri = request.uri();
    let target = uri.path_and_query().map_or(1, |path| path.as_str().len());
    let line = request.method().as_str().len() + target + " ".len() + " HTTP/1.1\r\n".len();
    let fields = request.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len());
    line + fields.sum::<usize>() + "\r\n".len()
}

/// Closes the connection after a response. Reasons are the shutdown, and a proxy that may see another end of the
/// request. That may be so for every chunked request: hyper drops a `Content-Length` beside the coding without a trace.
fn close_after<B>(answer: &mut Response<B>) {
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(CONNECTION, close);
}

fn protocol(limits: &HttpLimits) -> http1::Builder {
    let mut protocol = http1::Builder::new();
    protocol
        // `TimeoutIo` does this, because hyper has one timeout for a head and for the wait before it.
        .header_read_timeout(None)
        // The minimum that hyper accepts.
        .max_buf_size(limits.max_header_bytes.max(8 << 10));
    if limits.max_headers != HYPERS_OWN_LINES {
        protocol.max_headers(limits.max_headers);
    }
    protocol
}
