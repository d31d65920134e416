//! The smallest server: a tool is a function.
//!
//! `cargo run -p pintle-examples --bin calculator` serves on standard streams, with
//! `-- --http 127.0.0.1:8000` over HTTP.

use pintle::prelude::*;

/// Adds two numbers.
#[tool(read_only)]
async fn add(
    /// The first addend.
    a: i64,
    /// The second addend.
    b: i64,
) -> i64 {
    a + b
}

#[pintle::main]
fn main() -> Server {
    Server::new("calculator", env!("CARGO_PKG_VERSION")).tool::<add>()
}

#[cfg(test)]
mod tests {
    use super::*;

    // A tool is still an ordinary function.
    #[tokio::test]
    async fn adds() {
        assert_eq!(add(1, 2).await, 3);
    }
}
