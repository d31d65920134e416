//! One open connection.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::Either;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::TokioIo;

use crate::client::endpoint_url::UrlOrigin;
use crate::client::http_client::{HttpClientBody, HttpClientError, Whole};
use crate::rules::headers::single;

use super::box_io::BoxIo;
use super::pool::Pool;

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");

/// A connection for requests. Closed: two versions of HTTP are supported.
pub(super) enum Link {
    Solo(Box<Http1Link>),
    Shared(UrlOrigin, http2::SendRequest<Whole>),
}

/// An HTTP/1.1 connection, for one request at a time.
pub(super) struct Http1Link {
    pub(super) origin: UrlOrigin,
    pub(super) sender: http1::SendRequest<Whole>,
    /// The `Host` header of the last request.
    pub(super) host: Option<HeaderValue>,
    /// `None` once the connection has ended.
    pub(super) driver: Option<Pin<Box<Driver>>>,
    /// The form of the request target that the peer requires.
    pub(super) form: Form,
    /// How long the server keeps the connection open, if its `Keep-Alive` header states it.
    pub(super) keeps: Option<Duration>,
}

pub(super) type Driver = http1::Connection<TokioIo<BoxIo>, Whole>;

/// The peer of a connection. Closed.
#[derive(Debug, Clone)]
pub(super) enum Form {
    /// The server: the request target is a path.
    Server,
    /// A proxy: the request target is a URL. The credential is for the proxy.
    Proxy(Option<HeaderValue>),
}

/// The reason why a request was not sent or has no response.
pub(super) enum LinkError {
    /// The server has not received the request. Its URI may be a path.
    Unsent(Box<Request<Bytes>>, hyper::Error),
    /// The server may have received the request.
    Broken(hyper::Error),
}

impl LinkError {
    pub(super) fn into_error(self, origin: UrlOrigin) -> HttpClientError {
        let (Self::Unsent(_, source) | Self::Broken(source)) = self;
        HttpClientError::Broken {
            origin,
            source: Box::new(source),
        }
    }
}

impl Link {
    /// Sends a request. The future does not contain the request, so that it is small.
    pub(super) fn send(
        self,
        request: Request<Bytes>,
        pool: &Arc<Pool>,
    ) -> impl Future<Output = Result<Response<HttpClientBody>, LinkError>> + Send + use<> {
        match self {
            Self::Solo(solo) => Either::Left(solo.send(request, Arc::clone(pool))),
            Self::Shared(_, sender) => Either::Right(Box::pin(send_shared(sender, request))),
        }
    }
}

async fn send_shared(
    mut sender: http2::SendRequest<Whole>,
    mut request: Request<Bytes>,
) -> Result<Response<HttpClientBody>, LinkError> {
    if let Err(ended) = sender.ready().await {
        return Err(LinkError::Unsent(Box::new(request), ended));
    }
    // An earlier attempt may have set this header; HTTP/2 sends the host in the URL.
    request.headers_mut().remove(HOST);
    let sent = sender.try_send_request(request.map(Whole::new)).await;
    let response = sent.map_err(not_sent)?;
    Ok(response.map(|incoming| HttpClientBody::new(Shared { incoming })))
}

fn not_sent(mut failure: hyper::client::conn::TrySendError<Request<Whole>>) -> LinkError {
    match failure.take_message() {
        Some(request) => LinkError::Unsent(
            Box::new(request.map(Whole::into_rest)),
            failure.into_error(),
        ),
        None => LinkError::Broken(failure.into_error()),
    }
}

impl Http1Link {
    /// Returns true if the connection is open and can send another request.
    pub(super) fn is_ready(&mut self) -> bool {
        self.drive(&mut without_wakes());
        self.driver.is_some() && self.sender.is_ready()
    }

    fn send(
        mut self: Box<Self>,
        request: Request<Bytes>,
        pool: Arc<Pool>,
    ) -> impl Future<Output = Result<Response<HttpClientBody>, LinkError>> + Send + use<> {
        let request = self.addressed(request).map(Whole::new);
        let mut answer = Box::pin(self.sender.try_send_request(request));
        async move {
            let answered = poll_fn(|cx| {
                self.drive(cx);
                answer.as_mut().poll(&mut without_wakes())
            });
            let response = answered.await.map_err(not_sent)?;
            self.keeps = keeps(response.headers());
            Ok(response.map(|incoming| {
                HttpClientBody::new(Own {
                    incoming,
                    solo: Some(self),
                    pool,
                })
            }))
        }
    }

    /// Polls the connection, and drops it once it has ended.
    fn drive(&mut self, cx: &mut Context<'_>) {
        if let Some(running) = &mut self.driver
            && running.as_mut().poll(cx).is_ready()
        {
            self.driver = None;
        }
    }

    /// Returns the `Host` header for a URL. Requests to one server repeat it, so the last is kept.
    fn host(&mut self, uri: &Uri) -> Option<HeaderValue> {
        let authority = uri.authority()?.as_str();
        if self.host.as_ref().is_none_or(|host| host != authority) {
            // An authority has only characters that are valid in a header.
            self.host = authority.parse().ok();
        }
        self.host.clone()
    }

    /// Writes the request target in the form that the peer requires.
    fn addressed(&mut self, mut request: Request<Bytes>) -> Request<Bytes> {
        if let Some(host) = self.host(request.uri()) {
            request.headers_mut().insert(HOST, host);
        }
        match &self.form {
            Form::Server => {
                let path = request.uri().path_and_query().cloned();
                *request.uri_mut() = path.map_or(Uri::default(), Uri::from);
            }
            Form::Proxy(credential) => {
                let named = credential.iter().cloned();
                let headers = request.headers_mut();
                headers.extend(named.map(|credential| (PROXY_AUTHORIZATION, credential)));
            }
        }
        request
    }
}

/// Returns a task that nothing wakes: for the results of a connection that the same poll drives. A wake
/// by the connection would only repeat that poll.
fn without_wakes() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Reads `Keep-Alive: timeout=5`, less one second for the transfer of a request.
fn keeps(headers: &HeaderMap) -> Option<Duration> {
    let value = single(headers, &KEEP_ALIVE).ok().flatten()?;
    let seconds = value
        .split(',')
        .find_map(|part| part.trim().strip_prefix("timeout="))?;
    let seconds: u64 = seconds.parse().ok()?;
    Some(Duration::from_secs(seconds.saturating_sub(1)))
}

/// A response body that drives its own connection, and returns it to the pool at the end.
struct Own {
    incoming: Incoming,
    solo: Option<Box<Http1Link>>,
    pool: Arc<Pool>,
}

impl Own {
    fn give_back(&mut self) {
        if let Some(solo) = self.solo.take() {
            self.pool.put(solo);
        }
    }
}

impl Body for Own {
    type Data = Bytes;
    type Error = HttpClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpClientError>>> {
        let Self { incoming, solo, .. } = &mut *self;
        if let Some(solo) = solo {
            solo.drive(cx);
        }
        let Poll::Ready(frame) = Pin::new(incoming).poll_frame(&mut without_wakes()) else {
            return Poll::Pending;
        };
        match frame {
            None => {
                self.give_back();
                Poll::Ready(None)
            }
            Some(Ok(frame)) => Poll::Ready(Some(Ok(frame))),
            Some(Err(source)) => {
                let solo = self.solo.take();
                Poll::Ready(Some(Err(broken(solo.map(|solo| solo.origin), source))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

/// A reader that knows the length may stop before it polls the end.
impl Drop for Own {
    fn drop(&mut self) {
        if self.incoming.is_end_stream() {
            self.give_back();
        }
    }
}

fn broken(origin: Option<UrlOrigin>, source: hyper::Error) -> HttpClientError {
    let source: Box<dyn std::error::Error + Send + Sync> = Box::new(source);
    match origin {
        Some(origin) => HttpClientError::Broken { origin, source },
        None => HttpClientError::Other(source),
    }
}

/// A response body on a shared connection.
struct Shared {
    incoming: Incoming,
}

impl Body for Shared {
    type Data = Bytes;
    type Error = HttpClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpClientError>>> {
        let polled = Pin::new(&mut self.incoming).poll_frame(cx);
        polled.map(|frame| frame.map(|frame| frame.map_err(|source| broken(None, source))))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
