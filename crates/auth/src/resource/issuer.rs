//! What an issuer says of itself, as far as a resource server needs it.
//!
//! Spec: RFC 8414; OpenID Connect Discovery 1.0.

use pintle_runtime::{BoxFetch, Fetch, FetchFault, FetchRequest, Reach};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::ResourceLimits;
use super::uri::{Canonical, InvalidSetting};

/// Somebody who issues tokens, and how to ask them.
#[derive(Debug, Clone)]
pub(crate) struct Issuer {
    name: Box<str>,
    fetch: BoxFetch,
    limits: ResourceLimits,
}

/// The document of an issuer.
#[derive(Debug, Deserialize)]
pub(crate) struct Document {
    issuer: String,
    #[serde(default)]
    pub(crate) jwks_uri: Option<String>,
    #[serde(default)]
    pub(crate) introspection_endpoint: Option<String>,
}

/// Why an issuer could not be asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Silent {
    #[error("`{0}` is no address that documents of an issuer are fetched from")]
    Address(String),
    #[error("{0} cannot be fetched")]
    Unreachable(String, #[source] FetchFault),
    #[error("{0} was answered with status {1}")]
    Status(String, u16),
    #[error("{0} is not the document that was expected")]
    Unreadable(String),
    #[error("{0} is the document of another issuer")]
    Other(String),
    #[error("the document of {0} does not name its {1}")]
    Lacks(Box<str>, &'static str),
    #[error("there is no document of {0} at a well-known place")]
    Nowhere(Box<str>),
}

impl Issuer {
    pub(crate) fn new(
        name: &str,
        fetch: BoxFetch,
        limits: ResourceLimits,
    ) -> Result<Self, InvalidSetting> {
        check(name)?;
        Ok(Self {
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
    pub(crate) async fn document(&self) -> Result<Document, Silent> {
        for place in places(&self.name) {
            match self.get::<Document>(&place).await {
                // Letter by letter: what is almost the issuer is somebody else.
                Ok(document) if document.issuer == *self.name => return Ok(document),
                Ok(_) => return Err(Silent::Other(place)),
                Err(Silent::Status(_, 400..=499)) => {}
                Err(silent) => return Err(silent),
            }
        }
        Err(Silent::Nowhere(self.name.clone()))
    }

    /// A document in JSON.
    pub(crate) async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T, Silent> {
        let body = self.ask(FetchRequest::get(url)).await?;
        serde_json::from_slice(&body).map_err(|_| Silent::Unreadable(url.to_owned()))
    }

    /// The body of an answer that is a success.
    pub(crate) async fn ask(&self, mut request: FetchRequest) -> Result<bytes::Bytes, Silent> {
        let place = request.place().to_owned();
        if Canonical::secure(&request.url).is_err() {
            return Err(Silent::Address(place));
        }
        // Whoever runs the server named the issuer, and may well have it in a network of their own.
        request.reach = Reach::Private;
        request.most_bytes = self.limits.document_bytes;
        request.time = self.limits.verify_time;
        let request = request.header("accept", "application/json");
        match self.fetch.fetch(request).await {
            Ok(answer) if answer.status == 200 => Ok(answer.body),
            Ok(answer) => Err(Silent::Status(place, answer.status)),
            Err(fault) => Err(Silent::Unreachable(place, fault)),
        }
    }
}

/// That a text can be the name of an issuer.
pub(crate) fn check(name: &str) -> Result<(), InvalidSetting> {
    Canonical::secure(name)?;
    match name.contains('?') {
        true => Err(InvalidSetting::Issuer(name.into())),
        false => Ok(()),
    }
}

/// Where the document of an issuer may be, in this order.
fn places(issuer: &str) -> Vec<String> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let after_scheme = issuer.find("://").map_or(0, |at| at + 3);
    let path_at = issuer[after_scheme..]
        .find('/')
        .map_or(issuer.len(), |at| after_scheme + at);
    let (origin, path) = issuer.split_at(path_at);
    let path = path.trim_end_matches('/');
    let mut all = vec![
        format!("{origin}{OAUTH}{path}"),
        format!("{origin}{OPENID}{path}"),
    ];
    if !path.is_empty() {
        all.push(format!("{origin}{path}{OPENID}"));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_asked_at_the_well_known_places() {
        assert_eq!(
            places("https://i.example"),
            [
                "https://i.example/.well-known/oauth-authorization-server",
                "https://i.example/.well-known/openid-configuration",
            ]
        );
        assert_eq!(places("https://i.example/"), places("https://i.example"));
        assert_eq!(
            places("https://i.example/t/1"),
            [
                "https://i.example/.well-known/oauth-authorization-server/t/1",
                "https://i.example/.well-known/openid-configuration/t/1",
                "https://i.example/t/1/.well-known/openid-configuration",
            ]
        );
    }

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
