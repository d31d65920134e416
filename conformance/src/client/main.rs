//! The client for the official conformance suite. The suite starts it with the URL of a server, and
//! names the scenario in the environment. `PINTLE_BRIDGE` names a `pintle` that serves the server to this client.
//!
//! It is built on the public interface alone, as any other client: the library does the tested work.

mod auth;
mod skills;
mod specimen;
mod tour;

use std::time::Duration;

use pintle::Result;
use pintle::client::{Client, Command, EraMode};
use pintle::http::client::HttpConnect;
use pintle::model::JsonObject;
use pintle::runtime::{Answer, BoxConnect};
use serde_json::Value;

/// The suite waits 30 s for a client.
const CEILING: Duration = Duration::from_secs(25);

#[tokio::main]
async fn main() -> Result<()> {
    let url = std::env::args()
        .nth(1)
        .ok_or("usage: conformance-client URL")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    tokio::time::timeout(CEILING, play(&scenario, &url)).await?
}

async fn play(scenario: &str, url: &str) -> Result<()> {
    let client = Client::builder()
        .mode(EraMode::Pinned(revision()?))
        .on_elicit(|form| async move {
            // Every form is accepted; members with a default are left out.
            let schema = serde_json::to_value(&form.schema).unwrap_or_default();
            Answer::Accepted(specimen::object(&schema))
        })
        .connect(connect(scenario, url)?)
        .await?;
    let played = match scenario {
        "sep-2640-client-no-prefetch" => skills::list(&client).await.map(drop),
        name if name.starts_with("sep-2640-client-verify-") => skills::load_all(&client).await,
        "json-schema-2020-12-preservation" => tour::echo_schema(&client).await,
        // This server lists its tools, and has no method to call them.
        "json-schema-ref-no-deref" => Ok(client.list_tools().await.map(drop)?),
        _ => tour::take(&client, &calls()?).await,
    };
    client.close().await;
    played
}

fn connect(scenario: &str, url: &str) -> Result<BoxConnect> {
    if let Some(bridge) = std::env::var_os("PINTLE_BRIDGE") {
        return Ok(BoxConnect::new(
            Command::new(bridge).args(["serve", "--stdio", url]),
        ));
    }
    Ok(BoxConnect::new(match scenario.starts_with("auth/") {
        true => auth::connect(scenario, url, &context()?)?,
        false => HttpConnect::to(url)?,
    }))
}

/// The context of the scenario, beside its name.
fn context() -> Result<Value> {
    match std::env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => Ok(serde_json::from_str(&context)?),
        Err(_) => Ok(Value::Null),
    }
}

/// The revision of the run.
fn revision() -> Result<pintle::model::Revision> {
    Ok(std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?.parse()?)
}

/// The calls that the scenario names, if any.
fn calls() -> Result<Vec<JsonObject>> {
    let mut context = context()?;
    match context.get_mut("toolCalls") {
        Some(calls) => Ok(serde_json::from_value(calls.take())?),
        None => Ok(Vec::new()),
    }
}
