//! Documents over the network: metadata, keys, tokens.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri};
use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse, NetworkScope};
use tokio::time::timeout;

use crate::body::{self, BodyError, Bounds};
use crate::client::http_client::{HttpClient as _, HttpClientError};
use crate::client::options::HttpClientOptions;
use crate::client::web::WebClient;

/// Fetches documents with the proxy, the certificates and the timeouts of a client, but without its
/// headers. Clones share their connections.
///
/// A host name is resolved first; the check and the connection use the same addresses. Behind a proxy,
/// the proxy resolves the name, so its address cannot be checked.
#[derive(Debug, Clone)]
pub struct DocumentClient {
    public: WebClient,
    private: WebClient,
}

impl DocumentClient {
    /// Creates a client that connects with `options`.
    pub fn new(options: &HttpClientOptions) -> Self {
        Self {
            public: WebClient::within(NetworkScope::Public, options),
            private: WebClient::within(NetworkScope::Private, options),
        }
    }

    async fn exchange(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let fetch = match request.network {
            NetworkScope::Public => &self.public,
            NetworkScope::Private => &self.private,
        };
        let (limit, time) = (request.max_bytes, request.timeout);
        let answer = fetch.fetch(head(request)?).await.map_err(fault)?;
        let (parts, body) = answer.into_parts();
        let read = body::read(body, Bounds::within(limit, time)).await;
        let read = read.map_err(|unread| match unread {
            BodyError::TooLarge => FetchError::TooLarge(limit),
            BodyError::Stalled => FetchError::TimedOut(time),
            BodyError::Broken => FetchError::unreachable("the connection broke"),
        })?;
        let mut fetched = FetchResponse::new(parts.status.as_u16(), read);
        for (name, value) in &parts.headers {
            if let Ok(value) = value.to_str() {
                fetched = fetched.header(name.as_str(), value);
            }
        }
        Ok(fetched)
    }
}

impl Fetch for DocumentClient {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        let time = request.timeout;
        let exchanged = timeout(time, self.exchange(request)).await;
        exchanged.unwrap_or(Err(FetchError::TimedOut(time)))
    }
}

fn head(request: FetchRequest) -> Result<Request<Bytes>, FetchError> {
    let uri: Uri = request.url.parse().map_err(FetchError::unreachable)?;
    let mut made = Request::new(request.body);
    *made.method_mut() = request.method.parse().map_err(FetchError::unreachable)?;
    *made.uri_mut() = uri;
    for (name, value) in &request.headers {
        let name = HeaderName::try_from(&**name).map_err(FetchError::unreachable)?;
        let mut value = HeaderValue::try_from(&**value).map_err(FetchError::unreachable)?;
        value.set_sensitive(true);
        made.headers_mut().append(name, value);
    }
    Ok(made)
}

fn fault(error: HttpClientError) -> FetchError {
    match error {
        HttpClientError::Forbidden { address } => FetchError::Forbidden(address),
        HttpClientError::TimedOut { after, .. } => FetchError::TimedOut(after),
        other => FetchError::unreachable(other),
    }
}
