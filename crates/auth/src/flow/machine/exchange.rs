//! Requests of a sign-in to the token endpoint, and their results.

use pintle_runtime::{FetchError, FetchResponse, NetworkScope, WebUrl};
use serde_json::Value;

use crate::error::{AuthError, AuthServerError, EndpointRequest};
use crate::flow::issued_tokens::IssuedTokens;
use crate::flow::machine::{SignIn, Stage};
use crate::flow::sign_in_plan::SignInStep;
use crate::flow::token::{Exchange, Exchanged};
use crate::flow_context::FlowContext;
use crate::secret::Secret;

impl SignIn {
    pub(super) fn with_target(
        &self,
        mut form: Vec<(&'static str, Secret)>,
    ) -> Vec<(&'static str, Secret)> {
        form.push(("resource", self.resource.clone().into()));
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.to_string().into()));
        }
        form
    }

    pub(super) fn ask(
        &mut self,
        form: Vec<(&'static str, Secret)>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let exchange = self.exchange(self.token_endpoint()?, form);
        let request = exchange.request(at)?;
        self.stage = Stage::Token(Box::new(exchange));
        Ok(SignInStep::Fetch(request))
    }

    /// A request of this client to an endpoint of the issuer.
    pub(super) fn exchange(&self, endpoint: String, form: Vec<(&'static str, Secret)>) -> Exchange {
        Exchange {
            what: EndpointRequest::Token,
            network: self.network(Some(&endpoint)),
            endpoint,
            issuer: self.server.issuer.clone(),
            client: self.client.clone(),
            methods: self.server.token_endpoint_auth_methods_supported.clone(),
            form,
            dpop: self.dpop.clone(),
            nonce: None,
        }
    }

    pub(super) fn given(
        &mut self,
        mut exchange: Box<Exchange>,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        match exchange.take(answer, at)? {
            Exchanged::Again(request) => {
                self.stage = Stage::Token(exchange);
                Ok(SignInStep::Fetch(request))
            }
            Exchanged::Done(given) => self.done(*exchange, given, at),
        }
    }

    /// Ends the sign-in with the tokens of a response.
    pub(super) fn done(
        &self,
        exchange: Exchange,
        given: Value,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        Ok(SignInStep::Done(Box::new(IssuedTokens {
            tokens: exchange.tokens(given, at)?,
            client: exchange.client_with_method()?,
            issuer: self.server.issuer.clone(),
            resource: self.resource.clone(),
            token_endpoint: exchange.endpoint,
            requested: self.scopes.clone(),
            dpop: exchange.dpop,
        })))
    }

    pub(super) fn token_endpoint(&self) -> Result<String, AuthError> {
        let endpoint = self.server.token_endpoint.clone();
        endpoint.ok_or_else(|| self.server_error(AuthServerError::Endpoint("token_endpoint")))
    }

    pub(super) fn network(&self, endpoint: Option<&str>) -> NetworkScope {
        let url = endpoint.and_then(|text| WebUrl::parse(text).ok());
        let fetch_policy = &self.plan.fetch_policy;
        url.map_or(NetworkScope::Public, |url| fetch_policy.network(&url))
    }
}
