//! Looking for a document, one place after the other.
//!
//! A [`Discovery`] says what to fetch, is given what came, and says what follows. It fetches nothing
//! itself.

use pintle_runtime::{FetchError, FetchRequest, FetchResponse, WebUrl};

use crate::metadata::server::check;
use crate::metadata::{
    MetadataDocument, MetadataError, ResourceMetadata, ServerMetadata, resource, server,
};
use crate::reach::FetchPolicy;

/// Redirects of one document that are followed in a row, each of them at the same origin.
const REDIRECTS: u8 = 5;

/// Looks for the document of a protected resource.
pub type ResourceProbe = Discovery<WebUrl>;
/// Looks for the document of an authorization server, by its issuer.
pub type ServerProbe = Discovery<IssuerQuery>;

/// Whose document is looked for.
#[derive(Debug, Clone)]
pub struct IssuerQuery {
    name: String,
    /// Nobody named it: it is the origin of a server, with or without a slash behind it.
    is_assumed: bool,
}

/// What a probe comes to. Closed: whoever drives it acts on all of it.
#[derive(Debug)]
pub enum DiscoveryStep<T> {
    /// Fetch this, and hand in what comes.
    Fetch(FetchRequest),
    /// It is found.
    Found(DiscoveredDocument<T>),
    /// It is at none of the places.
    Nowhere {
        /// What every place said, in the order in which they were asked.
        tried: Vec<(String, DiscoveryError)>,
        /// Whether every place said plainly that there is no such document.
        is_certain: bool,
    },
    /// What is there must not be used, and nothing else may be looked for.
    Refused(String, MetadataError),
    /// A place could not be read now: the document may be there, and no other place counts. The
    /// search may be repeated.
    Unavailable(String, DiscoveryError),
}

/// A document and where it was.
#[derive(Debug)]
pub struct DiscoveredDocument<T> {
    /// What it says.
    pub document: T,
    /// Where it was, without a query.
    pub place: String,
}

/// Why a place was passed over.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The status was none of success.
    #[error("HTTP status {0}")]
    Status(u16),
    /// There was no answer.
    #[error("{0}")]
    Fetch(FetchError),
    /// What is there is no such document.
    #[error("{0}")]
    Fault(MetadataError),
    /// The place is one that may not be asked.
    #[error("{0}")]
    Address(Box<str>),
    /// It leads elsewhere, where we do not follow.
    #[error("a redirect that is not followed")]
    Redirect,
}

impl DiscoveryError {
    /// Whether the place may answer otherwise soon: the fault is the server's or the network's.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Status(status) => is_temporary(*status),
            Self::Fetch(fault) => {
                matches!(fault, FetchError::TimedOut(_) | FetchError::Unreachable(_))
            }
            Self::Fault(_) | Self::Address(_) | Self::Redirect => false,
        }
    }
}

/// Whether a status reports a fault of the server, or asks the client to come later.
///
/// Spec: RFC 9110, 15.5.9 and 15.6; RFC 6585, 4.
pub(crate) fn is_temporary(status: u16) -> bool {
    matches!(status, 408 | 429 | 500..=599)
}

/// The search for one document.
#[derive(Debug)]
pub struct Discovery<A> {
    about: A,
    document: MetadataDocument,
    bounds: FetchPolicy,
    left: std::vec::IntoIter<String>,
    current: Option<WebUrl>,
    first: String,
    redirects: u8,
    tried: Vec<(String, DiscoveryError)>,
}

impl ResourceProbe {
    /// Looks where the challenge says, and then where such documents are.
    ///
    /// Spec: [2025-11-25, Authorization, Protected resource metadata discovery][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#protected-resource-metadata-discovery-requirements
    pub fn of_resource(server: &WebUrl, named: Option<&str>, bounds: &FetchPolicy) -> Self {
        let mut places: Vec<String> = named.map(str::to_owned).into_iter().collect();
        for place in resource::places(server) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        Self::new(server.clone(), MetadataDocument::Resource, bounds, places)
    }

    /// What to do first.
    pub fn begin(&mut self) -> DiscoveryStep<ResourceMetadata> {
        self.next()
    }

    /// What follows from an answer.
    pub fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
    ) -> DiscoveryStep<ResourceMetadata> {
        let server = self.about.clone();
        self.judge(answer, |body| ResourceMetadata::read(body, &server))
    }
}

impl ServerProbe {
    /// Looks where the documents of an issuer are.
    ///
    /// # Errors
    ///
    /// [`MetadataError::Address`] when the issuer is no address that may be followed.
    pub fn of_server(issuer: &str, bounds: &FetchPolicy) -> Result<Self, MetadataError> {
        let url = check("authorization_servers", issuer, bounds)?;
        if url.query().is_some() {
            return Err(MetadataError::Address {
                member: "authorization_servers",
                found: issuer.split('?').next().unwrap_or_default().into(),
                reason: "an issuer has no query".into(),
            });
        }
        let issuer = IssuerQuery {
            name: issuer.to_owned(),
            is_assumed: false,
        };
        let places = server::places(&url);
        Ok(Self::new(issuer, MetadataDocument::Server, bounds, places))
    }

    /// Looks where the document of a server is that is its own authorization server.
    ///
    /// Spec: [2025-03-26, Authorization, Server metadata discovery][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization#server-metadata-discovery
    pub fn of_origin(server: &WebUrl, bounds: &FetchPolicy) -> Self {
        let issuer = IssuerQuery {
            name: server.front().to_owned(),
            is_assumed: true,
        };
        let place = server.at("/.well-known/oauth-authorization-server");
        Self::new(issuer, MetadataDocument::Server, bounds, vec![place])
    }

    /// What to do first.
    pub fn begin(&mut self) -> DiscoveryStep<ServerMetadata> {
        self.next()
    }

    /// What follows from an answer.
    pub fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
    ) -> DiscoveryStep<ServerMetadata> {
        let (issuer, bounds) = (self.about.clone(), self.bounds.clone());
        self.judge(answer, |body| {
            let found = issuer.read(body)?;
            found.check(&bounds)?;
            Ok(found)
        })
    }
}

impl IssuerQuery {
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
        bounds: &FetchPolicy,
        places: Vec<String>,
    ) -> Self {
        Self {
            about,
            document,
            bounds: bounds.clone(),
            left: places.into_iter(),
            current: None,
            first: String::new(),
            redirects: 0,
            tried: Vec::new(),
        }
    }

    /// Which document this is about.
    pub fn document(&self) -> MetadataDocument {
        self.document
    }

    fn next<T>(&mut self) -> DiscoveryStep<T> {
        loop {
            let Some(place) = self.left.next() else {
                return self.nowhere();
            };
            match check("resource_metadata", &place, &self.bounds) {
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
        request.network = self.bounds.reach(&url);
        self.current = Some(url);
        DiscoveryStep::Fetch(request)
    }

    fn judge<T>(
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
                // Somebody answers for another: nothing that follows could be believed.
                Err(fault @ (MetadataError::Mismatch { .. } | MetadataError::Address { .. })) => {
                    return DiscoveryStep::Refused(std::mem::take(&mut self.first), fault);
                }
                Err(fault) => DiscoveryError::Fault(fault),
            },
        };
        let place = std::mem::take(&mut self.first);
        if reason.is_temporary() {
            return DiscoveryStep::Unavailable(place, reason);
        }
        self.tried.push((place, reason));
        self.next()
    }

    /// Where a redirect leads, when it may be followed: within the origin, a few times.
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
        let says_no =
            |reason: &DiscoveryError| matches!(reason, DiscoveryError::Status(404 | 405 | 410));
        DiscoveryStep::Nowhere {
            is_certain: self.tried.iter().all(|(_, reason)| says_no(reason)),
            tried: std::mem::take(&mut self.tried),
        }
    }
}

#[cfg(test)]
mod tests;
