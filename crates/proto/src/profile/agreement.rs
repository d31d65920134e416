//! The terms of the last handshake, for clients that open each session with the same text.
//!
//! Equal text means equal terms for every client, so no data of one peer reaches another. Sessions with the
//! same terms share them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pintle_model::jsonrpc::ParamsRef;
use pintle_model::{Error, InitializeParams};

use super::ServerProfile;
use crate::io::Params;
use crate::lifecycle::agreed_terms;
use crate::terms::Terms;

/// Longest text that is kept, in bytes; longer terms are read every time.
const MAX_TEXT: usize = 4_096;

/// The last handshake.
#[derive(Debug, Default)]
pub(super) struct LastHandshake(Mutex<Option<(Box<str>, Arc<Terms>)>>);

/// The terms depend on the profile, and a copy of it may be changed.
impl Clone for LastHandshake {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl LastHandshake {
    fn lock(&self) -> MutexGuard<'_, Option<(Box<str>, Arc<Terms>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The terms, if the last handshake had the same text.
    fn find(&self, text: &str) -> Option<Arc<Terms>> {
        let last = self.lock();
        let (_, terms) = last.as_ref().filter(|(kept, _)| **kept == *text)?;
        Some(Arc::clone(terms))
    }
}

impl ServerProfile {
    /// The terms that a handshake agrees on.
    ///
    /// # Errors
    ///
    /// -32602 with the reason.
    pub(crate) fn agree(&self, params: Option<ParamsRef<'_>>) -> Result<Arc<Terms>, Error> {
        let text = params.as_ref().map_or("", ParamsRef::get);
        if let Some(terms) = self.last_handshake.find(text) {
            return Ok(terms);
        }
        let mut terms = agreed_terms(Params::from(params).read::<InitializeParams>()?);
        if self.capabilities.logging.is_none() {
            terms.log_level = None;
        }
        let terms = Arc::new(terms);
        if text.len() <= MAX_TEXT {
            *self.last_handshake.lock() = Some((text.into(), Arc::clone(&terms)));
        }
        Ok(terms)
    }
}

#[cfg(test)]
mod tests {
    use pintle_model::{Implementation, ServerCapabilities};

    use super::*;

    fn agreed(profile: &ServerProfile, client: &str) -> Arc<Terms> {
        let params = format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"{client}","version":"1"}}}}"#
        );
        let params = ParamsRef::read(serde_json::from_str(&params).expect("JSON"));
        profile.agree(Some(params)).expect("terms")
    }

    #[test]
    fn only_handshakes_of_the_same_text_share_their_terms() {
        let identity = Implementation::new("test", "1");
        let profile = ServerProfile::new(identity, ServerCapabilities::default());
        let first = agreed(&profile, "a");
        assert!(Arc::ptr_eq(&first, &agreed(&profile, "a")));
        let other = agreed(&profile, "b");
        assert_eq!(other.client.as_ref().map(|client| &*client.name), Some("b"));
        assert!(!Arc::ptr_eq(&first, &agreed(&profile, "a")));
    }

    #[test]
    fn terms_of_more_than_4096_bytes_are_read_each_time() {
        let identity = Implementation::new("test", "1");
        let profile = ServerProfile::new(identity, ServerCapabilities::default());
        let client = "c".repeat(MAX_TEXT);
        assert!(!Arc::ptr_eq(
            &agreed(&profile, &client),
            &agreed(&profile, &client)
        ));
    }
}
