//! Options that mean nothing, or not what they say.

#![allow(unused)]

use pintle::tool;

#[tool(readonly)]
async fn unknown() {}

#[tool(read_only, title = "A", read_only = false)]
async fn twice() {}

#[tool(read_only = "yes")]
async fn no_flag() {}

#[tool(name = 3)]
async fn no_name() {}

#[tool(timeout = "30")]
async fn no_unit() {}

#[tool(scopes = "files:write")]
async fn no_list() {}

#[tool(task = maybe)]
async fn no_support() {}

#[tool(blocking)]
async fn blocks_in_async() {}

#[tool(title "A")]
async fn no_grammar() {}

fn main() {}
