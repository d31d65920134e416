//! Metadata of an issuer for a resource server.
//!
//! Spec: RFC 8414; OpenID Connect Discovery 1.0.

use pintle_runtime::{BoxFetch, Fetch, FetchError, FetchRequest, NetworkScope};

use super::ResourceLimits;
use super::uri::{Canonical, RequireBearerError};
use crate::metadata::{MetadataError, ServerMetadata, places};

/// An issuer of tokens, and the means to fetch from it.
#[derive(Debug, Clone)]
pub(crate) struct Issuer {
    name: Box<str>,
    url: Canonical,
    fetch: BoxFetch,
    limits: ResourceLimits,
}

/// Why an issuer could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IssuerError {
    #[error("`{0}` is not a permitted URL for documents of an issuer")]
    Address(String),
    #[error("{0} cannot be fetched")]
    Unreachable(String, #[source] FetchError),
    #[error("{0} returned HTTP status {1}")]
    Status(String, u16),
    #[error("{0} is not the document that was expected")]
    Unreadable(String),
    #[error("{0} is the document of another issuer")]
    Other(String),
    #[error("the document of {0} does not name its {1}")]
    Lacks(Box<str>, &'static str),
    #[error("the metadata of {0} was found at no well-known URL")]
    Nowhere(Box<str>),
}

impl Issuer {
    pub(crate) fn new(
        name: &str,
        fetch: BoxFetch,
        limits: ResourceLimits,
    ) -> Result<Self, RequireBearerError> {
        Ok(Self {
            url: check(name)?,
            name: name.into(),
            fetch,
            limits,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn limits(&self) -> &ResourceLimits {
        &self.limits
    }

    /// The document, from the first well-known place that has it.
    pub(crate) async fn document(&self) -> Result<ServerMetadata, IssuerError> {
        for place in places(self.url.as_url()) {
            match self.ask(FetchRequest::get(&place)).await {
                Ok(body) => return self.read(&body, place),
                Err(IssuerError::Status(_, 400..=499)) => {}
                Err(silent) => return Err(silent),
            }
        }
        Err(IssuerError::Nowhere(self.name.clone()))
    }

    fn read(&self, body: &[u8], place: String) -> Result<ServerMetadata, IssuerError> {
        // The names must be identical, because a similar name is another issuer.
        let read = ServerMetadata::read(body, &self.name);
        read.map_err(|fault| match fault {
            MetadataError::Mismatch { .. } => IssuerError::Other(place),
            _ => IssuerError::Unreadable(place),
        })
    }

    /// The body of an answer that is a success.
    pub(crate) async fn ask(&self, mut request: FetchRequest) -> Result<bytes::Bytes, IssuerError> {
        let place = request.url_without_query().to_owned();
        if Canonical::secure(&request.url).is_err() {
            return Err(IssuerError::Address(place));
        }
        // The configuration names the issuer, so it may be in a private network.
        request.network = NetworkScope::Private;
        request.max_bytes = self.limits.max_document_bytes;
        request.timeout = self.limits.verify_timeout;
        let request = request.header("accept", "application/json");
        match self.fetch.fetch(request).await {
            Ok(answer) if answer.status == 200 => Ok(answer.body),
            Ok(answer) => Err(IssuerError::Status(place, answer.status)),
            Err(fault) => Err(IssuerError::Unreachable(place, fault)),
        }
    }
}

/// Checks that a text is a valid issuer identifier: a URL without a query.
pub(crate) fn check(name: &str) -> Result<Canonical, RequireBearerError> {
    let url = Canonical::secure(name)?;
    match name.contains('?') {
        true => Err(RequireBearerError::Issuer(name.into())),
        false => Ok(url),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_has_an_address_that_is_safe() {
        assert!(check("https://i.example/t1/").is_ok());
        assert!(check("http://localhost:9000").is_ok());
        for bad in [
            "http://i.example",
            "i.example",
            "https://i.example?x",
            "https://i.example#x",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
