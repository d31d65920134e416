//! The content of a sealed session id: a form, the key, and the terms of the session.

use pintle_model::{ClientCapabilities, Implementation, RawJson, ReadJson, Revision};
use pintle_proto::Terms;
use pintle_runtime::SessionKey;
use serde::{Deserialize, Serialize};

/// The form of the content; another one is not read.
const FORM: u8 = 2;
/// Maximum bytes of the terms, because proxies limit the size of a head. A session with more belongs to one
/// process.
const MAX_TERMS_BYTES: usize = 1_024;

/// The terms of a session, as its id contains them.
pub(super) struct Claims(Vec<u8>);

#[derive(Serialize)]
struct ClaimedTerms<'a> {
    #[serde(rename = "r")]
    revision: &'a str,
    #[serde(rename = "c")]
    capabilities: &'a ClientCapabilities,
    #[serde(rename = "i", skip_serializing_if = "Option::is_none")]
    client: Option<&'a Implementation>,
}

#[derive(Deserialize)]
struct ReadTerms<'a> {
    #[serde(rename = "r")]
    revision: &'a str,
    #[serde(rename = "c", borrow)]
    capabilities: RawJson<'a>,
    #[serde(rename = "i", borrow, default)]
    client: Option<RawJson<'a>>,
}

impl Claims {
    /// Writes the terms of a session after its handshake. `None` if they are too large.
    pub(super) fn of(terms: &Terms) -> Option<Self> {
        let claimed = ClaimedTerms {
            revision: terms.revision.as_str(),
            capabilities: &terms.capabilities,
            client: terms.client.as_ref(),
        };
        let json = serde_json::to_vec(&claimed).ok()?;
        if json.len() > MAX_TERMS_BYTES {
            tracing::debug!(
                bytes = json.len(),
                limit = MAX_TERMS_BYTES,
                "a session stays at this process, because its terms are too large for its id"
            );
            return None;
        }
        Some(Self(json))
    }

    /// Returns the content of the id of the session with this key.
    pub(super) fn with_key(&self, key: SessionKey) -> Vec<u8> {
        [&[FORM], key.to_bytes().as_slice(), &self.0].concat()
    }

    /// Reads the content of an id: the key, and the terms. `None` if another version wrote it.
    pub(super) fn read(content: &[u8]) -> Option<(SessionKey, Terms)> {
        let (key, json) = content.strip_prefix(&[FORM])?.split_first_chunk()?;
        let claimed: ReadTerms<'_> = serde_json::from_str(str::from_utf8(json).ok()?).ok()?;
        let revision: Revision = claimed.revision.parse().ok()?;
        let mut terms = Terms::new(revision);
        terms.capabilities = ClientCapabilities::read_json(claimed.capabilities.get()).ok()?;
        if let Some(client) = claimed.client {
            terms.client = Some(Implementation::read_json(client.get()).ok()?);
        }
        Some((SessionKey::from_bytes(key), terms))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn terms(name: &str) -> Terms {
        let capabilities = json!({ "roots": { "listChanged": true }, "sampling": {},
            "elicitation": { "form": {} }, "experimental": { "x": { "y": 1 } } });
        let mut terms = Terms::new(Revision::V2025_06_18);
        terms.capabilities = serde_json::from_value(capabilities).expect("capabilities");
        terms.client = Some(Implementation::new(name, "1.0.0"));
        terms
    }

    #[test]
    fn the_terms_of_an_id_are_those_of_the_session() {
        let claims = Claims::of(&terms("t")).expect("short terms");
        let mut key = SessionKey::unlimited(7 << 100);
        (key.until_seconds, key.ttl_seconds, key.epoch) = (1, 2, 3);
        let content = claims.with_key(key);
        assert_eq!(Claims::read(&content), Some((key, terms("t"))));
    }

    #[test]
    fn content_of_another_form_is_not_read() {
        let claims = Claims::of(&terms("t")).expect("short terms");
        let content = claims.with_key(SessionKey::unlimited(7));
        let mut other = content.clone();
        other[0] = 1;
        for content in [&[], &other[..], &content[..32], &content[..40]] {
            assert_eq!(Claims::read(content), None);
        }
    }

    #[test]
    fn terms_of_more_than_1024_bytes_are_in_no_id() {
        let empty = Claims::of(&terms("")).expect("short terms").0.len();
        let room = MAX_TERMS_BYTES - empty;
        assert!(Claims::of(&terms(&"n".repeat(room))).is_some());
        assert!(Claims::of(&terms(&"n".repeat(room + 1))).is_none());
    }
}
