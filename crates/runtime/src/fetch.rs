//! One bounded exchange over HTTP, for documents: metadata, keys, tokens.
//!
//! The caller sets which network may be reached, how much is read, and the timeout; the fetcher
//! enforces these. A redirect is returned like any other response, and is not followed.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_model::errors;

use crate::future::BoxFuture;
use crate::net::NetworkScope;

/// A request, with bounds for its response.
///
/// `Debug` leaves out the query, the values of headers and the body: there are secrets in them.
#[derive(Clone)]
#[non_exhaustive]
pub struct FetchRequest {
    /// The HTTP method, in upper case.
    pub method: &'static str,
    /// The absolute address: `http` or `https`.
    pub url: String,
    /// Names and values. A name is lower case.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The body. It is empty for most methods but `POST`, `PUT` and `PATCH`.
    pub body: Bytes,
    /// The addresses that may be connected to.
    pub network: NetworkScope,
    /// How much of the answer's body is read, in bytes.
    pub max_bytes: usize,
    /// How long all of it may take.
    pub timeout: Duration,
}

impl FetchRequest {
    /// Asks for a document of at most 1 MiB, within 30 s, at a public address.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: "GET",
            url: url.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            network: NetworkScope::Public,
            max_bytes: 1 << 20,
            timeout: Duration::from_secs(30),
        }
    }

    /// Sends a body, with bounds as [`get`](Self::get).
    pub fn post(url: impl Into<String>, content_type: &str, body: impl Into<Bytes>) -> Self {
        Self {
            method: "POST",
            body: body.into(),
            ..Self::get(url)
        }
        .header("content-type", content_type)
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The address without its query.
    pub fn url_without_query(&self) -> &str {
        self.url.split(['?', '#']).next().unwrap_or_default()
    }
}

impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url_without_query())
    }
}

/// An HTTP response with its whole body. `Debug` shows the status and the size.
#[derive(Clone)]
#[non_exhaustive]
pub struct FetchResponse {
    /// The HTTP status of the response.
    pub status: u16,
    /// Names, in lower case, and values. Values that are not text are left out.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The whole body of the response.
    pub body: Bytes,
}

impl FetchResponse {
    /// A response with a status and a body, without headers.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .push((name.to_ascii_lowercase().into(), value.into()));
        self
    }

    /// Returns the only value of a header; `None` if the header is absent or repeated.
    pub fn single(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(own, _)| &**own == name);
        let value = values.next()?;
        values.next().is_none().then_some(&*value.1)
    }
}

impl fmt::Debug for FetchResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "FetchResponse({}, {} bytes)",
            self.status,
            self.body.len()
        )
    }
}

errors! {
    /// Reason why a fetch has no response.
    #[derive(Debug, Clone)]
    #[non_exhaustive]
    pub enum FetchError {
        /// Fetching from this address is forbidden.
        Forbidden(address: IpAddr) => "fetching from the address {address} is forbidden",
        /// The body is longer than was asked for, in bytes.
        TooLarge(bytes: usize) => "the answer has more than {bytes} bytes",
        /// The fetch took longer than the timeout.
        TimedOut(timeout: Duration) => "there was no answer within {timeout:?}",
        /// No connection, or one that broke.
        Unreachable(reason: Arc<dyn Error + Send + Sync>)
            => "there was no answer" (source: &**reason),
    }
}

impl FetchError {
    /// A fault of the network.
    pub fn unreachable(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Unreachable(Arc::from(reason.into()))
    }
}

/// Fetches documents over HTTP.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one exchange, follows no redirect, and retries nothing.
    ///
    /// # Errors
    ///
    /// [`FetchError`]. A response of any status is not an error.
    fn fetch(
        &self,
        request: FetchRequest,
    ) -> impl Future<Output = Result<FetchResponse, FetchError>> + Send;
}

/// Whatever fetches, of any type. Clones are the same one.
#[derive(Clone)]
pub struct BoxFetch(Arc<dyn DynFetch>);

trait DynFetch: Send + Sync {
    fn fetch_dyn(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>>;
}

impl<F: Fetch> DynFetch for F {
    fn fetch_dyn(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>> {
        Box::pin(self.fetch(request))
    }
}

impl BoxFetch {
    /// Hides the type of a fetcher.
    pub fn new(fetch: impl Fetch) -> Self {
        Self(Arc::new(fetch))
    }
}

impl Fetch for BoxFetch {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        self.0.fetch_dyn(request).await
    }
}

impl fmt::Debug for BoxFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxFetch")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-46
    #[test]
    fn an_exchange_shows_no_secret() {
        let request = FetchRequest::post(
            "https://a.example/token?key=hunter2",
            "text/plain",
            "hunter2",
        )
        .header("authorization", "hunter2");
        assert_eq!(format!("{request:?}"), "POST https://a.example/token");
        let answer = FetchResponse::new(200, "hunter2").header("DPoP-Nonce", "hunter2");
        assert_eq!(format!("{answer:?}"), "FetchResponse(200, 7 bytes)");
        assert_eq!(answer.single("dpop-nonce"), Some("hunter2"));
        assert_eq!(answer.header("dpop-nonce", "x").single("dpop-nonce"), None);
    }
}
