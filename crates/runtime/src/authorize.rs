//! The seam between a client's transport and its authorization.
//!
//! The transport asks an [`Authorizer`] for headers before every request, and reports each refusal
//! of the server to it. The authorizer does not depend on the transport, and the transport does not
//! depend on OAuth.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use pintle_model::errors;

use crate::future::BoxFuture;

/// A request that is about to be made.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct RequestSummary<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The absolute address, without what its user may keep secret of it: it has no query.
    pub url: &'a str,
    /// Name of the operation, to count attempts: the method of the message, and its subject.
    pub operation: &'a str,
}

impl<'a> RequestSummary<'a> {
    /// Names a request.
    pub const fn new(method: &'a str, url: &'a str, operation: &'a str) -> Self {
        Self {
            method,
            url,
            operation,
        }
    }
}

/// The headers that a request is sent with, and which credential they come from.
///
/// `Debug` shows the names of the headers only.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct AuthHeaders {
    /// Names and values. A name is lower case.
    pub headers: Vec<(Box<str>, Box<str>)>,
    /// The number of the credential: it grows with every renewal; 0 without a credential.
    pub generation: u64,
}

impl AuthHeaders {
    /// No headers: the request goes out as it is.
    pub fn none() -> Self {
        Self::default()
    }

    /// Headers of one credential.
    pub fn new(headers: Vec<(Box<str>, Box<str>)>, generation: u64) -> Self {
        Self {
            headers,
            generation,
        }
    }
}

impl fmt::Debug for AuthHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("AuthHeaders")
            .field("headers", &names)
            .field("generation", &self.generation)
            .finish()
    }
}

/// How a server refused a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AuthChallenge {
    /// The status: 401 or 403.
    pub status: u16,
    /// The lines of `WWW-Authenticate`.
    pub challenges: Vec<String>,
    /// `DPoP-Nonce`, where the server gave one.
    pub nonce: Option<String>,
    /// With what the request was sent: [`AuthHeaders::generation`].
    pub generation: u64,
    /// How often this request was refused before.
    pub before: u32,
}

impl AuthChallenge {
    /// A refusal of a request that had not been refused before.
    pub fn new(status: u16, challenges: Vec<String>, generation: u64) -> Self {
        Self {
            status,
            challenges,
            nonce: None,
            generation,
            before: 0,
        }
    }
}

/// Next step after a refusal. Closed: the transport handles all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Ask for headers again, and send the request again.
    Retry,
    /// Nothing can be done about it: the refusal is the answer.
    GiveUp,
}

/// Authorizes the requests of one client to one server.
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the headers for the next request. With none the request is sent unchanged, and the
    /// server states its requirements.
    ///
    /// # Errors
    ///
    /// [`AuthorizerError`] if the request cannot be authorized, and the server would refuse it.
    fn authorize(
        &self,
        request: RequestSummary<'_>,
    ) -> impl Future<Output = Result<AuthHeaders, AuthorizerError>> + Send;

    /// Handles a refusal by the server: for instance, renews the token.
    ///
    /// It may take as long as a person needs to sign in. Many requests may be refused at the same
    /// time; they wait together.
    ///
    /// # Errors
    ///
    /// [`AuthorizerError`] with the cause, and a hint where there is one.
    fn handle_challenge(
        &self,
        request: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> impl Future<Output = Result<RetryDecision, AuthorizerError>> + Send;

    /// Stores a nonce that came with a response, for the next proof.
    fn take_nonce(&self, nonce: &str) {
        let _ = nonce;
    }

    /// Returns the principal that owns private results of the server, if its name is known.
    fn principal(&self) -> Option<String> {
        None
    }
}

errors! {
    /// Reason why a request is not authorized; the source is the cause.
    #[derive(Debug, Clone)]
    pub struct AuthorizerError(reason: Arc<dyn Error + Send + Sync>)
        => "the request is not authorized" (source: &**reason);
}

impl AuthorizerError {
    /// For a reason.
    pub fn new(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(reason.into()))
    }

    /// The reason, if it is of this type.
    pub fn reason<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

/// An authorizer of any type. Clones are the same one.
#[derive(Clone)]
pub struct BoxAuthorizer(Arc<dyn DynAuthorizer>);

trait DynAuthorizer: Send + Sync {
    fn authorize_dyn<'a>(
        &'a self,
        request: RequestSummary<'a>,
    ) -> BoxFuture<'a, Result<AuthHeaders, AuthorizerError>>;
    fn refused_dyn<'a>(
        &'a self,
        request: RequestSummary<'a>,
        refused: AuthChallenge,
    ) -> BoxFuture<'a, Result<RetryDecision, AuthorizerError>>;
    fn take_nonce_dyn(&self, nonce: &str);
    fn principal_dyn(&self) -> Option<String>;
}

impl<A: Authorizer> DynAuthorizer for A {
    fn authorize_dyn<'a>(
        &'a self,
        request: RequestSummary<'a>,
    ) -> BoxFuture<'a, Result<AuthHeaders, AuthorizerError>> {
        Box::pin(self.authorize(request))
    }

    fn refused_dyn<'a>(
        &'a self,
        request: RequestSummary<'a>,
        refused: AuthChallenge,
    ) -> BoxFuture<'a, Result<RetryDecision, AuthorizerError>> {
        Box::pin(self.handle_challenge(request, refused))
    }

    fn take_nonce_dyn(&self, nonce: &str) {
        self.take_nonce(nonce);
    }

    fn principal_dyn(&self) -> Option<String> {
        self.principal()
    }
}

impl BoxAuthorizer {
    /// Hides the type of an authorizer.
    pub fn new(authorizer: impl Authorizer) -> Self {
        Self(Arc::new(authorizer))
    }
}

impl Authorizer for BoxAuthorizer {
    async fn authorize(&self, request: RequestSummary<'_>) -> Result<AuthHeaders, AuthorizerError> {
        self.0.authorize_dyn(request).await
    }

    async fn handle_challenge(
        &self,
        request: RequestSummary<'_>,
        refused: AuthChallenge,
    ) -> Result<RetryDecision, AuthorizerError> {
        self.0.refused_dyn(request, refused).await
    }

    fn take_nonce(&self, nonce: &str) {
        self.0.take_nonce_dyn(nonce);
    }

    fn principal(&self) -> Option<String> {
        self.0.principal_dyn()
    }
}

impl fmt::Debug for BoxAuthorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxAuthorizer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // hardening: H-46
    #[test]
    fn a_warrant_shows_names_only() {
        let headers = vec![("authorization".into(), "Bearer hunter2".into())];
        let shown = format!("{:?}", AuthHeaders::new(headers, 7));
        assert_eq!(
            shown,
            r#"AuthHeaders { headers: ["authorization"], generation: 7 }"#
        );
    }
}
