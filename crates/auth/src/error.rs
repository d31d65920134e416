//! Authorization errors: the failed step, the document, the reason and a hint.

use std::fmt;
use std::time::Duration;

use pintle_runtime::FetchError;

use crate::key::SigningKeyError;
use crate::metadata::{DiscoveryError, MetadataDocument, MetadataError, is_temporary};

/// Error of obtaining an access token. Its texts contain no token, code, verifier or secret, and
/// no query of a URL.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// The document was found at none of its possible URLs.
    #[error("{document} of {of} was not found:{}; {}", AttemptList(tried), after(*document))]
    DocumentNotFound {
        /// The kind of the document.
        document: MetadataDocument,
        /// URL of the server, or issuer, that the document describes.
        of: Box<str>,
        /// Each URL that was tried, with the reason why it did not serve the document.
        tried: Vec<(String, DiscoveryError)>,
    },
    /// The document could not be read now. A later attempt may succeed.
    #[error("{document} at {place} is not available: {reason}; try again later")]
    Unavailable {
        /// The kind of the document.
        document: MetadataDocument,
        /// URL of the document.
        place: Box<str>,
        /// Reason why the document could not be read.
        reason: DiscoveryError,
    },
    /// The document is invalid and must not be used.
    #[error("{document} at {place} must not be used: {fault}; its operator has to correct it")]
    Document {
        /// The kind of the document.
        document: MetadataDocument,
        /// URL of the document.
        place: Box<str>,
        /// Reason why the document is invalid.
        fault: MetadataError,
    },
    /// The authorization server lacks a required feature, or has no registration of this client.
    #[error("the authorization server {issuer} cannot be used: {reason}")]
    Server {
        /// Issuer identifier of the authorization server.
        issuer: Box<str>,
        /// The missing feature or registration.
        reason: AuthServerError,
    },
    /// An endpoint did not respond.
    #[error("{what} at {place} was not answered")]
    RequestFailed {
        /// The kind of the request.
        what: EndpointRequest,
        /// URL of the endpoint.
        place: Box<str>,
        /// Reason of the network failure.
        #[source]
        fault: FetchError,
    },
    /// An endpoint rejected the request.
    #[error("{what} at {place} was refused: {refusal}")]
    Refused {
        /// The kind of the request.
        what: EndpointRequest,
        /// URL of the endpoint.
        place: Box<str>,
        /// The error response of the endpoint.
        refusal: OAuthErrorResponse,
    },
    /// An endpoint sent an invalid response.
    #[error("the answer to {what} at {place} cannot be used: {fault}")]
    InvalidResponse {
        /// The kind of the request.
        what: EndpointRequest,
        /// URL of the endpoint.
        place: Box<str>,
        /// Reason why the response is invalid.
        fault: Box<str>,
    },
    /// The authorization response is invalid, or it is an error response.
    #[error("the sign-in at {issuer} did not succeed: {fault}")]
    Redirect {
        /// Issuer identifier of the authorization server.
        issuer: Box<str>,
        /// Reason why the sign-in failed.
        fault: AuthorizationResponseError,
    },
    /// The sign-in with a code on another device failed.
    #[error("the sign-in at {issuer} did not succeed: {fault}")]
    DeviceSignIn {
        /// Issuer identifier of the authorization server.
        issuer: Box<str>,
        /// Reason why the sign-in failed.
        fault: DeviceSignInError,
    },
    /// The user did not finish the sign-in within the timeout.
    #[error("the sign-in was not finished within {0:?}")]
    SignInTimedOut(Duration),
    /// A sign-in is required, and this process cannot ask a user.
    #[error(
        "a sign-in is required, but this process cannot ask a user; sign in from a terminal first"
    )]
    SignInUnavailable,
    /// The resource server rejects an access token that was just issued for it.
    #[error(
        "the server rejects an access token that was just issued for it (HTTP status {0}); its operator has to compare the audience and issuer that it accepts with its metadata"
    )]
    NewTokenRejected(u16),
    /// The server requested more scopes for an operation after the maximum number of sign-ins.
    #[error(
        "the server still requires more scopes for {operation} after {after} sign-ins; it last requested {scopes:?}"
    )]
    StepUps {
        /// The operation that the client attempted.
        operation: Box<str>,
        /// Number of sign-ins for this operation.
        after: u32,
        /// The scopes that the server requested last.
        scopes: Box<str>,
    },
    /// The operation requires scopes that this client is configured not to request.
    #[error(
        "the server requires the scopes {scopes:?} for {operation}, but this client is configured to request only {own:?}"
    )]
    Scopes {
        /// The operation that the client attempted.
        operation: Box<str>,
        /// The scopes that the operation requires.
        scopes: Box<str>,
        /// The scopes that the client may request.
        own: Box<str>,
    },
    /// The signing key cannot be used.
    #[error("the client assertion or proof cannot be signed")]
    Key(#[from] SigningKeyError),
    /// The operating system did not provide random bytes.
    #[error("the operating system does not provide random bytes")]
    NoRandomness,
    /// The platform or the identity provider did not supply an assertion.
    #[error("the {0} is not available")]
    NoAssertion(&'static str),
    /// The stored credentials could not be read or written.
    #[error("the credentials cannot be read or stored: {0}")]
    StorageFailed(Box<str>),
    /// The access token was issued and is in use, but could not be saved.
    #[error(
        "the token is not saved: {0}; it is used until this process ends, and the next one has to sign in"
    )]
    NotSaved(Box<str>),
    /// No local port is available for the redirect of the browser.
    #[error("no local port is available for the redirect: {0}")]
    NoRedirectPort(Box<str>),
    /// The URL of the server does not permit authorization.
    #[error("{0} cannot be authorized: {1}")]
    Address(Box<str>, Box<str>),
    /// A sign-in state machine received a response without a pending request.
    #[error("unexpected response: no request is pending")]
    Unexpected,
}

impl AuthError {
    /// Returns true if a retry may succeed without any change, because a server or the network
    /// failed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Unavailable { .. } => true,
            Self::RequestFailed { fault, .. } => {
                matches!(fault, FetchError::TimedOut(_) | FetchError::Unreachable(_))
            }
            Self::Refused { refusal, .. } => refusal.is_temporary(),
            _ => false,
        }
    }

    pub(crate) fn unavailable(
        document: MetadataDocument,
        place: String,
        reason: DiscoveryError,
    ) -> Self {
        Self::Unavailable {
            document,
            place: place.into(),
            reason,
        }
    }

    /// Returns true if the authorization server reports that the registration is unknown.
    ///
    /// Spec: RFC 6749, 4.1.2.1 and 5.2.
    pub(crate) fn is_of_unknown_client(&self) -> bool {
        let code = match self {
            Self::Refused { refusal, .. }
            | Self::Redirect {
                fault: AuthorizationResponseError::Refused(refusal),
                ..
            } => refusal.code.as_deref(),
            _ => None,
        };
        matches!(code, Some("invalid_client" | "unauthorized_client"))
    }
}

/// Kind of a request to an endpoint of the authorization server. The list is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointRequest {
    /// Registration of the client.
    Registration,
    /// Request for the codes of a sign-in on another device.
    DeviceAuthorization,
    /// Request for an access token.
    Token,
    /// Request for an access token by a refresh token.
    Refresh,
    /// Exchange of an identity token for an identity assertion grant (ID-JAG).
    Exchange,
    /// Revocation of a token.
    Revocation,
}

impl fmt::Display for EndpointRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Registration => "the registration of the client",
            Self::DeviceAuthorization => "the request for a code",
            Self::Token => "the request for a token",
            Self::Refresh => "the request for a fresh token",
            Self::Exchange => "the exchange of the identity token",
            Self::Revocation => "the revocation of a token",
        })
    }
}

/// Feature or registration that an authorization server lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthServerError {
    /// The metadata does not name a required endpoint.
    #[error("its metadata has no {0:?}")]
    Endpoint(&'static str),
    /// The metadata does not list PKCE with `S256`.
    #[error(
        "its metadata does not list \"S256\" in \"code_challenge_methods_supported\"; without it a stolen code is as good as a token"
    )]
    Pkce,
    /// The client has no registration, and the server supports no method to create one.
    #[error(
        "it supports no method to register a client (no \"registration_endpoint\", no \"client_id_metadata_document_supported\"); give the client an id that its operator has registered"
    )]
    Registration,
    /// The client is registered with another authorization server.
    #[error(
        "the client is registered with {0} only; register it with this authorization server too"
    )]
    OtherIssuer(Box<str>),
    /// The server supports no client authentication method of this client.
    #[error("it does not support a client authentication method of this client")]
    Method,
    /// The metadata does not list the grant profile for identity assertion grants (ID-JAG).
    #[error(
        "its metadata does not list \"urn:ietf:params:oauth:grant-profile:id-jag\" in \"authorization_grant_profiles_supported\": it does not accept identity assertion grants (ID-JAG); ask its operator to enable them"
    )]
    Enterprise,
    /// The metadata does not list DPoP with `ES256`.
    #[error(
        "the resource server requires DPoP-bound access tokens, but its metadata does not list \"ES256\" in \"dpop_signing_alg_values_supported\""
    )]
    Dpop,
}

/// Error response of an endpoint: RFC 6749, 5.2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthErrorResponse {
    /// HTTP status of the response.
    pub status: u16,
    /// The code, such as `invalid_grant`.
    pub code: Option<Box<str>>,
    /// `error_description` without control characters, at most 300 characters.
    pub description: Option<Box<str>>,
}

impl OAuthErrorResponse {
    /// Returns true if a retry may succeed soon.
    ///
    /// Spec: RFC 6749, 4.1.2.1.
    fn is_temporary(&self) -> bool {
        let code = self.code.as_deref();
        is_temporary(self.status)
            || matches!(code, Some("temporarily_unavailable" | "server_error"))
    }
}

impl fmt::Display for OAuthErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.code {
            Some(code) => f.write_str(code)?,
            None => write!(f, "HTTP status {}", self.status)?,
        }
        match &self.description {
            Some(text) => write!(f, " ({text})"),
            None => Ok(()),
        }
    }
}

/// Reason why an authorization response is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationResponseError {
    /// The `state` does not belong to the pending sign-in.
    #[error("the authorization response does not belong to this sign-in (\"state\")")]
    State,
    /// The `iss` names another authorization server.
    #[error(
        "the authorization response is not from this issuer (\"iss\"); it may be a mix-up attack"
    )]
    Issuer,
    /// The `iss` is missing, although the metadata of the server promises it.
    #[error(
        "the authorization response does not name its issuer (\"iss\"), which the server's metadata promises"
    )]
    NoIssuer,
    /// The authorization server sent an error response.
    #[error("{0}")]
    Refused(OAuthErrorResponse),
    /// The response has neither a `code` nor an `error`.
    #[error("the authorization response has no \"code\"")]
    NoCode,
    /// The query has a repeated parameter or invalid characters.
    #[error("the authorization response has an invalid query")]
    Unreadable,
    /// The response arrived after the sign-in was cancelled or had timed out.
    #[error("the authorization response arrived after the sign-in had ended")]
    TooLate,
}

/// Reason why a sign-in with a code on another device failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceSignInError {
    /// The user denied the request, or the server did.
    #[error("the request was denied")]
    Denied,
    /// The code expired before a user entered it.
    #[error("the code expired before the sign-in was finished; start again")]
    Expired,
}

struct AttemptList<'a>(&'a [(String, DiscoveryError)]);

impl fmt::Display for AttemptList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (address, reason)) in self.0.iter().enumerate() {
            let gap = if place == 0 { " " } else { ", " };
            write!(f, "{gap}{address} ({reason})")?;
        }
        Ok(())
    }
}

fn after(document: MetadataDocument) -> &'static str {
    match document {
        MetadataDocument::Resource => {
            "the server has to publish it, or the address is not the server's"
        }
        MetadataDocument::Server => "the authorization server has to publish it",
    }
}

/// Removes control and direction characters from a text of a peer; keeps 300 characters.
pub(crate) fn plain(text: &str) -> Box<str> {
    text.chars()
        .filter(is_shown)
        .take(300)
        .collect::<String>()
        .into()
}

/// Returns true for a character that a terminal shows in its place.
pub(crate) fn is_shown(letter: &char) -> bool {
    !letter.is_control() && !is_direction(*letter)
}

/// Returns true for a character that changes the reading direction.
fn is_direction(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
