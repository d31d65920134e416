//! Types that cannot be arguments, abilities or results.

#![allow(unused)]

use pintle::tool;

struct Opaque;

#[tool]
async fn argument(opaque: Opaque) {}

#[tool]
async fn ability(#[ability] opaque: Opaque) {}

#[tool]
async fn result() -> Opaque {
    Opaque
}

#[tool]
async fn failure() -> Result<String, Opaque> {
    Err(Opaque)
}

fn main() {}
