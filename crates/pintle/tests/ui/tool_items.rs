//! Things that cannot be tools.

#![allow(unused)]

use pintle::tool;

#[tool]
struct NoFunction;

#[tool]
async fn generic<T>(value: T) {}

#[tool]
async fn impersonal(value: impl ToString) {}

struct Calculator;

impl Calculator {
    #[tool]
    async fn add(&self, a: i64) -> i64 {
        a
    }
}

fn main() {}
