//! Requests of an HTTP client, whatever they say.

mod ask;
mod rules;

pub use rules::{classify, headers};
