//! Taking tokens back where they came from.
//!
//! Spec: RFC 7009.

use pintle_runtime::{FetchError, FetchRequest, FetchResponse, NetworkScope};

use crate::error::{AuthError, EndpointRequest};
use crate::flow::issued_tokens::IssuedTokens;
use crate::flow::token::{Exchange, read_refusal};
use crate::flow_context::FlowContext;
use crate::metadata::ServerMetadata;
use crate::secret::Secret;

/// Revokes issued tokens: first the refresh token, then the access token.
#[derive(Debug)]
pub(crate) struct Revoke {
    issued: IssuedTokens,
    endpoint: String,
    methods: Option<Vec<String>>,
    network: NetworkScope,
    left: std::vec::IntoIter<(Secret, &'static str)>,
}

impl Revoke {
    /// Creates a revocation, or returns `None` if the issuer has no revocation endpoint.
    pub(crate) fn of(
        issued: &IssuedTokens,
        server: &ServerMetadata,
        network: NetworkScope,
    ) -> Option<Self> {
        let endpoint = server.revocation_endpoint.clone()?;
        let own = server.revocation_endpoint_auth_methods_supported.clone();
        let tokens = &issued.tokens;
        let refresh = tokens.refresh.iter().map(|token| (token, "refresh_token"));
        let all = refresh.chain([(&tokens.access, "access_token")]);
        let all: Vec<_> = all.map(|(token, kind)| (token.clone(), kind)).collect();
        Some(Self {
            issued: issued.clone(),
            endpoint,
            methods: own.or(server.token_endpoint_auth_methods_supported.clone()),
            network,
            left: all.into_iter(),
        })
    }

    /// Returns the next request, or `None` after the last.
    ///
    /// # Errors
    ///
    /// [`AuthError::Server`], [`AuthError::Key`].
    pub(crate) fn next(&mut self, at: &FlowContext) -> Result<Option<FetchRequest>, AuthError> {
        let Some((token, kind)) = self.left.next() else {
            return Ok(None);
        };
        let exchange = Exchange {
            what: EndpointRequest::Revocation,
            endpoint: self.endpoint.clone(),
            issuer: self.issued.issuer.clone(),
            client: self.issued.client.clone(),
            methods: self.methods.clone(),
            form: vec![("token", token), ("token_type_hint", kind.into())],
            dpop: None,
            nonce: None,
            network: self.network,
        };
        exchange.request(at).map(Some)
    }

    /// Accepts a response. An unknown token counts as revoked. A token of a type that the server
    /// cannot revoke stays valid until it expires.
    ///
    /// # Errors
    ///
    /// [`AuthError::RequestFailed`], [`AuthError::Refused`].
    pub(crate) fn take(&self, answer: Result<FetchResponse, FetchError>) -> Result<(), AuthError> {
        let what = EndpointRequest::Revocation;
        let place = || self.endpoint.split('?').next().unwrap_or_default().into();
        let answer = answer.map_err(|fault| AuthError::RequestFailed {
            what,
            place: place(),
            fault,
        })?;
        if (200..300).contains(&answer.status) {
            return Ok(());
        }
        let mut refusal = read_refusal(&answer);
        if refusal.code.as_deref() == Some("unsupported_token_type") {
            return Ok(());
        }
        // The description is dropped, because it may quote the token.
        refusal.description = None;
        Err(AuthError::Refused {
            what,
            place: place(),
            refusal,
        })
    }
}
