//! One HTTP request and its answer: the seam below the client.
//!
//! [`WebClient`](crate::client::WebClient) is how it is done over the network. Tests answer from
//! memory, and whatever authorizes wraps another.

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

use crate::client::url::UrlOrigin;

/// Makes one HTTP request.
///
/// It follows no redirect and retries nothing that a server may have seen. Dropping the future, or
/// the body of the answer before its end, lets the server know that nobody listens any more.
pub trait HttpClient: Send + Sync + 'static {
    /// Sends a request to the absolute address in its URI; returns with the head of the answer.
    ///
    /// # Errors
    ///
    /// [`HttpClientError`] when there is no answer. An answer of any status is no error.
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

/// The body of an answer, as it arrives.
pub struct HttpClientBody(Pin<Box<dyn Body<Data = Bytes, Error = HttpClientError> + Send>>);

impl HttpClientBody {
    /// A body of any kind.
    pub fn new(body: impl Body<Data = Bytes, Error = HttpClientError> + Send + 'static) -> Self {
        Self(Box::pin(body))
    }

    /// A body that is there already.
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

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpClientError {
    /// The name has no address.
    #[error("the host {host:?} cannot be resolved")]
    Resolve {
        /// The name.
        host: Box<str>,
        /// What the resolver said.
        source: io::Error,
    },
    /// The name leads to where nothing may be fetched from.
    #[error("connections to {address} are not allowed")]
    Forbidden {
        /// The address.
        address: std::net::IpAddr,
    },
    /// Nobody accepts connections there.
    #[error("no connection to {origin}")]
    Connect {
        /// Where to.
        origin: UrlOrigin,
        /// What the network said.
        source: io::Error,
    },
    /// The server's certificate or its TLS is not acceptable.
    #[error("no secure connection to {origin}")]
    Tls {
        /// Where to.
        origin: UrlOrigin,
        /// What was wrong.
        source: io::Error,
    },
    /// The proxy did not let us through.
    #[error("the proxy {proxy} does not connect to {origin}: {reason}")]
    Proxy {
        /// The proxy, without its password.
        proxy: Box<str>,
        /// Where to.
        origin: UrlOrigin,
        /// What it said.
        reason: Box<str>,
    },
    /// Connecting took too long.
    #[error("no connection to {origin} within {after:?}")]
    TimedOut {
        /// Where to.
        origin: UrlOrigin,
        /// How long we waited.
        after: Duration,
    },
    /// The connection broke, or what came over it is not HTTP. The server may have acted.
    #[error("the connection to {origin} broke")]
    Broken {
        /// Where to.
        origin: UrlOrigin,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Another reason, of another implementation. The server may have acted.
    #[error("the request has no response")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl HttpClientError {
    /// Whether the server may have seen the request. When not, it may be made again.
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

    /// What was not read of it.
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

/// A body that cannot fail, with the error type of those that can.
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
