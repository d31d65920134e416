//! Tokens for assertions: of an enterprise about its user, or of a platform about a workload.

use pintle_runtime::{FetchError, FetchResponse, NetworkScope, WebUrl};

use crate::client::GrantFlow;
use crate::error::{AuthError, EndpointRequest};
use crate::fetch_policy::FetchPolicy;
use crate::flow::machine::{SignIn, Stage};
use crate::flow::sign_in_plan::SignInStep;
use crate::flow::token::{Exchange, Exchanged};
use crate::flow_context::FlowContext;
use crate::secret::Secret;

/// Token type of the assertion of an enterprise.
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

impl SignIn {
    /// Requests an assertion about this user and this server from the identity provider.
    ///
    /// Spec: RFC 8693, 2; the extension `io.modelcontextprotocol/enterprise-managed-authorization`.
    pub(super) fn ask_enterprise(
        &mut self,
        identity: Secret,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let GrantFlow::Enterprise(enterprise) = &self.plan.profile.grant_flow else {
            return Err(AuthError::Unexpected);
        };
        check_configured(&enterprise.token_endpoint, &self.plan.fetch_policy)?;
        let mut form: Vec<(&'static str, Secret)> = vec![
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange".into(),
            ),
            ("requested_token_type", ID_JAG.into()),
            ("subject_token", identity),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:id_token".into(),
            ),
            ("audience", self.server.issuer.clone().into()),
            ("resource", self.resource.clone().into()),
        ];
        if !self.scopes.is_empty() {
            form.push(("scope", self.scopes.to_string().into()));
        }
        let exchange = Exchange {
            what: EndpointRequest::Exchange,
            endpoint: enterprise.token_endpoint.clone(),
            issuer: enterprise.issuer.clone(),
            client: enterprise.client.clone(),
            methods: None,
            form,
            dpop: None,
            nonce: None,
            // The user has named it, and not the server: it may well be in the private network.
            network: NetworkScope::Private,
        };
        let request = exchange.request(at)?;
        self.stage = Stage::AtEnterprise(Box::new(exchange));
        Ok(SignInStep::Fetch(request))
    }

    pub(super) fn accept_assertion(
        &mut self,
        mut exchange: Box<Exchange>,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let given = match exchange.take(answer, at)? {
            Exchanged::Again(request) => {
                self.stage = Stage::AtEnterprise(exchange);
                return Ok(SignInStep::Fetch(request));
            }
            Exchanged::Done(given) => given,
        };
        let text = |name: &str| given.get(name).and_then(serde_json::Value::as_str);
        let is_word = text("issued_token_type") == Some(ID_JAG);
        match text("access_token").filter(|word| is_word && !word.is_empty()) {
            Some(word) => self.present(word.into(), at),
            None => Err(AuthError::InvalidResponse {
                what: EndpointRequest::Exchange,
                place: exchange
                    .endpoint
                    .split('?')
                    .next()
                    .unwrap_or_default()
                    .into(),
                fault: "its \"issued_token_type\" is not the one that was asked for".into(),
            }),
        }
    }

    /// Requests tokens with the assertion of an issuer that the server trusts.
    ///
    /// Spec: RFC 7523, 2.1.
    pub(super) fn present(
        &mut self,
        assertion: Secret,
        at: &FlowContext,
    ) -> Result<SignInStep, AuthError> {
        let form = vec![
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:jwt-bearer".into(),
            ),
            ("assertion", assertion),
        ];
        self.ask(self.with_target(form), at)
    }
}

/// Checks that a configured URL is encrypted, on a loopback host, or permitted without TLS.
fn check_configured(endpoint: &str, fetch_policy: &FetchPolicy) -> Result<(), AuthError> {
    let unfit = |reason: String| {
        let place = endpoint.split('?').next().unwrap_or_default();
        AuthError::Address(place.into(), reason.into())
    };
    let url = WebUrl::parse(endpoint).map_err(|fault| unfit(fault.to_string()))?;
    match fetch_policy.allows(&url) {
        true => Ok(()),
        false => Err(unfit("it is not https".to_owned())),
    }
}
