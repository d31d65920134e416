//! One state machine for sign-ins of all grant flows.
//!
//! # Stages
//!
//! ```text
//!                 found
//! Resource ─────────────────────► Server ────────────┐ found
//!    │  no document, and the                         │
//!    │  profile assumes one                          ▼
//!    └──────────────────────────► Assumed ────► the way of the profile
//!                                  found, or endpoints of 2025-03-26
//!
//! AuthorizationCode ┬─────────────────┬─► Visiting ───► Token
//!                   └─► Registering ──┘
//! Device ──┬─────────────────┬─► DeviceAsked ─► DeviceShown ─► DevicePause ◄─► DevicePoll
//!          └─► Registering ──┘
//! ClientCredentials ──────────────────────────────────► Token
//! WorkloadIdentity ──► Workload ──────────────────────► Token
//! EnterpriseManaged ─► Identity ────► AtEnterprise ───► Token
//! ```
//!
//! - `Resource`, `Server`, `Assumed`, `Registering`, `DeviceAsked`, `DevicePoll`, `AtEnterprise` and
//!   `Token` wait for a response. All but `Registering` and `DeviceAsked` may fetch more than once:
//!   other places of a document, another DPoP nonce, another poll.
//! - `DeviceShown` waits for the display of the code, `DevicePause` for the next poll.
//! - `Visiting` waits for the user, `Identity` and `WorkloadIdentity` for an assertion.
//! - From `Visiting`, `DeviceAsked` and `Token`, an unknown client leads once to a new registration.
//! - After the tokens or an error the stage is `Over`, and accepts nothing.

mod assertion;
mod device;
mod discover;
mod exchange;
mod registration;

use pintle_runtime::{FetchError, FetchResponse};

use crate::client::ClientRegistration;
use crate::error::{AuthError, AuthServerError};
use crate::flow::code::{AuthorizationResponse, Pending};
use crate::flow::device::DevicePoll;
use crate::flow::issued_tokens::DpopKey;
use crate::flow::register;
use crate::flow::sign_in_plan::{SignInPlan, SignInStep};
use crate::flow::token::Exchange;
use crate::flow_context::FlowContext;
use crate::metadata::{ResourceProbe, ServerMetadata, ServerProbe};
use crate::scope::Scopes;
use crate::secret::Secret;

/// A sign-in under way. It performs no I/O: the caller sends its requests.
#[derive(Debug)]
pub struct SignIn {
    // `register_anew` removes the stored registration, because the issuer does not know it any more.
    plan: SignInPlan,
    // `Over` while a response is processed, because an error must not leave a stage that accepts
    // another one.
    stage: Stage,
    // The text of the document, or the canonical URL where one is assumed; empty before. Never
    // changed, because the issuer compares it byte by byte.
    resource: String,
    // Set with `resource`; none where the resource is assumed, because it has no document.
    advertised: Option<Scopes>,
    // Never falls, because the challenge and the document require DPoP on their own.
    needs_dpop: bool,
    // Empty before `Server` or `Assumed` ends. Its endpoints are within `plan.fetch_policy`, because the
    // probe checks them before it reports the document. Assumed ones have the origin of the server,
    // which the probe has checked as well.
    server: ServerMetadata,
    // Public and without an id until the way is chosen. At the enterprise, its own client signs in.
    client: ClientRegistration,
    // Set with `server`, because the issuer decides which earlier scopes are requested again.
    scopes: Scopes,
    // Generated with `server`, because the issuer must support its algorithm. One key a sign-in: the
    // issuer binds the token to the key of the proof.
    dpop: Option<DpopKey>,
    // Never reset, because a registration is stored also when the rest of the sign-in fails.
    registered: bool,
    /// Whether the client is what an earlier registration came to: the server may have forgotten it.
    // Reset by the first error, because a client registers again once.
    is_kept: bool,
}

#[derive(Debug)]
enum Stage {
    Resource(ResourceProbe),
    Server(ServerProbe),
    /// The server is its own authorization server, as in 2025-03-26.
    Assumed(ServerProbe),
    Registering(String),
    Visiting(Box<Pending>),
    DeviceAsked(Box<Exchange>),
    DeviceShown(Box<DevicePoll>),
    DevicePause(Box<DevicePoll>),
    DevicePoll(Box<DevicePoll>),
    Identity,
    Workload,
    AtEnterprise(Box<Exchange>),
    Token(Box<Exchange>),
    Over,
}

impl SignIn {
    /// Starts a sign-in and returns its first step.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn begin(plan: SignInPlan, at: &FlowContext) -> Result<(Self, SignInStep), AuthError> {
        let mut probe =
            ResourceProbe::of_resource(&plan.server, plan.named.as_deref(), &plan.fetch_policy);
        let first = probe.begin();
        let mut sign_in = Self {
            needs_dpop: plan.wants_dpop,
            plan,
            stage: Stage::Resource(probe),
            resource: String::new(),
            advertised: None,
            server: ServerMetadata::default(),
            client: ClientRegistration::public(""),
            scopes: Scopes::none(),
            dpop: None,
            registered: false,
            is_kept: false,
        };
        let need = sign_in.resource_probed(first, at)?;
        Ok((sign_in, need))
    }

    /// The issuer, and what a registration at it came to: to be kept, whatever becomes of the rest.
    pub fn registration(&self) -> Option<(&str, &ClientRegistration)> {
        self.registered
            .then_some((&self.server.issuer, &self.client))
    }

    /// Returns the issuer while the sign-in uses an earlier registration. The issuer may not know it
    /// any more, and may report this only on its page.
    pub(crate) fn earlier(&self) -> Option<&str> {
        self.is_kept.then_some(self.server.issuer.as_str())
    }

    /// Accepts a response and returns the next step.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn take_answer(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Resource(mut probe) => {
                let probing = probe.take(answer);
                self.stage = Stage::Resource(probe);
                self.resource_probed(probing, at)
            }
            Stage::Server(mut probe) => {
                let probing = probe.take(answer);
                self.stage = Stage::Server(probe);
                self.server_probed(probing, at)
            }
            Stage::Assumed(mut probe) => {
                let probing = probe.take(answer);
                self.stage = Stage::Assumed(probe);
                self.assumed_probed(probing, at)
            }
            Stage::Registering(endpoint) => {
                self.client = register::read(answer, &endpoint, &self.plan.redirect)?;
                self.registered = true;
                self.ask_user(at)
            }
            Stage::DeviceAsked(exchange) => {
                let codes = self.accept_codes(exchange, answer, at);
                codes.or_else(|error| self.register_anew(error, at))
            }
            Stage::DevicePoll(poll) => self.accept_poll(poll, answer, at),
            Stage::AtEnterprise(exchange) => self.accept_assertion(exchange, answer, at),
            Stage::Token(exchange) => {
                let given = self.given(exchange, answer, at);
                given.or_else(|error| self.register_anew(error, at))
            }
            _ => Err(AuthError::Unexpected),
        }
    }

    /// Accepts an authorization response and returns the next step.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn take_response(
        &mut self,
        response: &AuthorizationResponse,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let Stage::Visiting(pending) = std::mem::replace(&mut self.stage, Stage::Over) else {
            return Err(AuthError::Unexpected);
        };
        let code = match pending.end(response.query(), at.now) {
            Ok(code) => code,
            Err(error) => return self.register_anew(error, at),
        };
        let form = vec![
            ("grant_type", Secret::from("authorization_code")),
            ("code", code),
            ("redirect_uri", pending.redirect.into()),
            ("code_verifier", pending.verifier),
            ("resource", self.resource.clone().into()),
        ];
        self.ask(form, at)
    }

    /// Accepts a requested assertion and returns the next step.
    ///
    /// # Errors
    ///
    /// Any [`AuthError`]; the sign-in is over then.
    pub fn take_assertion(
        &mut self,
        assertion: Secret,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Identity => self.ask_enterprise(assertion, at),
            Stage::Workload => self.present(assertion, at),
            _ => Err(AuthError::Unexpected),
        }
    }

    fn server_error(&self, reason: AuthServerError) -> AuthError {
        AuthError::Server {
            issuer: self.server.issuer.as_str().into(),
            reason,
        }
    }
}
