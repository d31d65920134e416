//! OAuth for both ends of a conversation over HTTP.
//!
//! - Both sides: [`Challenge`], one challenge of `WWW-Authenticate`; [`Scopes`], the scopes of a
//!   token; [`Secret`], a value that is never printed.
//! - Client (feature `client`): discovery, registration, sign-in, refresh and storage of tokens.
//! - Server (feature `resource`): verification of tokens, their principals and scopes.
//!
//! It does not apply to stdio: a server on stdio reads its credentials from the environment.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
pub mod flow;
pub mod metadata;

#[cfg(feature = "client")]
mod authorizer;
#[cfg(feature = "client")]
mod browser;
mod challenge;
#[cfg(feature = "client")]
mod client;
#[cfg(feature = "client")]
mod credentials;
#[cfg(feature = "client")]
mod error;
mod fetch_policy;
#[cfg(feature = "client")]
mod flow_context;
#[cfg(any(feature = "client", feature = "resource"))]
mod form;
#[cfg(feature = "client")]
mod key;
#[cfg(feature = "client")]
mod redirect;
#[cfg(feature = "resource")]
pub mod resource;
mod scope;
mod secret;

#[cfg(feature = "client")]
pub use authorizer::{OAuth, OAuthBuilder, OAuthOptions, Revocation, SignedOut};
#[cfg(feature = "client")]
pub use browser::open_browser;
pub use challenge::{Challenge, ChallengeError, challenges};
#[cfg(feature = "client")]
pub use client::{
    ApplicationType, ClientAuthentication, ClientConfig, ClientRegistration, EnterpriseManaged,
    GrantFlow,
};
#[cfg(feature = "client")]
pub use credentials::{CredentialStore, FileCredentialStore, KeyGuard, MemoryCredentialStore};
#[cfg(feature = "keyring")]
pub use credentials::{KeyringCredentialStore, KeyringError};
#[cfg(feature = "client")]
pub use error::{
    AuthError, AuthServerError, AuthorizationResponseError, DeviceSignInError, EndpointRequest,
    OAuthErrorResponse,
};
pub use fetch_policy::{FetchPolicy, FetchPolicyError};
#[cfg(feature = "client")]
pub use flow::{AuthorizationResponse, IssuedTokens, SignInRequest, UserCode};
#[cfg(feature = "client")]
pub use flow_context::FlowContext;
#[cfg(feature = "client")]
pub use key::{Algorithm, SigningKey, SigningKeyError};
pub use pintle_runtime::{UrlError, WebUrl};
pub use scope::{ScopeError, Scopes};
pub use secret::Secret;
