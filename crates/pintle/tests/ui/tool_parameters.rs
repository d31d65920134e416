//! Parameters that cannot be arguments.

#![allow(unused)]

use pintle::runtime::Context;
use pintle::server::{Args, State};
use pintle::tool;

#[tool]
async fn borrowed(name: &str) {}

#[tool]
async fn lent(ctx: &Context) {}

#[tool]
async fn taken_apart((a, b): (i64, i64)) {}

#[tool]
async fn taken_twice(Args(all): Args<Vec<u8>>, more: i64) {}

#[tool]
async fn same_name(a: i64, #[arg(rename = "a")] b: i64) {}

#[tool]
async fn never_none(#[arg(default = 3)] limit: Option<u8>) {}

#[tool]
async fn no_number(#[arg(min = 1)] name: String) {}

#[tool]
async fn no_text(#[arg(max_len = 1)] count: u8) {}

#[tool]
async fn no_bound(#[arg(min = "one")] count: u8) {}

#[tool]
async fn no_choice(#[arg(one_of("a", "b"))] count: u8) {}

#[tool]
async fn other_default(#[arg(one_of("a", "b"), default = "c")] letter: String) {}

#[tool]
async fn unknown(#[arg(minimum = 1)] count: u8) {}

#[tool]
async fn provided(#[arg(min = 1)] state: State<u8>) {}

/// Moves a ship.
///
/// # Arguments
///
/// - `ship`: The name.
#[tool]
async fn misnamed(name: String) {}

fn main() {}
