//! Refresh of an access token.
//!
//! Spec: RFC 6749, 6; OAuth 2.1 (draft 13), 4.3.

use pintle_runtime::{FetchError, FetchRequest, FetchResponse, NetworkScope};

use crate::error::{AuthError, EndpointRequest};
use crate::flow::issued_tokens::IssuedTokens;
use crate::flow::token::{Exchange, Exchanged};
use crate::flow_context::FlowContext;
use crate::metadata::ServerMetadata;

/// Refreshes an access token with its refresh token.
#[derive(Debug)]
pub struct TokenRefresh {
    exchange: Exchange,
    issued: IssuedTokens,
}

impl TokenRefresh {
    /// Creates the refresh of issued tokens, or returns `None` without a refresh token.
    ///
    /// Requests are sent only to the endpoint that issued the token.
    pub fn of(
        issued: &IssuedTokens,
        server: Option<&ServerMetadata>,
        network: NetworkScope,
    ) -> Option<Self> {
        let refresh = issued.tokens.refresh.clone()?;
        let form = vec![
            ("grant_type", "refresh_token".into()),
            ("refresh_token", refresh),
            ("resource", issued.resource.clone().into()),
        ];
        let methods =
            server.and_then(|server| server.token_endpoint_auth_methods_supported.clone());
        let exchange = Exchange {
            what: EndpointRequest::Refresh,
            endpoint: issued.token_endpoint.clone(),
            issuer: issued.issuer.clone(),
            client: issued.client.clone(),
            methods,
            form,
            dpop: issued.dpop.clone(),
            nonce: None,
            network,
        };
        Some(Self {
            exchange,
            issued: issued.clone(),
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

    /// Accepts a response. Returns another request, or the new tokens.
    ///
    /// # Errors
    ///
    /// [`AuthError::Refused`] with `invalid_grant` when the token is used up.
    pub fn take(
        &mut self,
        answer: Result<FetchResponse, FetchError>,
        at: &FlowContext,
    ) -> Result<Result<IssuedTokens, FetchRequest>, AuthError> {
        let given = match self.exchange.take(answer, at)? {
            Exchanged::Again(request) => return Ok(Err(request)),
            Exchanged::Done(given) => given,
        };
        let mut tokens = self.exchange.tokens(given, at)?;
        let old = &self.issued.tokens;
        // A server that does not rotate refresh tokens omits it; the old one stays valid.
        tokens.refresh = tokens.refresh.or_else(|| old.refresh.clone());
        tokens.scopes = tokens.scopes.or_else(|| old.scopes.clone());
        Ok(Ok(IssuedTokens {
            tokens,
            ..self.issued.clone()
        }))
    }
}
