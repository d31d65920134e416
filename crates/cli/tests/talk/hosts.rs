//! Servers by name, out of the files of hosts.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::program::{Pintle, pintle};
use crate::server::serve;

/// A home with files, that is gone afterwards.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("pintle-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("made");
        Self(path.canonicalize().expect("there"))
    }

    fn with(self, file: &str, text: &str) -> Self {
        let file = self.0.join(file);
        fs::create_dir_all(file.parent().expect("in the home")).expect("made");
        fs::write(file, text).expect("written");
        self
    }

    fn pintle(&self, line: &str) -> Pintle {
        pintle(line).at(&self.0)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).expect("removed");
    }
}

#[tokio::test]
async fn a_server_is_called_by_its_name() {
    let server = serve().await;
    let home = Home::new("named").with(
        ".cursor/mcp.json",
        "{ // mine\n\"mcpServers\": {\"bench\": {\"url\": \"${env:BENCH}\"},} }",
    );
    let call = home
        .pintle("call @bench add a=1 b=2")
        .set("BENCH", &server.url);
    assert_eq!(call.prints().await, "3\n");
    let said = home.pintle("call @bench add a=1 b=2").fails(1).await;
    assert!(
        said.contains("mcp.json:2") && said.contains("BENCH, which is not set"),
        "{said}"
    );
    let said = home.pintle("ping @bensh").fails(1).await;
    assert!(said.contains("did you mean `bench`?"), "{said}");
}

#[tokio::test]
async fn a_program_of_a_project_is_named_before_it_is_started() {
    let serve = json!({ "mcpServers": { "show": {
        "command": env!("CARGO_BIN_EXE_pintle"), "args": ["serve", "--stdio"] } } });
    let home = Home::new("project").with(".mcp.json", &serve.to_string());
    let ended = home.pintle("list @show prompts").run().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.notes.contains(".mcp.json says"), "{ended:?}");
}

#[tokio::test]
async fn a_question_of_a_file_is_answered_on_the_command_line() {
    let server = serve().await;
    let home = Home::new("input").with(
        ".vscode/mcp.json",
        r#"{"inputs": [{"id": "where", "type": "promptString"}], "servers": {"bench": {"url": "${input:where}"}}}"#,
    );
    let ping = home
        .pintle("ping @bench --input")
        .word(format!("where={}", server.url));
    assert!(ping.prints().await.ends_with(" ms\n"));
    let said = home.pintle("ping @bench").fails(1).await;
    assert!(said.contains("--input where="), "{said}");
}

#[tokio::test]
async fn the_servers_of_hosts_are_listed() {
    let home = Home::new("listed")
        .with(".cursor/mcp.json", r#"{"mcpServers": {"bench": {"url": "https://a.example/mcp?key=s3cret", "headers": {"X": "s3cret"}}}}"#)
        .with(".codex/config.toml", "[mcp_servers.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"docs\"]\nenabled = false\n")
        .with(".lmstudio/mcp.json", "{ nonsense");
    let ended = home.pintle("list @").run().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in [
        "Cursor  ",
        "bench  https://a.example/mcp\n",
        "Codex  ",
        "docs  npx -y docs  (switched off)",
    ] {
        assert!(ended.output.contains(part), "{part}: {}", ended.output);
    }
    assert!(!ended.output.contains("s3cret"), "{}", ended.output);
    assert!(
        ended.notes.contains(".lmstudio/mcp.json:1"),
        "{}",
        ended.notes
    );
    let data = home.pintle("list @ --json").gives().await;
    let addresses: Vec<_> = data["servers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|server| &server["address"])
        .collect();
    assert_eq!(addresses, ["@cursor/bench", "@codex/docs"]);
}
