//! Functions that cannot be the `main` of a server.

#![allow(unused)]

use pintle::prelude::*;

#[pintle::main]
struct Type;

#[pintle::main]
fn parameters(port: u16) -> Server {
    Server::new("a", "1")
}

#[pintle::main(flavor = "current_thread")]
fn options() -> Server {
    Server::new("a", "1")
}

fn main() {}
