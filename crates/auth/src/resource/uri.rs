//! URIs of resources and issuers, as they are compared.

use pintle_runtime::WebUrl;

/// Why a setting cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RequireBearerError {
    /// An address is not one that tokens may travel to.
    #[error(
        "invalid URL of a server `{0}`: use `https://…` (or `http://` on this machine), without \
         user, fragment or white space"
    )]
    Address(Box<str>),
    /// An issuer has a query.
    #[error("the issuer `{0}` has a query, which an issuer must not have")]
    Issuer(Box<str>),
    /// There is no audience: tokens for any server would do.
    #[error("the audience is missing; name the URI that clients use for this server")]
    NoAudience,
    /// The text is not a valid scope, or it is `offline_access`.
    #[error("`{0}` is not a valid scope")]
    Scope(Box<str>),
    /// Every algorithm was struck off the list.
    #[error("the list of signature algorithms is empty")]
    NoAlgorithm,
    /// The given keys of the issuer are not a JSON Web Key Set, or none of them can verify signatures.
    #[error("invalid key set: it has no public key for signatures")]
    KeySet,
    /// There is no API key, or a key is empty or appears twice.
    #[error("invalid API keys: {0}")]
    ApiKeys(&'static str),
    /// Nothing secret could be drawn.
    #[error("the operating system does not provide random bytes")]
    NoRandomness,
}

/// An address in its canonical form.
///
/// Spec: 2025-11-25, Authorization, Canonical Server URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Canonical(WebUrl);

impl Canonical {
    /// Returns `None` if the text is not an absolute `http` or `https` URL, or has a user or fragment.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let canonical = WebUrl::parse(text).ok()?.canonical();
        WebUrl::parse(&canonical).ok().map(Self)
    }

    /// As [`parse`](Self::parse), for an address that tokens travel to or come from.
    pub(crate) fn secure(text: &str) -> Result<Self, RequireBearerError> {
        Self::parse(text)
            .filter(|Self(url)| url.is_secure_or_loopback())
            .ok_or_else(|| RequireBearerError::Address(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(crate) fn as_url(&self) -> &WebUrl {
        &self.0
    }

    /// Scheme and authority.
    pub(crate) fn origin(&self) -> &str {
        self.0.front()
    }

    /// Path and query; empty for the root.
    pub(crate) fn rest(&self) -> &str {
        &self.as_str()[self.origin().len()..]
    }

    /// Host and port.
    pub(crate) fn authority(&self) -> &str {
        self.origin().split_once("://").map_or("", |(_, rest)| rest)
    }
}

/// Whether an audience names a resource: letter by letter, or as URIs do.
pub(crate) fn names(audience: &str, resource: &str) -> bool {
    if audience == resource {
        return true;
    }
    let (audience, resource) = (Canonical::parse(audience), Canonical::parse(resource));
    audience.is_some() && audience == resource
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 AUTH-53, AUTH-54
    // spec: 2026-07-28 N-AUTH-27
    #[test]
    fn an_audience_is_compared_as_uris_are() {
        let own = "https://api.example/mcp";
        for same in [
            own,
            "HTTPS://API.Example/mcp",
            "https://api.example:443/mcp",
        ] {
            assert!(names(same, own), "{same}");
        }
        assert!(names("https://api.example/", "https://api.example"));
        assert!(names("urn:own", "urn:own"));
        for other in [
            "https://api.example/MCP",
            "https://api.example/mcp/",
            "https://api.example/mcp/more",
            "https://api.example",
            "https://api.example:8443/mcp",
            "http://api.example/mcp",
            "https://api.example/mcp#x",
            "https://api.example/mcp?x",
            "https://user@api.example/mcp",
            "https://api.example.evil/mcp",
            "",
        ] {
            assert!(!names(other, own), "{other}");
        }
        assert!(!names("URN:own", "urn:own"));
    }

    // spec: 2025-11-25 AUTH-83 (server)
    #[test]
    fn tokens_travel_encrypted_or_not_at_all_far() {
        for fine in [
            "https://a.example",
            "http://127.0.0.1:8000/mcp",
            "http://localhost/mcp",
            "http://127.0.0.2/mcp",
            "http://[::1]:3/mcp",
        ] {
            assert!(Canonical::secure(fine).is_ok(), "{fine}");
        }
        for bad in [
            "http://a.example",
            "http://app.localhost/mcp",
            "http://localhost./mcp",
            "http://localhost.evil.example",
            "http://127.0.0.1.evil.example",
            "ftp://a.example",
            "a.example",
            "/mcp",
            "https://",
            "https://a b",
            "https://a.example/#f",
        ] {
            assert!(Canonical::secure(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_has_an_origin_and_the_rest() {
        let uri = Canonical::parse("HTTPS://A.example:8443/mcp?x=1").expect("a URI");
        assert_eq!(uri.origin(), "https://a.example:8443");
        assert_eq!(uri.rest(), "/mcp?x=1");
        assert_eq!(uri.authority(), "a.example:8443");
        assert_eq!(uri.as_str(), "https://a.example:8443/mcp?x=1");
    }
}
