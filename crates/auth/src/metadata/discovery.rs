//! Discovery of a metadata document: one well-known URL after the other.
//!
//! A [`Discovery`] returns a URL to fetch, accepts the response, and returns the next step. It
//! performs no I/O.

use pintle_runtime::{FetchError, FetchRequest, FetchResponse, WebUrl};

use crate::fetch_policy::FetchPolicy;
use crate::metadata::server::check;
use crate::metadata::{
    MetadataDocument, MetadataError, ResourceMetadata, ServerMetadata, resource, server,
};

/// Maximum number of redirects in a row for one document, each within the same origin.
const REDIRECTS: u8 = 5;

/// Discovery of the metadata of a protected resource.
pub type ResourceProbe = Discovery<WebUrl>;
/// Discovery of the metadata of an authorization server by its issuer.
pub type ServerProbe = Discovery<ExpectedIssuer>;

/// The issuer that fetched metadata must name.
#[derive(Debug, Clone)]
pub struct ExpectedIssuer {
    name: String,
    /// The issuer is assumed to be the origin of the server, so a trailing slash is also accepted.
    is_assumed: bool,
}

/// Next step of a discovery. The list is complete, because the driver must handle every step.
#[derive(Debug)]
pub enum DiscoveryStep<T> {
    /// Fetch this URL and pass the response to the discovery.
    Fetch(FetchRequest),
    /// The document was found.
    Found(DiscoveredDocument<T>),
    /// No URL has the document.
    Nowhere {
        /// The result of each URL, in the order of the requests.
        tried: Vec<(String, DiscoveryError)>,
        /// Whether each URL returned the status 404, 405 or 410.
        is_certain: bool,
    },
    /// The document names another issuer or a forbidden URL. No other URL may be tried.
    Refused(String, MetadataError),
    /// A temporary error of one URL. The document may exist there, so no other URL is tried. A new
    /// discovery may succeed.
    Unavailable(String, DiscoveryError),
}

/// A metadata document and its URL.
#[derive(Debug)]
pub struct DiscoveredDocument<T> {
    /// The parsed document.
    pub document: T,
    /// The well-known or named URL that led to the document, without its query.
    pub place: String,
}

/// Reason why a URL did not supply the document.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The HTTP status is not a 2xx status.
    #[error("HTTP status {0}")]
    Status(u16),
    /// The fetch failed.
    #[error("{0}")]
    Fetch(FetchError),
    /// The body is not a valid metadata document.
    #[error("{0}")]
    InvalidDocument(MetadataError),
    /// The URL is invalid, or the fetch policy forbids it.
    #[error("{0}")]
    Address(Box<str>),
    /// The response redirects to another origin, has no valid target, or is the sixth redirect.
    #[error("a redirect that is not followed")]
    Redirect,
}

impl DiscoveryError {
    /// Returns true if a retry may succeed, because the server or the network failed.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Status(status) => is_temporary(*status),
            Self::Fetch(fault) => {
                matches!(fault, FetchError::TimedOut(_) | FetchError::Unreachable(_))
            }
            Self::InvalidDocument(_) | Self::Address(_) | Self::Redirect => false,
        }
    }
}

/// Returns true if a status reports a server error, or asks the client to retry later.
///
/// Spec: RFC 9110, 15.5.9 and 15.6; RFC 6585, 4.
pub(crate) fn is_temporary(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// State machine of the discovery of one document.
#[derive(Debug)]
pub struct Discovery<A> {
    about: A,
    document: MetadataDocument,
    fetch_policy: FetchPolicy,
    left: std::vec::IntoIter<String>,
    current: Option<WebUrl>,
    first: String,
    redirects: u8,
    tried: Vec<(String, DiscoveryError)>,
}

impl ResourceProbe {
    /// Creates a discovery that tries the URL of the challenge, then the well-known URLs.
    ///
    /// Spec: [2025-11-25, Authorization, Protected resource metadata discovery][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#protected-resource-metadata-discovery-requirements
    pub fn of_resource(server: &WebUrl, named: Option<&str>, fetch_policy: &FetchPolicy) -> Self {
        let mut places: Vec<String> = named.map(str::to_owned).into_iter().collect();
        for place in resource::places(server) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Self::new(
            server.clone(),
            MetadataDocument::Resource,
            fetch_policy,
            places,
        )
    }

    /// Returns the first step.
    pub fn begin(&mut self) -> DiscoveryStep<ResourceMetadata> {
        self.next()
    }

    /// Accepts a response and returns the next step.
    pub fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
    ) -> DiscoveryStep<ResourceMetadata> {
        let server = self.about.clone();
        self.evaluate(answer, |body| ResourceMetadata::read(body, &server))
    }
}

impl ServerProbe {
    /// Creates a discovery that tries the well-known URLs of an issuer.
    ///
    /// # Errors
    ///
    /// [`MetadataError::Address`] if the client may not use the URL of the issuer, or it has a query.
    pub fn of_server(issuer: &str, fetch_policy: &FetchPolicy) -> Result<Self, MetadataError> {
        let url = check("authorization_servers", issuer, fetch_policy)?;
        if url.query().is_some() {
            return Err(MetadataError::Address {
                member: "authorization_servers",
                found: issuer.split('?').next().unwrap_or_default().into(),
                reason: "an issuer has no query".into(),
            });
        }
        let issuer = ExpectedIssuer {
            name: issuer.to_owned(),
            is_assumed: false,
        };
        let places = server::places(&url);
        Ok(Self::new(
            issuer,
            MetadataDocument::Server,
            fetch_policy,
            places,
        ))
    }

    /// Creates a discovery for a server that is its own authorization server.
    ///
    /// Spec: [2025-03-26, Authorization, Server metadata discovery][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization#server-metadata-discovery
    pub fn of_origin(server: &WebUrl, fetch_policy: &FetchPolicy) -> Self {
        let issuer = ExpectedIssuer {
            name: server.front().to_owned(),
            is_assumed: true,
        };
        let place = server.at("/.well-known/oauth-authorization-server");
        Self::new(issuer, MetadataDocument::Server, fetch_policy, vec![place])
    }

    /// Returns the first step.
    pub fn begin(&mut self) -> DiscoveryStep<ServerMetadata> {
        self.next()
    }

    /// Accepts a response and returns the next step.
    pub fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
    ) -> DiscoveryStep<ServerMetadata> {
        let (issuer, fetch_policy) = (self.about.clone(), self.fetch_policy.clone());
        self.evaluate(answer, |body| {
            let found = issuer.read(body)?;
            found.check(&fetch_policy)?;
            Ok(found)
        })
    }
}

impl ExpectedIssuer {
    fn read(&self, body: &[u8]) -> Result<ServerMetadata, MetadataError> {
        let found = ServerMetadata::read(body, &self.name);
        match found {
            Err(MetadataError::Mismatch { .. }) if self.is_assumed => {
                ServerMetadata::read(body, &format!("{}/", self.name))
            }
            found => found,
        }
    }
}

impl<A> Discovery<A> {
    fn new(
        about: A,
        document: MetadataDocument,
        fetch_policy: &FetchPolicy,
        places: Vec<String>,
    ) -> Self {
        Self {
            about,
            document,
            fetch_policy: fetch_policy.clone(),
            left: places.into_iter(),
            current: None,
            first: String::new(),
            redirects: 0,
            tried: Vec::new(),
        }
    }

    /// Returns the kind of the document.
    pub fn document(&self) -> MetadataDocument {
        self.document
    }

    fn next<T>(&mut self) -> DiscoveryStep<T> {
        loop {
            let Some(place) = self.left.next() else {
                return self.nowhere();
            };
            match check("resource_metadata", &place, &self.fetch_policy) {
                Ok(url) => {
                    self.first = url.to_string();
                    self.redirects = 0;
                    return self.fetch(url);
                }
                Err(fault) => {
                    let reason = DiscoveryError::Address(fault.to_string().into());
                    let place = place.split('?').next().unwrap_or_default();
                    self.tried.push((place.to_owned(), reason));
                }
            }
        }
    }

    fn fetch<T>(&mut self, url: WebUrl) -> DiscoveryStep<T> {
        let mut request = FetchRequest::get(url.as_str()).header("accept", "application/json");
        request.network = self.fetch_policy.network(&url);
        self.current = Some(url);
        DiscoveryStep::Fetch(request)
    }

    fn evaluate<T>(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
        read: impl FnOnce(&[u8]) -> Result<T, MetadataError>,
    ) -> DiscoveryStep<T> {
        let reason = match answer {
            Err(fault) => DiscoveryError::Fetch(fault),
            Ok(answer) if matches!(answer.status, 301 | 302 | 303 | 307 | 308) => {
                match self.redirected(&answer) {
                    Some(url) => return self.fetch(url),
                    None => DiscoveryError::Redirect,
                }
            }
            Ok(answer) if !(200..300).contains(&answer.status) => {
                DiscoveryError::Status(answer.status)
            }
            Ok(answer) => match read(&answer.body) {
                Ok(document) => {
                    let place = std::mem::take(&mut self.first);
                    return DiscoveryStep::Found(DiscoveredDocument { document, place });
                }
                // A document for another issuer, or with a forbidden URL, may be an attack.
                Err(fault @ (MetadataError::Mismatch { .. } | MetadataError::Address { .. })) => {
                    return DiscoveryStep::Refused(std::mem::take(&mut self.first), fault);
                }
                Err(fault) => DiscoveryError::InvalidDocument(fault),
            },
        };
        let place = std::mem::take(&mut self.first);
        if reason.is_temporary() {
            return DiscoveryStep::Unavailable(place, reason);
        }
        self.tried.push((place, reason));
        self.next()
    }

    /// Returns the target of a redirect within the origin, up to the redirect limit.
    fn redirected(&mut self, answer: &FetchResponse) -> Option<WebUrl> {
        let from = self.current.as_ref()?;
        let location = answer.single("location")?;
        let to = match location.starts_with('/') && !location.starts_with("//") {
            true => WebUrl::parse(&from.at(location)).ok()?,
            false => WebUrl::parse(location).ok()?,
        };
        self.redirects += 1;
        let follows = to.has_origin_of(from) && self.redirects <= REDIRECTS;
        follows.then_some(to)
    }

    fn nowhere<T>(&mut self) -> DiscoveryStep<T> {
        let is_missing =
            |reason: &DiscoveryError| matches!(reason, DiscoveryError::Status(404 | 405 | 410));
        DiscoveryStep::Nowhere {
            is_certain: self.tried.iter().all(|(_, reason)| is_missing(reason)),
            tried: std::mem::take(&mut self.tried),
        }
    }
}

#[cfg(test)]
mod tests;
