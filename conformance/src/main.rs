//! The server for the official conformance suite.
fn main() {}
