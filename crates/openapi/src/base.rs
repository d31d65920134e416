//! The base URL of the API.

use pintle_runtime::{NetworkScope, WebUrl};
use serde_json::Value;

use crate::error::OpenApiError;

/// Maximum length of a base URL, and of the default of a variable in it, in bytes.
const MAX_URL_BYTES: usize = 2_048;

/// The source of the base URL.
#[derive(Debug, Clone)]
pub(crate) enum Base {
    /// None is set.
    Absent,
    /// The program sets it.
    Given(String),
    /// The first server of the document, which the program accepts.
    OfDocument,
}

impl Base {
    /// Returns the base URL without a final slash, and the default network of its requests.
    ///
    /// A program that names the API may name one in a private network. A document may not.
    pub(crate) fn resolve(&self, document: &Value) -> Result<(String, NetworkScope), OpenApiError> {
        match self {
            Self::Absent => Err(OpenApiError::NoBaseUrl),
            Self::Given(url) => Ok((checked(url)?, NetworkScope::Private)),
            Self::OfDocument => {
                let server = &document["servers"][0];
                let url = server["url"].as_str().ok_or(OpenApiError::NoBaseUrl)?;
                Ok((checked(&filled(url, server))?, NetworkScope::Public))
            }
        }
    }
}

/// Replaces the variables of a server by their defaults.
fn filled(url: &str, server: &Value) -> String {
    let mut url = url.to_owned();
    for (name, variable) in server["variables"]
        .as_object()
        .into_iter()
        .flatten()
        .take(16)
    {
        let value = variable["default"].as_str();
        // The size of the result is bounded, because a variable may occur often.
        if let Some(value) = value.filter(|value| value.len() + url.len() <= MAX_URL_BYTES) {
            url = url.replace(&format!("{{{name}}}"), value);
        }
    }
    url
}

fn checked(url: &str) -> Result<String, OpenApiError> {
    let invalid = |cause| OpenApiError::BaseUrl {
        url: url.chars().take(200).collect(),
        cause,
    };
    let parsed = WebUrl::parse(url).map_err(invalid)?;
    if parsed.query().is_some() {
        return Err(invalid(pintle_runtime::UrlError::InvalidCharacter));
    }
    Ok(url.trim_end_matches('/').to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_of_the_document_is_public_and_absolute() {
        let server = json!({ "url": "https://{region}.example.com/v1/", "variables": { "region": { "default": "eu" } } });
        let document = json!({ "servers": [server] });
        let (url, network) = Base::OfDocument.resolve(&document).expect("a URL");
        assert_eq!(url, "https://eu.example.com/v1");
        assert_eq!(network, NetworkScope::Public);
        for url in [
            "/v1",
            "file:///etc",
            "https://user@a.example",
            "https://a.example/?x=1",
        ] {
            let document = json!({ "servers": [{ "url": url }] });
            assert!(Base::OfDocument.resolve(&document).is_err(), "{url}");
        }
        assert!(Base::OfDocument.resolve(&json!({})).is_err());
        assert!(Base::Absent.resolve(&document).is_err());
    }
}
