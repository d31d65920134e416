//! A future that cannot move between threads.

#![allow(unused)]

use std::rc::Rc;

use pintle::tool;

async fn pause() {}

#[tool]
async fn stuck(name: String) -> String {
    let name = Rc::new(name);
    pause().await;
    name.to_string()
}

fn main() {}
