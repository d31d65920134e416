//! Selects or registers the client of a sign-in, and sends the user to the authorization server.

use crate::client::{ClientRegistration, GrantFlow};
use crate::error::{AuthError, AuthServerError};
use crate::flow::code::{AuthorizationRequest, Pending};
use crate::flow::machine::{SignIn, Stage};
use crate::flow::register::{self, RegistrationSource};
use crate::flow::sign_in_plan::SignInStep;
use crate::flow_context::FlowContext;

impl SignIn {
    pub(super) fn choose_client(&mut self, at: &FlowContext) -> Result<SignInStep, AuthError> {
        let plan = &self.plan;
        let mut kept = plan.kept.iter();
        let kept = kept.find(|(issuer, _)| *issuer == self.server.issuer);
        let source = register::client(
            &plan.profile,
            &self.server,
            kept.map(|(_, client)| client)
                .filter(|client| !client.has_ended(at.now)),
            &plan.redirect,
            &self.scopes,
            self.network(self.server.registration_endpoint.as_deref()),
        )?;
        match source {
            RegistrationSource::As(client) => {
                self.client = client;
                self.ask_user(at)
            }
            RegistrationSource::Kept(client) => {
                self.client = client;
                self.is_kept = true;
                self.ask_user(at)
            }
            RegistrationSource::Register(request) => {
                self.stage = Stage::Registering(request.url.clone());
                Ok(SignInStep::Fetch(request))
            }
        }
    }

    /// Sends the user to the authorization server, as the grant flow requires.
    pub(super) fn ask_user(&mut self, at: &FlowContext) -> Result<SignInStep, AuthError> {
        match self.plan.profile.grant_flow {
            GrantFlow::Device => self.ask_device(at),
            _ => self.visit(at),
        }
    }

    fn visit(&mut self, at: &FlowContext) -> Result<SignInStep, AuthError> {
        let scope = self.scopes.to_string();
        let ask = AuthorizationRequest {
            server: &self.server,
            client: &self.client.id,
            redirect: &self.plan.redirect,
            resource: &self.resource,
            scope: Some(scope.as_str()).filter(|scope| !scope.is_empty()),
        };
        let (pending, visit) = Pending::begin(&ask, at)?;
        self.token_endpoint()?;
        self.stage = Stage::Visiting(Box::new(pending));
        Ok(SignInStep::Visit(visit))
    }

    /// Registers again, once, if the server does not know a stored registration any more.
    ///
    /// # Errors
    ///
    /// `error` itself if it has another cause, or if the client cannot register again.
    pub(super) fn register_anew(
        &mut self,
        error: AuthError,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        if !std::mem::replace(&mut self.is_kept, false) || !error.is_of_unknown_client() {
            return Err(error);
        }
        let issuer = &self.server.issuer;
        self.plan.kept.retain(|(own, _)| own != issuer);
        self.choose_client(at).map_err(|_| error)
    }

    /// Returns the configured registration for the issuer of this sign-in.
    pub(super) fn registered_client(&self) -> Result<ClientRegistration, AuthError> {
        let profile = &self.plan.profile;
        let is_own =
            |issuer: &Option<String>| issuer.as_ref().is_none_or(|own| *own == self.server.issuer);
        let found = profile.registered.iter().find(|(issuer, _)| is_own(issuer));
        match (found, profile.registered.first()) {
            (Some((_, client)), _) => Ok(client.clone()),
            (None, Some((Some(other), _))) => {
                Err(self.server_error(AuthServerError::OtherIssuer(other.as_str().into())))
            }
            _ => Err(self.server_error(AuthServerError::Registration)),
        }
    }
}
