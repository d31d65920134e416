//! A tour of a server: everything that it lists is used once.

use pintle::Result;
use pintle::client::Client;
use pintle::model::JsonObject;
use serde_json::{Value, json};

use crate::specimen;

/// Uses everything that the server offers. Of the tools it calls those in `calls`, or each once if
/// `calls` is empty.
pub(crate) async fn take(client: &Client, calls: &[JsonObject]) -> Result<()> {
    let server = client.server().ok_or("the server is gone")?;
    if server.capabilities.tools.is_some() {
        use_tools(client, calls).await?;
    }
    if server.capabilities.resources.is_some() {
        for resource in client.list_resources().await? {
            client.read_resource(&resource.uri).await?;
        }
    }
    if server.capabilities.prompts.is_some() {
        for prompt in client.list_prompts().await? {
            let arguments = prompt.arguments.unwrap_or_default();
            let arguments = arguments
                .into_iter()
                .map(|about| (about.name, json!("knot")));
            let arguments: JsonObject = arguments.collect();
            client.get_prompt(&prompt.name, arguments).await?;
        }
    }
    Ok(())
}

/// Passes the server's schema of one tool to another tool of the server.
pub(crate) async fn echo_schema(client: &Client) -> Result<()> {
    let tools = client.list_tools().await?;
    let mut tools = tools.into_iter();
    let tool = tools.find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = tool.ok_or("the tool is not listed")?.input_schema;
    let arguments = json!({ "schema": schema });
    client.call_tool("json_schema_echo", arguments).await?;
    Ok(())
}

async fn use_tools(client: &Client, calls: &[JsonObject]) -> Result<()> {
    let tools = client.list_tools().await?;
    for call in calls {
        let name = call.get("name").and_then(Value::as_str);
        let name = name.ok_or("a call names its tool")?;
        client.call_tool(name, call.get("arguments")).await?;
    }
    if calls.is_empty() {
        for tool in tools {
            let arguments = specimen::object(&Value::Object(tool.input_schema.into()));
            client.call_tool(&tool.name, arguments).await?;
        }
    }
    Ok(())
}
