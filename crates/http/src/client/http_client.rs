//! One HTTP request and its response: the trait below the client.
//!
//! [`WebClient`](crate::client::WebClient) implements it over the network. Tests respond from memory,
//! and authorizers wrap another implementation.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};

use crate::client::endpoint_url::UrlOrigin;

/// Makes one HTTP request.
///
/// It follows no redirect and does not retry a request that a server may have received. To drop the
/// future, or the body of the response before its end, disconnects from the server.
pub trait HttpClient: Send + Sync + 'static {
    /// Sends a request to the absolute URL in its URI. Returns once the head of the response arrived.
    ///
    /// # Errors
    ///
    /// [`HttpClientError`] without a response. A response of any status is not an error.
    fn fetch(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<HttpClientBody>, HttpClientError>> + Send;
}

impl<F: HttpClient> HttpClient for Arc<F> {
    async fn fetch(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpClientError> {
        F::fetch(self, request).await
    }
}

/// The body of a response, as it arrives.
pub struct HttpClientBody(Pin<Box<dyn Body<Data = Bytes, Error = HttpClientError> + Send>>);

impl HttpClientBody {
    /// Wraps a body of any type.
    pub fn new(body: impl Body<Data = Bytes, Error = HttpClientError> + Send + 'static) -> Self {
        Self(Box::pin(body))
    }

    /// Creates a body from bytes in memory.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self::new(Certain(Whole::new(bytes.into())))
    }
}

impl Body for HttpClientBody {
    type Data = Bytes;
    type Error = HttpClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpClientError>>> {
        self.0.as_mut().poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl fmt::Debug for HttpClientBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpClientBody")
    }
}

/// The reason why a request has no response.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// The host name has no address.
    #[error("the host {host:?} cannot be resolved")]
    Resolve {
        /// Host name that was resolved.
        host: Box<str>,
        /// Error of the resolver.
        source: io::Error,
    },
    /// The host name has an address that is not allowed.
    #[error("connections to {address} are not allowed")]
    Forbidden {
        /// Address that is not allowed.
        address: std::net::IpAddr,
    },
    /// The server does not accept connections.
    #[error("no connection to {origin}")]
    Connect {
        /// Origin of the server.
        origin: UrlOrigin,
        /// Error of the network.
        source: io::Error,
    },
    /// The TLS handshake failed, or the certificate of the server is not trusted.
    #[error("no secure connection to {origin}")]
    Tls {
        /// Origin of the server.
        origin: UrlOrigin,
        /// Error of TLS.
        source: io::Error,
    },
    /// The proxy did not connect to the server.
    #[error("the proxy {proxy} does not connect to {origin}: {reason}")]
    Proxy {
        /// The proxy, without its password.
        proxy: Box<str>,
        /// Origin of the server.
        origin: UrlOrigin,
        /// Reason that the proxy gave.
        reason: Box<str>,
    },
    /// The connection was not established in time.
    #[error("no connection to {origin} within {after:?}")]
    TimedOut {
        /// Origin of the server.
        origin: UrlOrigin,
        /// Timeout that has passed.
        after: Duration,
    },
    /// The connection broke, or the response is not HTTP. The server may have acted.
    #[error("the connection to {origin} broke")]
    Broken {
        /// Origin of the server.
        origin: UrlOrigin,
        /// Error of the connection.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An error of another implementation. The server may have acted.
    #[error("the request has no response")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl HttpClientError {
    /// Returns true if the server may have received the request. If not, a retry is safe.
    pub fn may_have_arrived(&self) -> bool {
        matches!(self, Self::Broken { .. } | Self::Other(_))
    }
}

/// A body in one piece.
#[derive(Debug)]
pub(crate) struct Whole(Option<Bytes>);

impl Whole {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// Returns the unread rest.
    pub(crate) fn into_rest(self) -> Bytes {
        self.0.unwrap_or_default()
    }
}

impl Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}

/// A body that cannot fail, with the error type of other bodies.
struct Certain(Whole);

impl Body for Certain {
    type Data = Bytes;
    type Error = HttpClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpClientError>>> {
        let polled = Pin::new(&mut self.0).poll_frame(cx);
        polled.map(|frame| frame.map(|frame| frame.map_err(|never| match never {})))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
