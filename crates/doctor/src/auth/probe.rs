//! A request without a token, which finds out whether a server requires authorization.

use pintle::http::client::{DocumentClient, HttpClientOptions};
use pintle::model::Revision;
use pintle::runtime::{Fetch, FetchError, FetchRequest, NetworkScope};

use pintle_hosts::Endpoint;

/// The response of a server to a request without a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthProbe {
    /// The HTTP status of the response.
    pub status: u16,
    /// Its lines of `WWW-Authenticate`.
    pub challenges: Vec<String>,
}

impl AuthProbe {
    /// Returns true if the status is 401 or 403.
    pub fn is_refused(&self) -> bool {
        matches!(self.status, 401 | 403)
    }
}

/// Sends `server/discover` without a token. The server creates no session, because no handshake happens.
///
/// # Errors
///
/// [`FetchError`].
pub async fn probe(endpoint: &Endpoint) -> Result<AuthProbe, FetchError> {
    let fetch = DocumentClient::new(&HttpClientOptions::default());
    probe_with(&fetch, endpoint).await
}

/// Sends the same request with the given HTTP client.
pub async fn probe_with(fetch: &impl Fetch, endpoint: &Endpoint) -> Result<AuthProbe, FetchError> {
    let answer = fetch.fetch(request(endpoint)).await?;
    let challenges = answer.headers.iter();
    let challenges = challenges.filter(|(name, _)| &**name == "www-authenticate");
    Ok(AuthProbe {
        status: answer.status,
        challenges: challenges.map(|(_, value)| value.to_string()).collect(),
    })
}

pub(crate) fn request(endpoint: &Endpoint) -> FetchRequest {
    const BODY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#;
    let url = endpoint.url.split('#').next().unwrap_or_default();
    let mut request = FetchRequest::post(url, "application/json", BODY)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-method", "server/discover");
    if let Some(newest) = Revision::modern().last() {
        request = request.header("mcp-protocol-version", &newest.to_string());
    }
    for (name, value) in &endpoint.headers {
        request = request.header(&name.to_ascii_lowercase(), value);
    }
    // The user chose this URL, so private networks are allowed.
    request.network = NetworkScope::Private;
    request
}
