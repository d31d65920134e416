//! The protected server: verifies access tokens of requests.
//!
//! [`RequireBearer`] is a tower layer around a server over HTTP. It admits requests with a token for
//! this server, and inserts their [`Principal`](pintle_runtime::Principal). It answers all others
//! with a challenge that names the metadata of this server.
//!
//! A token is verified in one of four ways: as a signed JWT, with keys that are fetched from the issuer
//! ([`RequireBearer::jwks`]) or given ([`RequireBearer::fixed_keys`]); by introspection at the issuer
//! ([`RequireBearer::introspection`]); as an API key ([`RequireBearer::api_keys`]); or by an own
//! [`TokenVerifier`]. Each way requires that the token is for this server. An API key always is.
//!
//! This is not an authorization server: it issues no tokens.

mod algorithm;
mod api_keys;
mod authenticate;
mod bearer_error;
mod build;
mod claims;
mod credentials;
mod dpop;
mod fixed_keys;
mod introspect;
mod issuer;
mod jwk;
mod jws;
mod jwt;
mod keys;
mod layer;
mod metadata;
mod options;
mod uri;
mod verified_token;

pub use algorithm::Algorithm;
pub use api_keys::ApiKey;
pub use build::RequireBearerBuilder;
pub use dpop::{Confirmation, Dpop, DpopNonce};
pub use introspect::IntrospectionClient;
pub use layer::{Guarded, GuardedBody, RequireBearer};
pub use options::ResourceLimits;
pub use uri::RequireBearerError;
pub use verified_token::{TokenError, TokenVerifier, VerifiedToken};
