//! Servers by name, from the files of hosts.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::talk::program::{Pintle, pintle};
use crate::talk::server::serve;
use crate::talk::typist::Typist;

/// A home directory with files. Dropping it deletes the directory.
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
    let text = home.pintle("call @bench add a=1 b=2").fails(1).await;
    assert!(
        text.contains("mcp.json:2") && text.contains("BENCH, which is not set"),
        "{text}"
    );
    let text = home.pintle("ping @bensh").fails(1).await;
    assert!(text.contains("did you mean `bench`?"), "{text}");
}

/// A project whose file starts a program that leaves a mark, with an environment and a file of
/// secrets.
fn project(name: &str) -> Home {
    let definition = json!({ "mcp": { "docs": {
        "type": "local",
        "command": ["sh", "-c", "touch started; exit 3", "--", "a  b", "{file:~/key}"],
        "environment": { "TOKEN": "{env:SECRET}" },
    } } });
    Home::new(name)
        .with("opencode.json", &definition.to_string())
        .with("key", "k3y")
}

// spec: 2025-11-25 SEC-20
#[tokio::test]
async fn a_projects_program_does_not_start_without_consent() {
    let home = project("unasked");
    let call = home.pintle("list @docs").set("SECRET", "s3cret");
    let ended = call.run().await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(!home.0.join("started").exists(), "{ended:?}");
    for part in [
        "sh -c \"touch started; exit 3\" -- \"a  b\" {file:~/key}",
        "TOKEN={env:SECRET}",
        "the environment variable SECRET",
        "/key",
        "--trust",
    ] {
        assert!(ended.notes.contains(part), "{part}: {}", ended.notes);
    }
    for secret in ["s3cret", "k3y"] {
        assert!(!ended.notes.contains(secret), "{}", ended.notes);
    }
    // With `--trust` the program starts, and no consent is stored.
    let trusted = home.pintle("list @docs --trust").set("SECRET", "s3cret");
    trusted.fails(4).await;
    assert!(home.0.join("started").exists());
    let again = home.pintle("list @docs").set("SECRET", "s3cret");
    again.fails(1).await;
}

#[tokio::test]
async fn a_projects_url_is_not_contacted_without_consent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("an address");
    let definition = json!({ "mcpServers": { "docs": {
        "url": format!("http://{address}/mcp"), "headers": { "X-Token": "${SECRET}" } } } });
    let home = Home::new("sent").with(".mcp.json", &definition.to_string());
    let list = home
        .pintle("list @docs --timeout 5s")
        .set("SECRET", "s3cret");
    tokio::select! {
        ended = list.run() => assert_eq!(ended.code, Some(1), "{ended:?}"),
        _ = listener.accept() => panic!("the server is contacted without consent"),
    }
}

// spec: 2025-11-25 SEC-20, SEC-21
// spec: 2026-07-28 N-SEC-07
#[tokio::test]
async fn consent_is_given_once_for_a_whole_definition() {
    let home = project("consent");
    let path = home.0.to_str().expect("text");
    let env = [("HOME", path), ("SECRET", "s3cret")];
    let words = ["list", "@docs"];
    let typist = || Typist::starts_at(&home.0, &words, &env);

    let mut refused = typist();
    refused.sees("Danger: this server is a program.").await;
    refused.sees("touch started; exit 3").await;
    refused.sees("[yes/no] > ").await;
    refused.types("no\n").await;
    assert_eq!(refused.leaves().await.code(), Some(1));
    let mut left = typist();
    left.sees("[yes/no] > ").await;
    left.types("\u{3}").await;
    assert_ne!(left.leaves().await.code(), Some(4));
    assert!(!home.0.join("started").exists());

    let mut agreed = typist();
    agreed.sees("[yes/no] > ").await;
    agreed.types("yes\n").await;
    assert_eq!(agreed.leaves().await.code(), Some(4));
    assert!(home.0.join("started").exists());
    // The consent is stored, so that a run without a terminal starts the server.
    let list = || home.pintle("list @docs").set("SECRET", "s3cret");
    list().fails(4).await;

    // Another argument is another definition.
    let file = home.0.join("opencode.json");
    let text = fs::read_to_string(&file).expect("read");
    fs::write(&file, text.replace("a  b", "a  c")).expect("written");
    list().fails(1).await;
}

#[tokio::test]
async fn a_definition_too_long_for_a_screen_is_rejected() {
    let padding = " ".repeat(17 * 1024);
    let definition = json!({ "mcpServers": { "docs": {
        "command": "sh", "args": ["-c", "touch started", padding] } } });
    let home = Home::new("long").with(".mcp.json", &definition.to_string());
    let text = home.pintle("list @docs").fails(1).await;
    assert!(text.contains("too long to be shown"), "{text}");
    assert!(text.len() < 1_000, "{text}");
    assert!(!home.0.join("started").exists());
}

#[tokio::test]
async fn the_users_own_file_needs_no_consent_and_is_reported() {
    let server = serve().await;
    let definition = json!({ "mcpServers": { "bench": {
        "url": server.url, "headers": { "X": "${env:KEY}" } } } });
    let home = Home::new("own").with(".cursor/mcp.json", &definition.to_string());
    let ended = home.pintle("ping @bench").set("KEY", "k3y").run().await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for part in ["bench of", "mcp.json", &server.url, "given KEY"] {
        assert!(ended.notes.contains(part), "{part}: {ended:?}");
    }
}

#[tokio::test]
async fn a_question_of_a_file_is_answered_on_the_command_line() {
    let server = serve().await;
    let home = Home::new("input").with(
        ".vscode/mcp.json",
        r#"{"inputs": [{"id": "where", "type": "promptString"}], "servers": {"bench": {"url": "${input:where}"}}}"#,
    );
    let ping = home
        .pintle("ping @bench --trust --input")
        .word(format!("where={}", server.url));
    assert!(ping.prints().await.ends_with(" ms\n"));
    let text = home.pintle("ping @bench --trust").fails(1).await;
    assert!(text.contains("--input where="), "{text}");
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
    let data = home.pintle("list @ --json").json().await;
    let addresses: Vec<_> = data["servers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|server| &server["address"])
        .collect();
    assert_eq!(addresses, ["@cursor/bench", "@codex/docs"]);
}

#[tokio::test]
async fn a_pipe_is_not_a_configuration_file() {
    let home = Home::new("pipe");
    let pipe = home.0.join("pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("runs").success());
    let list = home.pintle("list @x --config pipe.json");
    let text = list.fails(1).await;
    assert!(text.contains("not a regular file"), "{text}");
}
