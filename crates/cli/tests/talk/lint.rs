//! Checks of the tools of a server, and their cost.

use serde_json::Value;

use crate::talk::home::Home;
use crate::talk::program::{Pintle, pintle};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pintle");

/// Writes a mock server with one tool, and returns the line with it as the program.
fn with_mock(home: &Home, line: &str, name: &str) -> Pintle {
    let path = home.path().join("mock.toml");
    let text = format!(
        "name = \"weather\"\n[[tool]]\nname = \"{name}\"\ntext = \"sunny\"\ndescription = \"Returns the weather.\"\n"
    );
    std::fs::write(&path, text).expect("written");
    let line = pintle(line).at(home.path()).words("--").word(PROGRAM);
    line.words("mock").word(path.to_str().expect("text"))
}

#[tokio::test]
async fn a_tool_that_a_host_rejects_is_an_error() {
    let home = Home::new();
    let ended = with_mock(&home, "lint", "get.forecast").run().await;
    assert_eq!(ended.code, Some(8), "{}", ended.notes);
    let limit = "Claude: a name has 1 to 64 of A–Z a–z 0–9 _ -; found `get.forecast` (12";
    let expected = format!("error claude-name: get.forecast /name\n  {limit}\n  characters)\n");
    assert!(ended.output.starts_with(&expected), "{}", ended.output);
    let fix = "  fix: rename the tool\n  source: https://github.com/evoila/meho/issues/2745\n";
    assert!(ended.output.contains(fix), "{}", ended.output);
    let end = "\n3 errors, 1 warning in 1 tool\n";
    assert!(ended.output.ends_with(end), "{}", ended.output);
    assert!(
        ended.notes.contains("the tools have 3 errors"),
        "{}",
        ended.notes
    );

    let json = with_mock(&home, "lint --json --host claude", "get.forecast")
        .run()
        .await;
    assert_eq!(json.code, Some(8), "{}", json.notes);
    let json: Value = serde_json::from_str(&json.output).expect("JSON");
    let findings = json["findings"].as_array().expect("a list");
    assert_eq!(findings.len(), 1, "{json}");
    assert_eq!(findings[0]["id"], "claude-name");
    assert_eq!(
        (&findings[0]["tool"], &findings[0]["pointer"]),
        (&"get.forecast".into(), &"/name".into())
    );

    let fine = with_mock(&home, "lint --host gemini", "get.forecast")
        .prints()
        .await;
    assert_eq!(fine, "0 errors, 0 warnings in 1 tool\n");
}

#[tokio::test]
async fn a_lock_file_is_checked_and_counted_without_its_server() {
    let home = Home::new();
    with_mock(&home, "lock", "forecast").prints().await;
    let at = |line: &str| pintle(line).at(home.path());
    let fine = at("lint pintle.lock.json --host claude").prints().await;
    assert_eq!(fine, "0 errors, 0 warnings in 1 tool\n");
    let tokens = at("tokens pintle.lock.json --json").json().await;
    let definition = &tokens["definitions"][0];
    assert_eq!(definition["tool"], "forecast");
    assert!(
        definition["tokens"].as_u64().expect("a number") > 10,
        "{tokens}"
    );
    assert_eq!(tokens["tokens"], definition["tokens"]);
    let text = at("tokens pintle.lock.json").prints().await;
    assert!(
        text.ends_with("  in all; tokens are an estimate\n"),
        "{text}"
    );
    let error = at("lint").fails(1).await;
    assert!(error.contains("which server?"), "{error}");
}
