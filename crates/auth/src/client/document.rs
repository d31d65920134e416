//! The document about a client whose address is its id.
//!
//! Spec: draft-ietf-oauth-client-id-metadata-document-00, 3 and 4.

use serde_json::json;

use pintle_runtime::WebUrl;

use crate::client::{ApplicationType, ClientConfig};
use crate::error::AuthError;

impl ClientConfig {
    /// Returns the client metadata document. Publish it as `application/json` at the URL of
    /// [`with_document`](Self::with_document), so that the URL is a valid client id. `redirects` are
    /// the redirect URIs of the client.
    ///
    /// The document is public and contains no secret.
    ///
    /// # Errors
    ///
    /// [`AuthError::Address`] for an address that cannot be the client's id, or a redirect address
    /// that is neither `https` nor on this machine.
    ///
    /// # Examples
    ///
    /// ```
    /// use pintle_auth::ClientConfig;
    ///
    /// let profile = ClientConfig::new("my program").with_document("https://app.example/client.json");
    /// let document = profile.document_text(&["http://127.0.0.1:7777/callback"])?;
    /// assert!(document.contains(r#""client_id":"https://app.example/client.json""#));
    /// # Ok::<(), pintle_auth::AuthError>(())
    /// ```
    pub fn document_text(&self, redirects: &[&str]) -> Result<String, AuthError> {
        let id = self.document.as_deref().unwrap_or_default();
        check(id)?;
        for redirect in redirects {
            check_redirect(redirect)?;
        }
        let application = match self.application {
            ApplicationType::Native => "native",
            ApplicationType::Web => "web",
        };
        let document = json!({
            "client_id": id,
            "client_name": self.name,
            "redirect_uris": redirects,
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": application,
        });
        Ok(document.to_string())
    }

    /// Checks the configured values that authorization servers receive.
    pub(crate) fn check(&self) -> Result<(), AuthError> {
        self.document.as_deref().map_or(Ok(()), check)
    }
}

/// Whether an address can be a client's id: `https`, with a path of its own that has no steps in it.
fn check(id: &str) -> Result<(), AuthError> {
    let unfit = |reason: &str| {
        let place = id.split(['?', '#']).next().unwrap_or_default();
        AuthError::Address(place.into(), reason.into())
    };
    let url = WebUrl::parse(id).map_err(|fault| unfit(&fault.to_string()))?;
    let is_step = |part: &str| {
        let part = part.to_ascii_lowercase().replace("%2e", ".");
        part == "." || part == ".."
    };
    if !url.is_secure() {
        return Err(unfit("the address of a client's document is https"));
    }
    if matches!(url.path(), "" | "/") {
        return Err(unfit("the address of a client's document has a path"));
    }
    match url.path().split('/').any(is_step) {
        true => Err(unfit("its path has steps in it (\".\", \"..\")")),
        false => Ok(()),
    }
}

/// Spec: [2025-11-25, Authorization, Communication security][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#communication-security
fn check_redirect(redirect: &str) -> Result<(), AuthError> {
    let unfit = |reason: String| AuthError::Address(redirect.into(), reason.into());
    let url = WebUrl::parse(redirect).map_err(|fault| unfit(fault.to_string()))?;
    match url.is_secure_or_loopback() {
        true => Ok(()),
        false => Err(unfit("users come back to https, or to this machine".into())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    // spec: 2025-11-25 AUTH-07, AUTH-31, AUTH-RFC-12
    // spec: 2026-07-28 N-AUTH-16
    #[test]
    fn an_id_is_an_https_address_with_a_path() {
        for id in [
            "https://app.example/client.json",
            "https://app.example:8443/oauth/client",
            "https://app.example/a..b/.well-known/c",
        ] {
            assert!(check(id).is_ok(), "{id}");
        }
        for id in [
            "http://app.example/client.json",
            "http://localhost/client.json",
            "https://app.example",
            "https://app.example/",
            "https://app.example?client",
            "https://app.example/a/../client.json",
            "https://app.example/./client.json",
            "https://app.example/%2E%2e/client.json",
            "https://app.example/client.json#x",
            "https://me@app.example/client.json",
            "client.json",
            "",
        ] {
            let refused = check(id);
            assert!(matches!(refused, Err(AuthError::Address(..))), "{id}");
        }
    }

    // spec: 2025-11-25 AUTH-32, AUTH-33, AUTH-85, AUTH-RFC-12
    // spec: 2026-07-28 N-AUTH-16, N-AUTH-34
    #[test]
    fn a_document_names_its_own_address_and_holds_no_secret() {
        let id = "https://app.example/client.json";
        let profile = ClientConfig::new("the app").with_document(id);
        let redirects = ["http://127.0.0.1:7/callback", "https://app.example/back"];
        let text = profile.document_text(&redirects).expect("a document");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["client_id"], id);
        assert_eq!(document["client_name"], "the app");
        assert_eq!(document["redirect_uris"], json!(redirects));
        assert_eq!(document["token_endpoint_auth_method"], "none");
        assert_eq!(document["application_type"], "native");
        assert_eq!(document.get("client_secret"), None);
        for redirect in [
            "http://app.example/back",
            "http://app.localhost/back",
            "myapp://back",
            "nowhere",
        ] {
            assert!(profile.document_text(&[redirect]).is_err(), "{redirect}");
        }
        assert!(ClientConfig::new("no document").document_text(&[]).is_err());
    }
}
