//! Contacts a server at a URL: the first response, the authorization, the conversation.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderName, HeaderValue};
use pintle::auth::WebUrl;
use pintle::http::client::{
    DocumentClient, EndpointUrl, HttpClientError, HttpClientOptions, HttpConnect,
};
use pintle::model::Base64;
use pintle::runtime::{Fetch as _, FetchError, FetchResponse};
use pintle_hosts::{Endpoint, Target, without_query};
use serde_json::Value;
use tokio::time::timeout;

use super::StoredToken;
use super::conversation::{Hosted, converse};
use crate::auth::{Link, diagnose_auth, request};
use crate::facts::{Contact, Conversation, EndpointFacts, Failure, Place, TokenFacts};
use crate::options::DoctorOptions;
use crate::redact::Secrets;

/// Largest body of a first response that is read, in bytes. Its content does not matter.
const BODY: usize = 256 << 10;

/// Examines a server at a URL.
pub(super) async fn examine(
    endpoint: &Endpoint,
    stored: Option<&StoredToken>,
    place: &Place,
    start_timeout: Duration,
    options: &DoctorOptions,
) -> EndpointFacts {
    let visit = Visit {
        fetch: DocumentClient::new(&HttpClientOptions::default()),
        endpoint,
        secrets: Secrets::of(&Target::Url(endpoint.clone())),
        options,
    };
    let (contact, redirect) = visit.contact().await;
    let mut facts = EndpointFacts {
        url: without_query(&endpoint.url).to_owned(),
        contact,
        redirect,
        better_url: None,
        proxy: proxy(&endpoint.url),
        chain: Vec::new(),
        token: token(endpoint, stored),
        conversation: None,
    };
    let Contact::Status(status) = facts.contact else {
        return facts;
    };
    if matches!(status, 401 | 403) && facts.token.is_none() {
        facts.chain = visit.chain().await;
        return facts;
    }
    if facts.redirect.is_some()
        || facts
            .token
            .as_ref()
            .is_some_and(|token| token.expired_for.is_some())
    {
        return facts;
    }
    let sent = with_token(endpoint, stored);
    let hosted = Hosted {
        address: &place.address,
        start_timeout,
        secrets: &visit.secrets,
        options,
    };
    let conversation = talk(&sent, hosted).await;
    if conversation.is_err() && matches!(status, 404 | 405 | 410) {
        facts.better_url = visit.better_url().await;
    }
    facts.conversation = Some(conversation);
    facts
}

/// Requests to one server.
struct Visit<'v> {
    fetch: DocumentClient,
    endpoint: &'v Endpoint,
    secrets: Secrets,
    options: &'v DoctorOptions,
}

impl Visit<'_> {
    /// Sends the first request, without a token. Returns the URL of a redirect, too.
    async fn contact(&self) -> (Contact, Option<String>) {
        if let Err(error) = EndpointUrl::parse(&self.endpoint.url) {
            return (Contact::UnusableUrl(error.to_string()), None);
        }
        match self.ask(&self.endpoint.clone().unauthorized()).await {
            Ok(response) => {
                let location = response
                    .single("location")
                    .filter(|_| (300..400).contains(&response.status));
                let location = location.map(|url| without_query(url).to_owned());
                (Contact::Status(response.status), location)
            }
            Err(error) => (self.failed(&error), None),
        }
    }

    async fn ask(&self, endpoint: &Endpoint) -> Result<FetchResponse, FetchError> {
        let mut request = request(endpoint);
        request.timeout = self.options.request_timeout;
        request.max_bytes = BODY;
        self.fetch.fetch(request).await
    }

    fn failed(&self, error: &FetchError) -> Contact {
        let reason = || self.secrets.hide(&last(error));
        match find::<HttpClientError>(error) {
            Some(HttpClientError::Resolve { host, .. }) => {
                return Contact::NoAddress(host.to_string());
            }
            Some(HttpClientError::Tls { .. }) => return Contact::Tls(reason()),
            Some(HttpClientError::Proxy { reason, .. }) => {
                return Contact::Proxy(self.secrets.hide(reason));
            }
            Some(HttpClientError::TimedOut { .. }) => return Contact::TimedOut,
            _ => {}
        }
        match (error, find::<io::Error>(error).map(io::Error::kind)) {
            (FetchError::TimedOut(_), _) => Contact::TimedOut,
            // A long answer is an answer.
            (FetchError::TooLarge(_), _) => Contact::Status(200),
            (_, Some(io::ErrorKind::ConnectionRefused)) => Contact::Refused,
            (_, Some(io::ErrorKind::TimedOut)) => Contact::TimedOut,
            _ => Contact::Broken(reason()),
        }
    }

    /// Returns `/mcp` of the server, if an MCP server answers there.
    async fn better_url(&self) -> Option<String> {
        let url = without_query(&self.endpoint.url);
        let authority = url.find("://")? + 3;
        let end = url[authority..]
            .find('/')
            .map_or(url.len(), |at| authority + at);
        let better = format!("{}/mcp", &url[..end]);
        if better == url {
            return None;
        }
        let other = Endpoint {
            url: better.clone(),
            // Another path may belong to another program, so headers are not sent there.
            headers: Vec::new(),
            is_sse: false,
        };
        let response = self.ask(&other).await.ok()?;
        let is_mcp = matches!(response.status, 200 | 400 | 401 | 403 | 406);
        is_mcp.then_some(better)
    }

    /// Checks the steps of the authorization.
    async fn chain(&self) -> Vec<Link> {
        let url = self.endpoint.url.split('#').next().unwrap_or_default();
        let Ok(server) = WebUrl::parse(url) else {
            return Vec::new();
        };
        let links = diagnose_auth(&self.fetch, self.endpoint, server, false);
        let links = timeout(self.options.request_timeout * 3, links).await;
        links.ok().and_then(Result::ok).unwrap_or_default()
    }
}

async fn talk(endpoint: &Endpoint, hosted: Hosted<'_>) -> Result<Conversation, Failure> {
    let url = EndpointUrl::parse(&endpoint.url);
    let url = url.map_err(|error| Failure::Other(error.to_string()))?;
    let mut options = HttpClientOptions::default();
    for (name, value) in &endpoint.headers {
        let invalid = || Failure::Other(format!("the header `{name}` is not valid"));
        let parsed = HeaderName::try_from(name).map_err(|_| invalid())?;
        let value = HeaderValue::try_from(value).map_err(|_| invalid())?;
        options = options.header(parsed, value).map_err(|_| invalid())?;
    }
    let connect = HttpConnect::new(url, &options);
    let connect = connect.map_err(|error| Failure::Other(error.to_string()))?;
    converse(connect, hosted).await
}

fn with_token(endpoint: &Endpoint, stored: Option<&StoredToken>) -> Endpoint {
    let mut endpoint = endpoint.clone();
    if let Some(stored) = stored {
        endpoint.authorize(stored.access.reveal());
    }
    endpoint
}

/// Returns the facts about the token that is sent.
fn token(endpoint: &Endpoint, stored: Option<&StoredToken>) -> Option<TokenFacts> {
    let written = endpoint
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    match (written, stored) {
        (Some((_, value)), _) => Some(TokenFacts {
            is_written: true,
            is_renewable: false,
            expired_for: expiry(value).and_then(since),
        }),
        (None, Some(stored)) => Some(TokenFacts {
            is_written: false,
            is_renewable: stored.is_renewable,
            expired_for: stored.expires.and_then(since),
        }),
        (None, None) => None,
    }
}

/// Returns the time since a moment, if it has passed.
fn since(moment: SystemTime) -> Option<Duration> {
    SystemTime::now()
        .duration_since(moment)
        .ok()
        .filter(|time| !time.is_zero())
}

/// Returns the expiry of a JSON web token. Its signature does not matter here.
fn expiry(header: &str) -> Option<SystemTime> {
    let token = header.rsplit(' ').next()?;
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = Base64::from_text(claims).decode().ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let seconds = claims.get("exp")?.as_f64()?;
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    UNIX_EPOCH.checked_add(time)
}

/// Returns the variable that names a proxy for a URL, if the URL is not on this machine.
fn proxy(url: &str) -> Option<&'static str> {
    let names: &[&'static str] = match url.starts_with("https:") {
        true => &["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        false => &["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"],
    };
    let is_set = |name: &&&'static str| std::env::var(name).is_ok_and(|value| !value.is_empty());
    names.iter().find(is_set).copied()
}

/// Returns the first error of a type among the causes.
fn find<'e, E: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e E> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An I/O error may have its cause inside, and not as its source.
        let inner = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if let Some(found) = inner.and_then(|inner| inner.downcast_ref()) {
            return Some(found);
        }
        cause = error.source();
    }
    None
}

/// Returns the text of the last cause.
fn last(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_json_web_token_has_an_expiry() {
        let claims = Base64::encode(br#"{"exp": 1000}"#);
        let claims = claims.as_str().trim_end_matches('=');
        let at = UNIX_EPOCH + Duration::from_secs(1000);
        assert_eq!(expiry(&format!("Bearer e30.{claims}.x")), Some(at));
        for other in ["Bearer opaque", "Bearer a.b.c", "", "Basic e30.e30.e30"] {
            assert_eq!(expiry(other), None, "{other}");
        }
        assert!(since(at).is_some() && since(SystemTime::now() + Duration::from_secs(9)).is_none());
    }
}
