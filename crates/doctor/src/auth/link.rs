//! One link of the authorization chain, and the diagnosis that collects the links in order.

use pintle::auth::{FetchPolicy, WebUrl};

/// One checked step between a server and the issuer of its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The name of the step.
    pub name: &'static str,
    /// Whether the step holds.
    pub state: LinkState,
    /// The finding: text for the user, often with words of the server.
    pub finding: String,
    /// Advice for the user. Absent if the link holds.
    pub next: Option<String>,
}

/// Whether a link of the authorization chain holds, for every client or only for some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// The link holds for every client.
    Whole,
    /// The link holds, but a client may need more: a guess, or its own registration.
    Weak,
    /// The link does not hold, so a sign-in or a call fails at it.
    Broken,
}

impl Link {
    pub(super) fn whole(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            state: LinkState::Whole,
            finding: finding.into(),
            next: None,
        }
    }

    pub(super) fn weak(
        name: &'static str,
        finding: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            state: LinkState::Weak,
            next: Some(next.into()),
            ..Self::whole(name, finding)
        }
    }

    pub(super) fn broken(
        name: &'static str,
        finding: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            state: LinkState::Broken,
            ..Self::weak(name, finding, next)
        }
    }
}

/// The diagnosis of the authorization of one server. `has_client` is true if the user gave a client id.
pub(super) struct AuthDiagnosis<'w, F> {
    pub(super) fetch: &'w F,
    pub(super) server: WebUrl,
    pub(super) fetch_policy: FetchPolicy,
    pub(super) has_client: bool,
    pub(super) links: Vec<Link>,
}
