//! The authorizer of conversations: it uses stored credentials, without help from the user.

use std::sync::{Arc, Mutex, PoisonError};

use pintle::auth::OAuth;
use pintle::runtime::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, RequestSummary, RetryDecision,
};

/// How many lines of `WWW-Authenticate` are remembered.
const LINES: usize = 16;

/// An authorizer that records the challenges of a server. Clones share one record.
#[derive(Clone)]
pub(crate) struct RecordingAuthorizer {
    oauth: OAuth,
    wanted: Arc<Mutex<Vec<String>>>,
}

impl RecordingAuthorizer {
    pub(super) fn new(oauth: OAuth) -> Self {
        Self {
            oauth,
            wanted: Arc::default(),
        }
    }

    /// Returns the OAuth client behind this authorizer.
    pub(crate) fn oauth(&self) -> &OAuth {
        &self.oauth
    }

    /// Returns the lines of `WWW-Authenticate` with which the server finally refused a request.
    pub(crate) fn wanted(&self) -> Vec<String> {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        wanted.clone()
    }
}

impl Authorizer for RecordingAuthorizer {
    async fn authorize(&self, errand: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        self.oauth.authorize(errand).await
    }

    async fn handle_challenge(
        &self,
        errand: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        let lines = refused.challenges.iter().take(LINES).cloned().collect();
        let after = self.oauth.handle_challenge(errand, refused).await;
        if after.is_err() {
            *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = lines;
        }
        after
    }

    fn take_nonce(&self, nonce: &str) {
        self.oauth.take_nonce(nonce);
    }

    fn principal(&self) -> Option<String> {
        self.oauth.principal()
    }
}
