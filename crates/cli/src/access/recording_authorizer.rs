//! The authorizer of conversations: it uses stored credentials, without help from the user.

use std::sync::Arc;

use pintle::auth::OAuth;
use pintle::runtime::sync::Mutex;
use pintle::runtime::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, RequestSummary, RetryDecision,
};

/// Maximum number of stored lines of `WWW-Authenticate`.
const LINES: usize = 16;

/// An authorizer that records the challenges of a server. Clones share one record.
#[derive(Clone)]
pub(crate) struct RecordingAuthorizer {
    oauth: OAuth,
    challenges: Arc<Mutex<Vec<String>>>,
}

impl RecordingAuthorizer {
    pub(super) fn new(oauth: OAuth) -> Self {
        Self {
            oauth,
            challenges: Arc::default(),
        }
    }

    /// Returns the OAuth client behind this authorizer.
    pub(crate) fn oauth(&self) -> &OAuth {
        &self.oauth
    }

    /// Returns the lines of `WWW-Authenticate` of the last challenge that no new token could answer.
    pub(crate) fn challenges(&self) -> Vec<String> {
        self.challenges.lock().clone()
    }
}

impl Authorizer for RecordingAuthorizer {
    async fn authorize(&self, request: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        self.oauth.authorize(request).await
    }

    async fn handle_challenge(
        &self,
        request: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        let lines = refused.challenges.iter().take(LINES).cloned().collect();
        let after = self.oauth.handle_challenge(request, refused).await;
        if after.is_err() {
            *self.challenges.lock() = lines;
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
