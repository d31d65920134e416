//! What a refusal asks for.

use crate::challenge::{Challenge, challenges};
use crate::scope::Scopes;

/// Parameters of a challenge that affect tokens.
#[derive(Debug, Clone, Default)]
pub(super) struct ChallengeSummary {
    pub(super) metadata: Option<String>,
    pub(super) scopes: Option<Scopes>,
    pub(super) is_dpop: bool,
    error: Option<String>,
}

impl ChallengeSummary {
    pub(super) fn of(lines: &[String]) -> Self {
        let found = challenges(lines.iter().map(String::as_str));
        let ours = |challenge: &&Challenge| challenge.is("DPoP") || challenge.is("Bearer");
        // A server may offer both schemes. The first one is the scheme that it prefers.
        let Some(challenge) = found.iter().find(ours) else {
            return Self::default();
        };
        let text = |name: &str| challenge.parameter(name).map(str::to_owned);
        Self {
            metadata: text("resource_metadata"),
            scopes: challenge
                .parameter("scope")
                .and_then(|list| Scopes::parse(list).ok())
                .filter(|scopes| !scopes.is_empty()),
            is_dpop: challenge.is("DPoP"),
            error: text("error"),
        }
    }

    pub(super) fn has_error(&self, error: &str) -> bool {
        self.error.as_deref() == Some(error)
    }
}
