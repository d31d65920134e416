//! A diagnosis of the servers of hosts. The rules have their tests in the crate `pintle-doctor`.

use std::fs;

use serde_json::{Value, json};

use crate::talk::home::Home;
use crate::talk::typist::Typist;

/// Writes a file in a home directory.
fn write(home: &Home, file: &str, text: &str) {
    let file = home.path().join(file);
    fs::create_dir_all(file.parent().expect("a directory")).expect("made");
    fs::write(file, text).expect("written");
}

fn program(lines: &str) -> String {
    let members =
        json!({ "command": "sh", "args": ["-c", lines], "env": { "KEY": "s3cret-value" } });
    json!({ "mcpServers": { "docs": members } }).to_string()
}

#[tokio::test]
async fn a_diagnosis_names_the_line_and_has_an_exit_code() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_pintle");
    let showcase = json!({ "command": program, "args": ["serve", "--stdio"] });
    let text = format!(
        "{{\"mcpServers\": {{\"bench\": {showcase},\n\"gone\": {{\"command\": \"no-such-program\"}}}}}}"
    );
    write(&home, ".cursor/mcp.json", &text);
    write(&home, ".lmstudio/mcp.json", "{ nonsense");
    let ended = home.pintle("doctor").run().await;
    assert_eq!(ended.code, Some(8), "{ended:?}");
    for part in [
        ".lmstudio/mcp.json:1",
        "@cursor/bench  ok",
        "tools",
        "unknown-command",
        "mcp.json:2",
        "-> install it",
        "2 errors, 0 warnings in 2 servers",
    ] {
        assert!(ended.output.contains(part), "{part}: {ended:?}");
    }
    let healthy = home.pintle("doctor @bench --json").json().await;
    assert_eq!(healthy["servers"][0]["status"], "ok", "{healthy}");
    assert_eq!(
        healthy["servers"][0]["conversation"]["era"], "modern",
        "{healthy}"
    );
    assert_eq!(healthy["findings"], json!([]), "{healthy}");
    let ended = home.pintle("doctor @cursor/ --json").run().await;
    let data: Value = serde_json::from_str(&ended.output).expect("JSON");
    assert_eq!(
        (&data["findings"][0]["id"], &data["findings"][0]["line"]),
        (&json!("unknown-command"), &json!(2)),
        "{data}"
    );
    let text = home.pintle("doctor @bensh").fails(1).await;
    assert!(text.contains("did you mean `bench`?"), "{text}");
}

// spec: 2025-11-25 SEC-20
#[tokio::test]
async fn a_server_of_a_project_is_examined_only_after_consent() {
    let home = Home::new();
    let text = program("touch started; echo \"bad $KEY\" >&2; exit 3");
    write(&home, ".mcp.json", &text);
    write(&home, "other.json", &text);
    for line in ["doctor", "doctor @docs", "doctor --config other.json"] {
        let text = home.pintle(line).prints().await;
        assert!(
            text.contains("not-examined") && text.contains("--trust"),
            "{line}: {text}"
        );
        assert!(!home.path().join("started").exists(), "{line}");
    }
    let ended = home.pintle("doctor --trust").run().await;
    assert_eq!(ended.code, Some(8), "{ended:?}");
    assert!(home.path().join("started").exists());
    assert!(ended.output.contains("bad [value of KEY]"), "{ended:?}");
    assert!(!ended.output.contains("s3cret-value"), "{ended:?}");
}

#[tokio::test]
async fn consent_at_a_terminal_is_enough_for_a_diagnosis() {
    let home = Home::new();
    write(&home, ".mcp.json", &program("touch started; exit 3"));
    let path = home.path().to_str().expect("text");
    let mut typist = Typist::starts_at(home.path(), &["doctor", "@docs"], &[("HOME", path)]);
    typist.sees("[yes/no] > ").await;
    typist.types("yes\n").await;
    typist.sees("crash").await;
    assert_eq!(typist.leaves().await.code(), Some(8));
    assert!(home.path().join("started").exists());
}

#[tokio::test]
async fn a_file_that_cannot_be_parsed_is_a_finding() {
    let home = Home::new();
    write(&home, ".cursor/mcp.json", "{\n\"mcpServers\": {\n oops");
    let ended = home.pintle("doctor").run().await;
    assert_eq!(ended.code, Some(8), "{ended:?}");
    assert!(ended.output.contains("mcp.json:3"), "{ended:?}");
    let ended = home.pintle("doctor --config .cursor/mcp.json").run().await;
    assert_eq!(ended.code, Some(8), "{ended:?}");
    assert!(ended.output.contains("syntax"), "{ended:?}");
    assert_eq!(
        Home::new().pintle("doctor").prints().await,
        "0 errors, 0 warnings in 0 servers\n"
    );
}
