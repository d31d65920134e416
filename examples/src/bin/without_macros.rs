//! A server without attributes: everything that they generate can be written by hand.

use pintle::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of the tool. These docs become descriptions in the schema.
#[derive(Debug, Deserialize, JsonSchema)]
struct Add {
    /// The first addend.
    a: i64,
    /// The second addend.
    b: i64,
}

async fn add(numbers: Add) -> i64 {
    numbers.a + numbers.b
}

fn server() -> Server {
    let add = Tool::new("add")
        .description("Adds two numbers.")
        .read_only(true)
        .handler(add);
    let table = Resource::new("tables://{n}", "table")
        .description("A multiplication table.")
        .complete("n", ["1", "2", "3"])
        .reader(async |n: u32| {
            (1..=10)
                .map(|k| format!("{k} × {n} = {}\n", k * n))
                .collect::<String>()
        });
    let explain = Prompt::new("explain").handler(async || "Explain addition to a child.");
    Server::new("calculator", env!("CARGO_PKG_VERSION"))
        .add_tool(add)
        .add_resource(table)
        .add_prompt(explain)
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    server().run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use pintle_examples::client_of;
    use serde_json::json;

    #[tokio::test]
    async fn handlers_without_macros_are_served() -> pintle::Result<()> {
        let mut client = client_of(super::server())?;

        assert_eq!(client.call("add", json!({ "a": 1, "b": 2 })).await?, "3");
        let table = client
            .ask("resources/read", json!({ "uri": "tables://7" }))
            .await?;
        assert!(
            table["result"]["contents"][0]["text"]
                .as_str()
                .is_some_and(|text| text.contains("6 × 7 = 42"))
        );
        Ok(())
    }
}
