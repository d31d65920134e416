//! What a sign-in begins with, and what it needs on its way.

use std::sync::Arc;

use pintle_runtime::{FetchRequest, WebUrl};

use crate::client::{ClientConfig, ClientRegistration};
use crate::flow::code::SignInRequest;
use crate::flow::token_grant::TokenGrant;
use crate::reach::FetchPolicy;
use crate::scope::Scopes;

/// What a sign-in begins with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignInPlan {
    /// The server that wants a token.
    pub server: WebUrl,
    /// Where the challenge says that its metadata is.
    pub named: Option<String>,
    /// Which scopes the challenge names: they are what the operation needs.
    pub challenged: Option<Scopes>,
    /// What was asked for before, and of whom: another sign-in there loses none of it.
    pub held: Option<(String, Scopes)>,
    /// Whether the challenge wants tokens that are bound to a key.
    pub wants_dpop: bool,
    /// Who we are.
    pub profile: Arc<ClientConfig>,
    /// What may be followed.
    pub bounds: FetchPolicy,
    /// Where users come back to.
    pub redirect: String,
    /// What earlier registrations came to, by issuer.
    pub kept: Vec<(String, ClientRegistration)>,
}

impl SignInPlan {
    /// A first sign-in for a server.
    pub fn new(server: WebUrl, profile: Arc<ClientConfig>, redirect: impl Into<String>) -> Self {
        Self {
            bounds: FetchPolicy::of(&server),
            server,
            named: None,
            challenged: None,
            held: None,
            wants_dpop: false,
            profile,
            redirect: redirect.into(),
            kept: Vec::new(),
        }
    }
}

/// What a sign-in needs next. Closed: whoever drives it does all of it.
#[derive(Debug)]
pub enum SignInStep {
    /// Fetch this, and hand in what comes.
    Fetch(FetchRequest),
    /// Send a user there, and hand in how they come back.
    Visit(SignInRequest),
    /// Bring the token by which the identity provider names the user, and hand it in.
    Identity,
    /// Bring what the platform says of this workload, for this audience, and hand it in.
    Workload(String),
    /// Keep this: it is done.
    Done(Box<TokenGrant>),
}
