//! Types that cannot be arguments of prompts, variables of templates, or what they return.

#![allow(unused)]

use pintle::{prompt, resource};

struct Opaque;

#[prompt]
async fn messages() -> Opaque {
    Opaque
}

#[resource("docs://{slug}")]
async fn variable(slug: Opaque) -> String {
    String::new()
}

#[resource("docs://all")]
async fn contents() -> Opaque {
    Opaque
}

fn main() {}
