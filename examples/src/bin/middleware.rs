//! Layers: a typed one around every call of a tool, and one around every request of any kind.

use std::time::Duration;

use pintle::model::CallToolResult;
use pintle::prelude::*;
use pintle::runtime::layers::{LimitLayer, TimeoutLayer};
use pintle::server::{IntoToolResult as _, Next, ToolReply, ToolRequest};

/// Fires the cannon.
#[tool(destructive)]
async fn fire() -> &'static str {
    "boom"
}

/// Looks through the glass.
#[tool(read_only)]
async fn look() -> &'static str {
    "a sail on the horizon"
}

/// Keeps the powder dry: some calls never reach their tool.
async fn keep_peace(request: ToolRequest, next: Next<ToolRequest, ToolReply>) -> ToolReply {
    if &*request.name == "fire" {
        return CallToolResult::error("there is peace").into_tool_result();
    }
    next.run(request).await
}

fn server() -> Server {
    Server::new("ship", env!("CARGO_PKG_VERSION"))
        .tools::<(fire, look)>()
        .on_tool_call(keep_peace)
        .layer(TimeoutLayer::new(Duration::from_secs(30)))
        .layer(LimitLayer::new(64, 8))
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
    async fn one_is_let_through_and_one_is_not() -> pintle::Result<()> {
        let mut client = client_of(super::server())?;

        assert_eq!(
            client.call("look", json!({})).await?,
            "a sail on the horizon"
        );
        assert_eq!(client.call("fire", json!({})).await?, "there is peace");
        Ok(())
    }
}
