//! OAuth for both ends of a conversation over HTTP.
//!
//! - What both ends share: [`Challenge`], the header that asks for a token; [`Scopes`], what a token
//!   is good for; [`Secret`], what is never shown.
//! - The client's side (feature `client`): where a server's tokens come from, and how to get one.
//! - The server's side (feature `resource`): whose token it is, and what it is good for.
//!
//! stdio has no part in this: a server that runs as the user takes its credentials from the
//! environment.

mod challenge;
mod scope;
mod secret;

pub use challenge::{Challenge, InvalidChallenge, challenges};
pub use scope::{InvalidScope, Scopes};
pub use secret::Secret;
