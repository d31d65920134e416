//! Arbitrary requests of an HTTP client.

mod ask;
mod rules;

pub use rules::{classify, headers};
