//! Tools from a file: each entry has a name, a description, a JSON Schema and a text. `reload` reads the file again
//! while the server runs, and listening clients are notified.

use std::fs;
use std::path::PathBuf;

use pintle::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The file that the program reads without an argument.
const FILE: &str = "examples/tools.json";

/// An entry of the file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    name: String,
    description: String,
    input_schema: Map<String, Value>,
    /// The result, with `{argument}` for each argument.
    text: String,
}

/// The tag of the tools from the file.
const TAG: &str = "file";

/// The file of the tools.
struct Source {
    file: PathBuf,
}

impl Source {
    /// Reads all tools, or none if the file is invalid.
    fn read(&self) -> Result<Vec<Tool>> {
        let text = fs::read(&self.file)?;
        let entries: Vec<Entry> = serde_json::from_slice(&text)?;
        Ok(entries.into_iter().map(tool).collect())
    }
}

/// Returns the tool of an entry. The server checks the arguments of each call against the schema.
fn tool(entry: Entry) -> Tool {
    Tool::new(entry.name)
        .description(entry.description)
        .read_only(true)
        .input_schema(entry.input_schema.into_iter().collect())
        .handler(move |arguments: Args<Map<String, Value>>| {
            std::future::ready(filled_in(&entry.text, &arguments.0))
        })
}

/// Replaces `{argument}` by the value of the argument.
fn filled_in(text: &str, arguments: &Map<String, Value>) -> String {
    let mut text = text.to_owned();
    for (name, value) in arguments {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        text = text.replace(&format!("{{{name}}}"), &value);
    }
    text
}

/// Reads the file again, and replaces the tools. An invalid file changes nothing.
#[tool(idempotent, blocking)]
fn reload(source: State<Source>, server: State<ServerHandle>) -> Result<String> {
    let count = server.replace_tools(TAG, source.read()?)?;
    Ok(format!("{count} tools"))
}

fn server(file: PathBuf) -> Result<Server> {
    let source = Source { file };
    let tools = source.read()?.into_iter().map(|tool| tool.tag(TAG));
    Ok(Server::new("phrases", env!("CARGO_PKG_VERSION"))
        .add_tools(tools)
        .state(source)
        .tool::<reload>())
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let file = std::env::var_os("PHRASES").map_or_else(|| FILE.into(), PathBuf::from);
    server(file)?.run().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pintle_examples::{TemporaryFolder, client_of};
    use serde_json::json;

    #[tokio::test]
    async fn the_file_of_the_example_is_valid() -> pintle::Result<()> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tools.json");
        let mut client = client_of(super::server(file.into())?)?;
        let greeting = json!({ "ship": "Rudder", "berth": 4 });
        let text = client.call("welcome", greeting).await?;
        assert_eq!(text, "Welcome, Rudder. Your berth is 4.");
        let text = client
            .call("welcome", json!({ "ship": "Rudder", "berth": 0 }))
            .await?;
        assert!(text.contains("/berth"), "the schema is enforced: {text}");
        Ok(())
    }

    #[tokio::test]
    async fn a_changed_file_replaces_the_tools() -> pintle::Result<()> {
        let folder = TemporaryFolder::new()?;
        let file = folder.path().join("tools.json");
        let write = |name: &str| {
            let schema = json!({ "type": "object" });
            let entry = json!({ "name": name, "description": "A word.", "inputSchema": schema, "text": name });
            fs::write(&file, json!([entry]).to_string())
        };
        write("port")?;
        let mut client = client_of(super::server(file.clone())?)?;
        assert_eq!(client.call("port", json!({})).await?, "port");

        write("starboard")?;
        assert_eq!(client.call("reload", json!({})).await?, "1 tools");
        assert_eq!(client.call("starboard", json!({})).await?, "starboard");
        let gone = client.call("port", json!({})).await?;
        assert!(gone.contains("unknown tool"), "{gone}");

        fs::write(&file, "[{}]")?;
        let invalid = client.call("reload", json!({})).await?;
        assert!(invalid.contains("missing field"), "{invalid}");
        assert_eq!(client.call("starboard", json!({})).await?, "starboard");
        Ok(())
    }
}
