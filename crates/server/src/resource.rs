//! Resources: what can be read by URI.

pub mod template;
