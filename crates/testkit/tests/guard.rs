//! A server behind `RequireBearer`: over real HTTP, with tokens of an authorization server.

mod ask;
mod dpop;
mod ends;
mod hosts;
mod introspection;
mod isolation;
mod issuer;
mod keys;
mod older;
mod scopes;
mod secrets;
mod site;
mod streams;
mod tokens;
