//! Protected-resource metadata of this server: it names the issuer of its tokens.
//!
//! Spec: RFC 9728; 2026-07-28, Authorization, Protected Resource Metadata.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::uri::Canonical;
use crate::metadata::WELL_KNOWN;

/// The document of one resource, rendered once, and where it is served.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// Its address, as challenges name it.
    pub(crate) url: String,
    pub(crate) body: Bytes,
    path: String,
}

/// Configured members of the metadata.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) issuers: Vec<Box<str>>,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) name: Option<Box<str>>,
    pub(crate) documentation: Option<Box<str>>,
    /// How proofs may be signed, where they are looked at, and whether every token needs one.
    pub(crate) dpop: Option<(Vec<&'static str>, bool)>,
}

impl Metadata {
    pub(crate) fn new(resource: &Canonical, facts: &Facts) -> Self {
        let rest = resource.rest();
        let url = format!("{}{WELL_KNOWN}{rest}", resource.origin());
        let path = rest.split('?').next().unwrap_or_default();
        Self {
            path: format!("{WELL_KNOWN}{path}"),
            body: render(resource, facts).to_string().into(),
            url,
        }
    }

    /// Whether the document is at this path: under the resource's own, and at the root, where clients
    /// look that know nothing but the host.
    pub(crate) fn is_at(&self, path: &str) -> bool {
        path == self.path || path == WELL_KNOWN
    }
}

fn render(resource: &Canonical, facts: &Facts) -> Value {
    let mut document = Map::new();
    let mut put = |name: &str, value: Value| document.insert(name.into(), value);
    put("resource", json!(resource.as_str()));
    put("authorization_servers", json!(facts.issuers));
    put("bearer_methods_supported", json!(["header"]));
    if !facts.scopes.is_empty() {
        put("scopes_supported", json!(facts.scopes));
    }
    if let Some(name) = &facts.name {
        put("resource_name", json!(name));
    }
    if let Some(url) = &facts.documentation {
        put("resource_documentation", json!(url));
    }
    if let Some((algorithms, is_required)) = &facts.dpop {
        put("dpop_signing_alg_values_supported", json!(algorithms));
        put("dpop_bound_access_tokens_required", json!(is_required));
    }
    Value::Object(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 2025-11-25 AUTH-09, AUTH-13, AUTH-15, AUTH-RFC-01
    // spec: 2026-07-28 N-AUTH-05, N-AUTH-06
    #[test]
    fn the_document_is_between_the_host_and_the_path() {
        let at = |resource: &str| {
            let resource = Canonical::parse(resource).expect("a URI");
            Metadata::new(&resource, &Facts::default())
        };
        let own = at("https://api.example/v1/mcp");
        assert_eq!(
            own.url,
            "https://api.example/.well-known/oauth-protected-resource/v1/mcp"
        );
        assert!(own.is_at("/.well-known/oauth-protected-resource/v1/mcp"));
        assert!(own.is_at("/.well-known/oauth-protected-resource"));
        for other in [
            "/v1/mcp",
            "/.well-known/oauth-protected-resource/v1",
            "/.well-known/oauth-protected-resource/v1/mcp/",
            "/v1/mcp/.well-known/oauth-protected-resource",
        ] {
            assert!(!own.is_at(other), "{other}");
        }
        let root = at("https://api.example/");
        assert_eq!(
            root.url,
            "https://api.example/.well-known/oauth-protected-resource"
        );
    }

    #[test]
    fn the_document_contains_only_the_configured_members() {
        let resource = Canonical::parse("https://api.example/mcp").expect("a URI");
        let mut facts = Facts {
            issuers: vec!["https://issuer.example".into()],
            ..Facts::default()
        };
        assert_eq!(
            Metadata::new(&resource, &facts).body,
            r#"{"resource":"https://api.example/mcp","authorization_servers":["https://issuer.example"],"bearer_methods_supported":["header"]}"#
        );
        facts.scopes = vec!["files:read".into()];
        facts.name = Some("Files".into());
        facts.documentation = Some("https://api.example/docs".into());
        facts.dpop = Some((vec!["ES256"], true));
        let text = Metadata::new(&resource, &facts).body;
        let document: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(document["scopes_supported"], json!(["files:read"]));
        assert_eq!(document["resource_name"], "Files");
        assert_eq!(
            document["resource_documentation"],
            "https://api.example/docs"
        );
        assert_eq!(
            document["dpop_signing_alg_values_supported"],
            json!(["ES256"])
        );
        assert_eq!(document["dpop_bound_access_tokens_required"], true);
    }
}
