//! Refresh of an access token.
//!
//! Spec: RFC 6749, 6; OAuth 2.1 (draft 13), 4.3.

use pintle_runtime::{FetchError, FetchRequest, FetchResponse, NetworkScope};

use crate::error::{AuthError, EndpointRequest};
use crate::flow::token::{Exchange, Exchanged};
use crate::flow::token_grant::TokenGrant;
use crate::flow_context::FlowContext;
use crate::metadata::ServerMetadata;

/// Refreshes an access token with its refresh token.
#[derive(Debug)]
pub struct TokenRefresh {
    exchange: Exchange,
    grant: TokenGrant,
}

impl TokenRefresh {
    /// Creates the refresh of a grant, or returns `None` if the grant has no refresh token.
    ///
    /// Requests are sent only to the endpoint that issued the token.
    pub fn of(
        grant: &TokenGrant,
        server: Option<&ServerMetadata>,
        network: NetworkScope,
    ) -> Option<Self> {
        let refresh = grant.tokens.refresh.clone()?;
        let form = vec![
            ("grant_type", "refresh_token".into()),
            ("refresh_token", refresh),
            ("resource", grant.resource.clone().into()),
        ];
        let methods =
            server.and_then(|server| server.token_endpoint_auth_methods_supported.clone());
        let exchange = Exchange {
            what: EndpointRequest::Refresh,
            endpoint: grant.token_endpoint.clone(),
            issuer: grant.issuer.clone(),
            client: grant.client.clone(),
            methods,
            form,
            dpop: grant.dpop.clone(),
            nonce: None,
            network,
        };
        Some(Self {
            exchange,
            grant: grant.clone(),
        })
    }

    /// Returns the first request.
    ///
    /// # Errors
    ///
    /// The errors of every token request.
    pub fn begin(&self, at: &FlowContext) -> Result<FetchRequest, AuthError> {
        self.exchange.request(at)
    }

    /// Accepts a response. Returns another request, or the grant with its new token.
    ///
    /// # Errors
    ///
    /// [`AuthError::Refused`] with `invalid_grant` when the token is used up.
    pub fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<Result<TokenGrant, FetchRequest>, AuthError> {
        let given = match self.exchange.take(answer, at)? {
            Exchanged::Again(request) => return Ok(Err(request)),
            Exchanged::Done(given) => given,
        };
        let mut tokens = self.exchange.tokens(given, at)?;
        let old = &self.grant.tokens;
        // A server that does not rotate refresh tokens omits it; the old one stays valid.
        tokens.refresh = tokens.refresh.or_else(|| old.refresh.clone());
        tokens.scopes = tokens.scopes.or_else(|| old.scopes.clone());
        Ok(Ok(TokenGrant {
            tokens,
            ..self.grant.clone()
        }))
    }
}
