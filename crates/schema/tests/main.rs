//! The validator against the official tests of JSON Schema.

mod suite;
