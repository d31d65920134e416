//! Blocks and methods that cannot be offered.

#![allow(unused)]

use pintle::prelude::*;

struct Desk;

#[tools]
impl Desk {
    #[tool]
    async fn exclusive(&mut self) {}

    #[tool]
    async fn taken(self) {}

    #[tool]
    async fn borrowed(&self, name: &str) {}

    #[tool]
    #[prompt]
    async fn twice(&self) {}

    #[tool = "close"]
    async fn equals(&self) {}

    #[tool(colour = "red")]
    async fn unknown(&self) {}

    #[tool]
    async fn generic<T>(&self, value: T) {}

    #[resource("desk://{id}")]
    async fn no_variable(&self) -> String {
        String::new()
    }
}

struct Quiet;

#[tools]
impl Quiet {
    fn nothing(&self) {}
}

struct Loud;

trait Speaks {
    async fn speak(&self);
}

#[tools]
impl Speaks for Loud {
    #[tool]
    async fn speak(&self) {}
}

#[tools]
struct Wrong;

struct Named;

#[tools(name = "x")]
impl Named {
    #[tool]
    async fn named(&self) {}
}

struct Split;

#[tools]
impl Split {
    #[tool]
    async fn first(&self) {}
}

#[tools]
impl Split {
    #[tool]
    async fn second(&self) {}
}

struct Alone;

impl Alone {
    #[tool]
    async fn alone(&self) {}
}

fn server() -> Server {
    Server::new("ui", "1").methods(Alone)
}

fn main() {}
