//! Why there is no token: which step, which document, what is wrong, what can be done.

use std::fmt;
use std::time::Duration;

use pintle_runtime::FetchError;

use crate::key::SigningKeyError;
use crate::metadata::{DiscoveryError, MetadataDocument, MetadataError, is_temporary};

/// Why there is no token. Its texts hold no token, code, verifier or secret, and no query of an
/// address.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A document is nowhere.
    #[error("{document} of {of} is nowhere:{}; {}", Tried(tried), after(*document))]
    DocumentNotFound {
        /// Which one.
        document: MetadataDocument,
        /// Of whom.
        of: Box<str>,
        /// Where it was looked for, and what was there.
        tried: Vec<(String, DiscoveryError)>,
    },
    /// A document could not be read now. Its server may have it, and may serve it later.
    #[error("{document} at {place} is not available: {reason}; try again later")]
    Unavailable {
        /// Which one.
        document: MetadataDocument,
        /// Where it is looked for.
        place: Box<str>,
        /// What was there.
        reason: DiscoveryError,
    },
    /// A document must not be used.
    #[error("{document} at {place} must not be used: {fault}; its operator has to correct it")]
    Document {
        /// Which one.
        document: MetadataDocument,
        /// Where it is.
        place: Box<str>,
        /// What is wrong with it.
        fault: MetadataError,
    },
    /// An authorization server lacks what we need, or does not know this client.
    #[error("the authorization server {issuer} cannot be used: {reason}")]
    Server {
        /// Its issuer.
        issuer: Box<str>,
        /// What it lacks.
        reason: AuthServerError,
    },
    /// An endpoint gave no answer.
    #[error("{what} at {place} was not answered")]
    RequestFailed {
        /// What was asked for.
        what: EndpointRequest,
        /// Where.
        place: Box<str>,
        /// Why not.
        #[source]
        fault: FetchError,
    },
    /// An endpoint said no.
    #[error("{what} at {place} was refused: {refusal}")]
    Refused {
        /// What was asked for.
        what: EndpointRequest,
        /// Where.
        place: Box<str>,
        /// What it said.
        refusal: OAuthErrorResponse,
    },
    /// An endpoint answered with something else than it should.
    #[error("the answer to {what} at {place} cannot be used: {fault}")]
    InvalidResponse {
        /// What was asked for.
        what: EndpointRequest,
        /// Where.
        place: Box<str>,
        /// What is wrong with it.
        fault: Box<str>,
    },
    /// A user came back with something that is not believed, or with a refusal.
    #[error("the sign-in at {issuer} did not succeed: {fault}")]
    Redirect {
        /// Whose it was.
        issuer: Box<str>,
        /// What was wrong.
        fault: AuthorizationResponseError,
    },
    /// Nobody came back.
    #[error("nobody signed in within {0:?}")]
    SignInTimedOut(Duration),
    /// There is nobody to sign in.
    #[error(
        "somebody has to sign in, and nobody can be asked here; sign in first where there is a terminal"
    )]
    SignInUnavailable,
    /// The server refuses a token that it was just given.
    #[error(
        "the server refuses a token that was just issued for it (HTTP status {0}); its operator has to compare the audience and the issuer that it takes with what it publishes"
    )]
    NewTokenRejected(u16),
    /// An operation needs more, again and again.
    #[error(
        "the server wants more scopes for {operation} after {after} sign-ins for it; the last ones were {scopes:?}"
    )]
    StepUps {
        /// What was done.
        operation: Box<str>,
        /// How often somebody signed in for it.
        after: u32,
        /// What was asked for last.
        scopes: Box<str>,
    },
    /// An operation needs more than this client asks for.
    #[error(
        "the server wants the scopes {scopes:?} for {operation}, and this client was told to ask for {own:?} and no more"
    )]
    Scopes {
        /// What was done.
        operation: Box<str>,
        /// What it needs.
        scopes: Box<str>,
        /// What is asked for.
        own: Box<str>,
    },
    /// A key cannot be used.
    #[error("nothing can be signed")]
    Key(#[from] SigningKeyError),
    /// The system has no randomness.
    #[error("the system has no randomness to give")]
    NoRandomness,
    /// The assertion of the platform or the identity provider could not be had.
    #[error("there is no {0} to present")]
    NoAssertion(&'static str),
    /// What is kept could not be read or written.
    #[error("the credentials cannot be kept: {0}")]
    StorageFailed(Box<str>),
    /// A token was issued and is used, and could not be saved.
    #[error(
        "the token is not saved: {0}; it is used until this process ends, and the next one has to sign in"
    )]
    NotSaved(Box<str>),
    /// No browser could come back to this machine.
    #[error("there is no port for a browser to come back to: {0}")]
    NoRedirectPort(Box<str>),
    /// The address of the server is none that can be authorized.
    #[error("{0} cannot be authorized: {1}")]
    Address(Box<str>, Box<str>),
    /// A machine was given something that it did not wait for.
    #[error("an answer came that nobody waits for")]
    Unexpected,
}

impl AuthError {
    /// Whether the same operation may succeed later without any change: a server or the network
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

    /// Whether a server says that it does not know the client, or not any more.
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

/// What was asked of an endpoint. Closed: nothing else is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointRequest {
    /// To be registered.
    Registration,
    /// For a token.
    Token,
    /// For another token in the place of an old one.
    Refresh,
    /// For an enterprise's word.
    Exchange,
    /// To take a token back.
    Revocation,
}

impl fmt::Display for EndpointRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Registration => "the registration of the client",
            Self::Token => "the request for a token",
            Self::Refresh => "the request for a fresh token",
            Self::Exchange => "the exchange of the identity token",
            Self::Revocation => "the revocation of a token",
        })
    }
}

/// What an authorization server lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthServerError {
    /// An endpoint.
    #[error("its metadata has no {0:?}")]
    Endpoint(&'static str),
    /// The only way to show who asked for a code.
    #[error(
        "its metadata does not list \"S256\" in \"code_challenge_methods_supported\"; without it a stolen code is as good as a token"
    )]
    Pkce,
    /// Any way to know this client.
    #[error(
        "it knows no way to register a client (no \"registration_endpoint\", no \"client_id_metadata_document_supported\"); give the client an id that its operator has registered"
    )]
    Registration,
    /// A pre-registered client of another server.
    #[error("the client is registered with {0} and not with it; register it there too")]
    OtherIssuer(Box<str>),
    /// A way to say who the client is.
    #[error("it takes none of the ways in which this client can say who it is")]
    Method,
    /// An ear for the word of an enterprise.
    #[error(
        "its metadata does not list \"urn:ietf:params:oauth:grant-profile:id-jag\" in \"authorization_grant_profiles_supported\": it takes no word of an enterprise; have its operator allow that"
    )]
    Enterprise,
    /// Proofs of a key.
    #[error(
        "the server wants tokens that are bound to a key, and its metadata does not list \"ES256\" in \"dpop_signing_alg_values_supported\""
    )]
    Dpop,
}

/// What an endpoint said: RFC 6749, 5.2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthErrorResponse {
    /// The status.
    pub status: u16,
    /// The code, such as `invalid_grant`.
    pub code: Option<Box<str>>,
    /// What it says to people, without control characters, and at most 300 of them.
    pub description: Option<Box<str>>,
}

impl OAuthErrorResponse {
    /// Whether the endpoint may answer otherwise soon.
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

/// What is wrong with the way in which a user came back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizationResponseError {
    /// Not the visit that we began.
    #[error("the answer belongs to no sign-in that was begun here (\"state\")")]
    State,
    /// From another server.
    #[error("the answer is not from this issuer (\"iss\"): somebody may have mixed two servers up")]
    Issuer,
    /// The issuer is missing, where it was promised.
    #[error("the answer does not name its issuer (\"iss\"), which the server's metadata promises")]
    NoIssuer,
    /// A refusal.
    #[error("{0}")]
    Refused(OAuthErrorResponse),
    /// Neither a code nor a refusal.
    #[error("the answer has no \"code\"")]
    NoCode,
    /// A parameter that comes twice, or broken characters.
    #[error("the answer cannot be read")]
    Unreadable,
    /// Too late.
    #[error("the answer came after the sign-in was given up")]
    TooLate,
}

struct Tried<'a>(&'a [(String, DiscoveryError)]);

impl fmt::Display for Tried<'_> {
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

/// What a peer says to people: without control characters, and short.
pub(crate) fn plain(text: &str) -> Box<str> {
    let is_shown = |letter: &char| !letter.is_control() && !is_direction(*letter);
    text.chars()
        .filter(is_shown)
        .take(300)
        .collect::<String>()
        .into()
}

/// Characters that change in which direction others are read.
fn is_direction(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
