//! A cache of terms, for requests that state them in the same text.
//!
//! Most clients state the same terms on every request. Equal text means equal terms for every
//! sender, so no data of one peer reaches another.

use std::sync::Arc;

use pintle_model::{Error, RequestEnvelope, Revision};

use super::stated_terms;
use crate::terms::Terms;

/// Longest text that is cached, in bytes; longer terms are read every time.
const MAX_TEXT: usize = 4_096;

/// The terms that were stated last.
#[derive(Debug, Default)]
pub struct TermsCache(Option<Kept>);

#[derive(Debug)]
struct Kept {
    capabilities: Box<str>,
    client: Option<Box<str>>,
    terms: Arc<Terms>,
}

impl TermsCache {
    /// The terms that an envelope states; see [`stated_terms`].
    ///
    /// # Errors
    ///
    /// As [`stated_terms`].
    pub fn terms(
        &mut self,
        envelope: &RequestEnvelope<'_>,
        revision: Revision,
    ) -> Result<Arc<Terms>, Error> {
        if let Some(kept) = &self.0
            && kept.is_stated_by(envelope, revision)
        {
            return Ok(Arc::clone(&kept.terms));
        }
        let terms = Arc::new(stated_terms(envelope, revision)?);
        if let Some(kept) = Kept::new(envelope, &terms) {
            self.0 = Some(kept);
        }
        Ok(terms)
    }
}

impl Kept {
    /// Caches terms, unless they have members that differ with every request.
    fn new(envelope: &RequestEnvelope<'_>, terms: &Arc<Terms>) -> Option<Self> {
        let capabilities = envelope.client_capabilities_text()?;
        let client = envelope.client_info_text();
        let length = capabilities.len() + client.map_or(0, str::len);
        (length <= MAX_TEXT && is_plain(envelope)).then(|| Self {
            capabilities: capabilities.into(),
            client: client.map(Into::into),
            terms: Arc::clone(terms),
        })
    }

    fn is_stated_by(&self, envelope: &RequestEnvelope<'_>, revision: Revision) -> bool {
        self.terms.revision == revision
            && envelope.client_capabilities_text() == Some(&self.capabilities)
            && envelope.client_info_text() == self.client.as_deref()
            && is_plain(envelope)
    }
}

/// Whether an envelope states only the identity and capabilities of the client.
fn is_plain(envelope: &RequestEnvelope<'_>) -> bool {
    let has_trace = envelope.trace_parent().is_some() || envelope.baggage().is_some();
    !has_trace && matches!(envelope.log_level(), Ok(None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pintle_model::jsonrpc::ParamsRef;

    fn terms_of(memo: &mut TermsCache, meta: &str) -> Result<Arc<Terms>, Error> {
        let params = format!(r#"{{"_meta":{meta}}}"#);
        let params = ParamsRef::read(serde_json::from_str(&params).expect("JSON"));
        let envelope = RequestEnvelope::of_params(Some(&params)).expect("an envelope");
        memo.terms(&envelope, Revision::LATEST)
    }

    fn meta(client: &str, more: &str) -> String {
        format!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/clientInfo":{{"name":"{client}","version":"1"}}{more}}}"#
        )
    }

    // spec: 2026-07-28 N-VER-10, N-EXT-08
    #[test]
    fn only_equal_words_are_equal_terms() {
        let mut memo = TermsCache::default();
        let first = terms_of(&mut memo, &meta("a", "")).expect("terms");
        let again = terms_of(&mut memo, &meta("a", "")).expect("terms");
        assert!(Arc::ptr_eq(&first, &again));
        let other = terms_of(&mut memo, &meta("b", "")).expect("terms");
        assert_eq!(other.client.as_ref().map(|client| &*client.name), Some("b"));
        let level = r#","io.modelcontextprotocol/logLevel":"debug""#;
        assert!(
            terms_of(&mut memo, &meta("b", level))
                .expect("terms")
                .log_level
                .is_some()
        );
        assert!(
            terms_of(&mut memo, &meta("b", ""))
                .expect("terms")
                .log_level
                .is_none()
        );
        let unreadable = r#","io.modelcontextprotocol/logLevel":1"#;
        assert!(terms_of(&mut memo, &meta("b", unreadable)).is_err());
    }
}
