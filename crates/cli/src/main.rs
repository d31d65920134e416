//! The command-line tool of Pintle.
fn main() {}
