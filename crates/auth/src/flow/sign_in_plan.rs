//! Input and steps of a sign-in.

use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::{FetchRequest, WebUrl};

use crate::client::{ClientConfig, ClientRegistration};
use crate::fetch_policy::FetchPolicy;
use crate::flow::code::SignInRequest;
use crate::flow::device::UserCode;
use crate::flow::issued_tokens::IssuedTokens;
use crate::scope::Scopes;

/// Input of a sign-in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SignInPlan {
    /// URL of the server that requires a token.
    pub server: WebUrl,
    /// URL of the resource metadata in the challenge.
    pub named: Option<String>,
    /// Which scopes the challenge names: they are what the operation needs.
    pub challenged: Option<Scopes>,
    /// Issuer and scopes of the current tokens. A new sign-in at this issuer requests them again.
    pub held: Option<(String, Scopes)>,
    /// Whether the challenge requires tokens that are bound to a key.
    pub wants_dpop: bool,
    /// Configuration of the client.
    pub profile: Arc<ClientConfig>,
    /// Policy for the URLs that metadata names.
    pub fetch_policy: FetchPolicy,
    /// Redirect URI of the client.
    pub redirect: String,
    /// Earlier registrations by issuer.
    pub kept: Vec<(String, ClientRegistration)>,
}

impl SignInPlan {
    /// A first sign-in for a server.
    pub fn new(server: WebUrl, profile: Arc<ClientConfig>, redirect: impl Into<String>) -> Self {
        Self {
            fetch_policy: FetchPolicy::of(&server),
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

/// Next step of a sign-in. The list is complete, because the driver must handle every step.
#[derive(Debug)]
pub enum SignInStep {
    /// Fetch this URL and pass the response to the sign-in.
    Fetch(FetchRequest),
    /// Send a user to this page and pass the authorization response to the sign-in.
    Visit(SignInRequest),
    /// Show this code to the user, then call [`SignIn::resume`](crate::flow::SignIn::resume).
    ShowCode(UserCode),
    /// Wait this long, then call [`SignIn::resume`](crate::flow::SignIn::resume).
    Wait(Duration),
    /// Bring the token by which the identity provider names the user, and hand it in.
    Identity,
    /// Get an assertion of the platform about this workload, for this audience, and pass it on.
    Workload(String),
    /// Keep this: it is done.
    Done(Box<IssuedTokens>),
}
