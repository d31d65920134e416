//! Functions that cannot be handlers, and types that stand for no tool.

#![allow(unused)]

use pintle::server::{IntoTool, Tool};

struct Opaque;

async fn takes(opaque: Opaque) {}

async fn returns() -> Opaque {
    Opaque
}

fn stand_for<T: IntoTool>() {}

fn main() {
    let _ = Tool::new("takes").handler(takes);
    let _ = Tool::new("returns").handler(returns);
    stand_for::<Opaque>();
}
