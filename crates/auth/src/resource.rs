//! The server's side: whose token it is, and what it is good for.
//!
//! [`RequireBearer`] is a tower layer around a server over HTTP. It lets in what has a token for this
//! server, tells everybody else where to get one, and attaches a
//! [`Principal`](pintle_runtime::Principal) to what it lets in.
//!
//! Tokens are verified in one of three ways: as signed JSON, with the keys of the issuer
//! ([`RequireBearer::jwks`]); by asking the issuer ([`RequireBearer::introspection`]); or by whatever
//! implements [`TokenVerifier`]. In each of them a token has to be for this server.
//!
//! This is not an authorization server: it issues nothing.

mod algorithm;
mod authenticate;
mod bearer_error;
mod build;
mod claims;
mod credentials;
mod dpop;
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
pub use build::RequireBearerBuilder;
pub use dpop::{Confirmation, Dpop, DpopNonce};
pub use introspect::IntrospectionClient;
pub use layer::{Guarded, GuardedBody, RequireBearer};
pub use options::ResourceLimits;
pub use uri::RequireBearerError;
pub use verified_token::{TokenError, TokenVerifier, VerifiedToken};
