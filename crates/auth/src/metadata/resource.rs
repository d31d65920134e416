//! Metadata of a protected resource.
//!
//! Spec: RFC 9728, 2 and 3.

use serde::Deserialize;

use pintle_runtime::WebUrl;

use crate::metadata::{MetadataError, read};
use crate::scope::Scopes;

/// Well-known path of the metadata.
pub(crate) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// Maximum number of authorization servers that are read.
const SERVERS: usize = 32;

/// Metadata of a protected resource that is checked to be about the requested server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// Resource identifier, exactly as in the document. Requests for tokens contain it.
    pub resource: String,
    /// Issuers whose tokens the resource accepts, in its order; at least one.
    pub authorization_servers: Vec<String>,
    /// Scopes of the resource.
    pub scopes_supported: Option<Scopes>,
    /// Whether the resource accepts only tokens with a DPoP proof.
    pub needs_dpop: bool,
}

#[derive(Deserialize)]
struct Wire {
    resource: Option<String>,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
    dpop_bound_access_tokens_required: Option<bool>,
}

impl ResourceMetadata {
    /// Reads a document, and checks that it is about `server`.
    ///
    /// # Errors
    ///
    /// [`MetadataError`].
    pub fn read(body: &[u8], server: &WebUrl) -> Result<Self, MetadataError> {
        let wire: Wire = read(body)?;
        let resource = wire.resource.ok_or(MetadataError::Missing("resource"))?;
        let is_about = WebUrl::parse(&resource).is_ok_and(|named| is_about(&named, server));
        if !is_about {
            return Err(MetadataError::Mismatch {
                member: "resource",
                found: resource.chars().take(200).collect::<String>().into(),
                expected: server.canonical().into(),
            });
        }
        let mut servers = wire.authorization_servers.unwrap_or_default();
        servers.truncate(SERVERS);
        if servers.is_empty() {
            return Err(MetadataError::Missing("authorization_servers"));
        }
        let scopes = wire.scopes_supported.map(|names| {
            Scopes::of(names.iter().map(String::as_str))
                .map_err(|error| MetadataError::Json(format!("scopes_supported: {error}").into()))
        });
        Ok(Self {
            resource,
            authorization_servers: servers,
            scopes_supported: scopes.transpose()?,
            needs_dpop: wire.dpop_bound_access_tokens_required.unwrap_or(false),
        })
    }
}

/// Whether a resource is the server, or a part of its site that the server lies in. A server may
/// name its origin, or a path above it; never another's.
fn is_about(named: &WebUrl, server: &WebUrl) -> bool {
    let above = named.path().strip_suffix('/').unwrap_or(named.path());
    let own = server.path().strip_suffix('/').unwrap_or(server.path());
    let below = own.strip_prefix(above);
    let is_same = own == above && (named.query() == server.query() || named.query().is_none());
    let is_part = below.is_some_and(|rest| rest.starts_with('/')) && named.query().is_none();
    named.has_origin_of(server) && (is_same || is_part)
}

/// Where the document of a server is found, in the order in which it is looked for.
///
/// Spec: RFC 9728, 3.1.
pub(super) fn places(server: &WebUrl) -> Vec<String> {
    let path = if server.path() == "/" {
        ""
    } else {
        server.path()
    };
    let query = server
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    let mut places = vec![server.at(&format!("{WELL_KNOWN}{path}{query}"))];
    let root = server.at(WELL_KNOWN);
    if places[0] != root {
        places.push(root);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).expect(text)
    }

    fn read(resource: &str, server: &str) -> Result<ResourceMetadata, MetadataError> {
        let body =
            format!(r#"{{"resource":"{resource}","authorization_servers":["https://as"],"x":1}}"#);
        ResourceMetadata::read(body.as_bytes(), &url(server))
    }

    // spec: 2025-11-25 AUTH-RFC-02, AUTH-17
    // spec: 2026-07-28 N-AUTH-07
    #[test]
    fn the_path_is_put_behind_the_well_known_one() {
        let well_known = "https://a.example/.well-known/oauth-protected-resource";
        assert_eq!(places(&url("https://a.example")), [well_known]);
        assert_eq!(places(&url("https://a.example/")), [well_known]);
        assert_eq!(
            places(&url("https://a.example/x/mcp?y=1")),
            [format!("{well_known}/x/mcp?y=1"), well_known.to_owned()]
        );
    }

    // spec: 2025-11-25 AUTH-RFC-03
    // hardening: H-33
    #[test]
    fn a_document_describes_the_server_or_a_parent_of_its_url() {
        let server = "https://a.example/x/mcp";
        for own in [
            "https://a.example/x/mcp",
            "https://A.example:443/x/mcp",
            "https://a.example/x/mcp/",
            "https://a.example/x",
            "https://a.example/",
            "https://a.example",
        ] {
            let read = read(own, server).expect(own);
            assert_eq!(read.resource, own, "sent exactly as it was received");
        }
        for other in [
            "https://b.example/x/mcp",
            "http://a.example/x/mcp",
            "https://a.example:444/x/mcp",
            "https://a.example/x/m",
            "https://a.example/x/mcp/deeper",
            "https://a.example/X/mcp",
            "https://a.example/x?y",
            "/x/mcp",
            "",
        ] {
            let refused = read(other, server);
            let member = "resource";
            assert!(
                matches!(&refused, Err(MetadataError::Mismatch { member: own, .. }) if *own == member),
                "{other}: {refused:?}"
            );
        }
    }

    // spec: 2025-11-25 AUTH-13
    #[test]
    fn a_document_that_lacks_something_or_is_of_another_type_is_refused() {
        let server = url("https://a");
        for (body, fault) in [
            ("{}", MetadataError::Missing("resource")),
            (
                r#"{"resource":"https://a"}"#,
                MetadataError::Missing("authorization_servers"),
            ),
            (
                r#"{"resource":"https://a","authorization_servers":[]}"#,
                MetadataError::Missing("authorization_servers"),
            ),
        ] {
            assert_eq!(ResourceMetadata::read(body.as_bytes(), &server), Err(fault));
        }
        let nested = format!("{{\"x\":{}", "[".repeat(200));
        for body in [
            "",
            "<html>",
            "[]",
            "null",
            nested.as_str(),
            r#"{"resource":1}"#,
            r#"{"resource":"https://a","resource":"https://a"}"#,
            r#"{"resource":"https://a","authorization_servers":"https://as"}"#,
            r#"{"resource":"https://a","authorization_servers":["https://as"],"scopes_supported":["a b"]}"#,
        ] {
            let refused = ResourceMetadata::read(body.as_bytes(), &server);
            assert!(
                matches!(refused, Err(MetadataError::Json(_))),
                "{body}: {refused:?}"
            );
        }
    }
}
