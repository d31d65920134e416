//! Functions that cannot be prompts.

#![allow(unused)]

use pintle::prompt;
use pintle::server::Args;

#[prompt(read_only)]
async fn unknown() -> String {
    String::new()
}

#[prompt(complete(style = styles))]
async fn nothing_to_complete(code: String) -> String {
    code
}

#[prompt]
async fn no_schema(#[arg(min = 1)] count: u8) -> String {
    count.to_string()
}

#[prompt]
async fn not_whole(all: Args<String>) -> String {
    all.0
}

fn main() {}
