//! A link of the chain, and the state of a walk along it.

use pintle::auth::{FetchPolicy, WebUrl};

/// One link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Which one.
    pub(crate) name: &'static str,
    /// How it is.
    pub(crate) state: State,
    /// What was found.
    pub(crate) said: String,
    /// What to do about it.
    pub(crate) next: Option<String>,
}

/// How a link is. Closed: whoever shows it shows all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It holds.
    Whole,
    /// It holds, and not for every client.
    Weak,
    /// It does not hold.
    Broken,
}

impl Link {
    pub(super) fn whole(name: &'static str, said: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Whole,
            said: said.into(),
            next: None,
        }
    }

    pub(super) fn weak(
        name: &'static str,
        said: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Weak,
            next: Some(next.into()),
            ..Self::whole(name, said)
        }
    }

    pub(super) fn broken(
        name: &'static str,
        said: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            state: State::Broken,
            ..Self::weak(name, said, next)
        }
    }
}

/// What walks: the server, what may be followed, and whether somebody has registered the client.
pub(super) struct Walk<'w, F> {
    pub(super) fetch: &'w F,
    pub(super) server: WebUrl,
    pub(super) bounds: FetchPolicy,
    pub(super) has_client: bool,
    pub(super) links: Vec<Link>,
}
