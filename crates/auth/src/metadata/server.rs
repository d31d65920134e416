//! Metadata of an authorization server.
//!
//! Spec: RFC 8414, 2 and 3; OpenID Connect Discovery 1.0, 3 and 4.

use serde::Deserialize;

use pintle_runtime::WebUrl;

use crate::fetch_policy::FetchPolicy;
use crate::metadata::{MetadataError, read};

/// The document of an authorization server, once its issuer is known to be the right one.
///
/// Every text is as it was received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// Issuer identifier of the server.
    #[serde(default)]
    pub issuer: String,
    /// URL of the authorization endpoint, for the browser of the user.
    pub authorization_endpoint: Option<String>,
    /// URL of the token endpoint.
    pub token_endpoint: Option<String>,
    /// URL of the device authorization endpoint (RFC 8628).
    pub device_authorization_endpoint: Option<String>,
    /// URL of the endpoint for dynamic client registration.
    pub registration_endpoint: Option<String>,
    /// URL of the public keys of the server.
    pub jwks_uri: Option<String>,
    /// URL of the introspection endpoint.
    pub introspection_endpoint: Option<String>,
    /// URL of the revocation endpoint.
    pub revocation_endpoint: Option<String>,
    /// Client authentication methods at the revocation endpoint.
    pub revocation_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Scopes of the server.
    pub scopes_supported: Option<Vec<String>>,
    /// Grant types of the server.
    pub grant_types_supported: Option<Vec<String>>,
    /// PKCE code challenge methods.
    pub code_challenge_methods_supported: Option<Vec<String>>,
    /// Client authentication methods at the token endpoint.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// Whether the URL of a client metadata document is a valid client id.
    #[serde(default)]
    pub client_id_metadata_document_supported: Option<bool>,
    /// Whether authorization responses contain the issuer (`iss`, RFC 9207).
    pub authorization_response_iss_parameter_supported: Option<bool>,
    /// Signature algorithms of DPoP proofs.
    pub dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Grant profiles of the server.
    pub authorization_grant_profiles_supported: Option<Vec<String>>,
}

impl ServerMetadata {
    /// Reads a document and checks that its issuer is identical to `issuer`.
    ///
    /// # Errors
    ///
    /// [`MetadataError`]. A [`MetadataError::Mismatch`] may be the attack of a server that
    /// poses as another issuer. No other URL may be tried then.
    pub fn read(body: &[u8], issuer: &str) -> Result<Self, MetadataError> {
        let found: Self = read(body)?;
        if found.issuer.is_empty() {
            return Err(MetadataError::Missing("issuer"));
        }
        if found.issuer != issuer {
            return Err(MetadataError::Mismatch {
                member: "issuer",
                found: found.issuer.chars().take(200).collect::<String>().into(),
                expected: issuer.into(),
            });
        }
        Ok(found)
    }

    /// Returns the default endpoints of a server without metadata in 2025-03-26.
    ///
    /// Spec: [2025-03-26, Authorization, Fallbacks][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-03-26/basic/authorization#fallbacks-for-servers-without-metadata-discovery
    pub fn assumed(server: &WebUrl) -> Self {
        Self {
            issuer: server.front().to_owned(),
            authorization_endpoint: Some(server.at("/authorize")),
            token_endpoint: Some(server.at("/token")),
            registration_endpoint: Some(server.at("/register")),
            code_challenge_methods_supported: Some(vec!["S256".to_owned()]),
            token_endpoint_auth_methods_supported: Some(vec![
                "none".to_owned(),
                "client_secret_basic".to_owned(),
                "client_secret_post".to_owned(),
            ]),
            ..Self::default()
        }
    }

    /// Checks that the client may use the endpoints for authorization, device authorization, tokens and
    /// registration.
    ///
    /// # Errors
    ///
    /// [`MetadataError::Address`].
    pub fn check(&self, fetch_policy: &FetchPolicy) -> Result<(), MetadataError> {
        let endpoints = [
            ("authorization_endpoint", &self.authorization_endpoint),
            (
                "device_authorization_endpoint",
                &self.device_authorization_endpoint,
            ),
            ("token_endpoint", &self.token_endpoint),
            ("registration_endpoint", &self.registration_endpoint),
        ];
        for (member, endpoint) in endpoints {
            if let Some(text) = endpoint {
                check(member, text, fetch_policy)?;
            }
        }
        Ok(())
    }

    /// Returns true unless the metadata lists grant profiles without that of ID-JAG.
    ///
    /// Spec: the extension `io.modelcontextprotocol/enterprise-managed-authorization`.
    #[cfg(feature = "client")]
    pub(crate) fn takes_id_jag(&self) -> bool {
        const PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";
        let profiles = &self.authorization_grant_profiles_supported;
        profiles.is_none() || Self::lists(profiles, PROFILE)
    }

    /// Whether a list that may be absent has an entry.
    #[cfg(feature = "client")]
    pub(crate) fn lists(list: &Option<Vec<String>>, entry: &str) -> bool {
        list.as_ref()
            .is_some_and(|all| all.iter().any(|own| own == entry))
    }
}

/// Checks one address of a document.
pub(crate) fn check(
    member: &'static str,
    text: &str,
    fetch_policy: &FetchPolicy,
) -> Result<WebUrl, MetadataError> {
    let fault = |reason: String| MetadataError::Address {
        member,
        found: text
            .split('?')
            .next()
            .unwrap_or_default()
            .chars()
            .take(200)
            .collect::<String>()
            .into(),
        reason: reason.into(),
    };
    let url = WebUrl::parse(text).map_err(|error| fault(error.to_string()))?;
    fetch_policy
        .check(&url)
        .map_err(|error| fault(error.to_string()))?;
    Ok(url)
}

/// Where the document of an issuer is found, in the order in which it is looked for.
///
/// Spec: [2025-11-25, Authorization, Authorization server metadata discovery][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#authorization-server-metadata-discovery
pub(crate) fn places(issuer: &WebUrl) -> Vec<String> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let path = issuer.path().strip_suffix('/').unwrap_or(issuer.path());
    if path.is_empty() {
        return vec![issuer.at(OAUTH), issuer.at(OPENID)];
    }
    vec![
        issuer.at(&format!("{OAUTH}{path}")),
        issuer.at(&format!("{OPENID}{path}")),
        issuer.at(&format!("{path}{OPENID}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> WebUrl {
        WebUrl::parse(text).expect(text)
    }

    // spec: 2025-11-25 AUTH-25, AUTH-26, AUTH-27
    // spec: 2026-07-28 N-AUTH-11, N-AUTH-12
    #[test]
    fn places_come_in_the_order_of_the_specification() {
        assert_eq!(
            places(&url("https://as.example/t1/")),
            [
                "https://as.example/.well-known/oauth-authorization-server/t1",
                "https://as.example/.well-known/openid-configuration/t1",
                "https://as.example/t1/.well-known/openid-configuration",
            ]
        );
        for issuer in ["https://as.example", "https://as.example/"] {
            assert_eq!(
                places(&url(issuer)),
                [
                    "https://as.example/.well-known/oauth-authorization-server",
                    "https://as.example/.well-known/openid-configuration",
                ]
            );
        }
    }

    // spec: 2025-11-25 AUTH-RFC-04
    // spec: 2026-07-28 N-AUTH-13
    // hardening: H-34
    #[test]
    fn an_issuer_is_compared_byte_by_byte() {
        let issuer = "https://as.example/t1";
        let read =
            |own: &str| ServerMetadata::read(format!(r#"{{"issuer":"{own}"}}"#).as_bytes(), issuer);
        assert_eq!(read(issuer).expect("its own").issuer, issuer);
        for other in [
            "https://as.example/t1/",
            "https://AS.example/t1",
            "https://as.example:443/t1",
            "https://as.example/%741",
            "https://attacker.example",
        ] {
            let refused = read(other);
            assert!(matches!(
                refused,
                Err(MetadataError::Mismatch {
                    member: "issuer",
                    ..
                })
            ));
        }
        let missing = Err(MetadataError::Missing("issuer"));
        assert_eq!(ServerMetadata::read(b"{}", issuer), missing);
    }

    // hardening: H-29, H-38
    #[test]
    fn endpoints_out_of_bounds_are_refused() {
        let fetch_policy = FetchPolicy::of(&url("https://mcp.example"));
        for endpoint in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "http://as.example/token",
            "https://169.254.169.254/token",
            "https://localhost/token",
            "com.example:/callback",
            "\\\\\\\\host\\\\share",
        ] {
            for member in [
                "authorization_endpoint",
                "device_authorization_endpoint",
                "token_endpoint",
                "registration_endpoint",
            ] {
                let body = format!(r#"{{"issuer":"x","{member}":"{endpoint}"}}"#);
                let found = ServerMetadata::read(body.as_bytes(), "x").expect("a document");
                let refused = found.check(&fetch_policy);
                assert!(
                    matches!(refused, Err(MetadataError::Address { member: own, .. }) if own == member),
                    "{member} {endpoint}: {refused:?}"
                );
            }
        }
    }
}
