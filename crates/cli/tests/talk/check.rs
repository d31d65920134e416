//! Servers that are judged by the requirements of the protocol.

use serde_json::Value;

use crate::talk::home::Home;
use crate::talk::program::pintle;
use crate::talk::server::serve_http;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pintle");

fn failures(report: &Value) -> Vec<&Value> {
    let findings = report["findings"].as_array().expect("a list");
    findings
        .iter()
        .filter(|finding| finding["verdict"] == "failed")
        .collect()
}

#[tokio::test]
async fn the_showcase_passes_each_check_on_stdio() {
    let served = format!("{PROGRAM} serve --stdio");
    let ended = pintle("check --json --").words(&served).run().await;
    let report: Value = serde_json::from_str(&ended.output).expect("JSON");
    assert!(failures(&report).is_empty(), "{:#?}", failures(&report));
    assert_eq!(ended.code, Some(0), "{}", ended.notes);
    assert_eq!(report["revisions"].as_array().map(Vec::len), Some(5));
}

#[tokio::test]
async fn a_server_over_http_passes_each_check() {
    let server = serve_http().await;
    let ended = pintle("check --json").word(&server.url).run().await;
    let report: Value = serde_json::from_str(&ended.output).expect("JSON");
    assert!(failures(&report).is_empty(), "{:#?}", failures(&report));
    assert_eq!(report["revisions"].as_array().map(Vec::len), Some(5));
}

#[tokio::test]
async fn a_failed_check_has_an_exit_code_and_is_written_to_files() {
    let home = Home::new();
    // It answers each line with itself.
    let ended = pintle(
        "check --only method-unknown --junit j.xml --sarif s.json --revision 2025-11-25 -- sh -c",
    )
    .word(ECHO)
    .at(home.path())
    .run()
    .await;
    assert_eq!(ended.code, Some(8), "{} {}", ended.output, ended.notes);
    assert!(
        ended.output.starts_with("must method-unknown\n"),
        "{}",
        ended.output
    );
    assert!(
        ended.output.contains("  2025-11-25 MSG-17\n"),
        "{}",
        ended.output
    );
    let read = |name: &str| std::fs::read_to_string(home.path().join(name)).expect("written");
    assert!(
        read("j.xml").contains("<failure message="),
        "{}",
        read("j.xml")
    );
    let sarif: Value = serde_json::from_str(&read("s.json")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "method-unknown");
}

/// A server that answers each request with the result of `initialize`.
const ECHO: &str = r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"echo","version":"1"}}}\n' "$id"
done"#;

#[tokio::test]
async fn an_unknown_check_and_an_argument_without_a_tool_are_usage_errors() {
    let error = pintle("check --only nothing -- true").fails(1).await;
    assert!(error.contains("unknown check"), "{error}");
    let error = pintle("check --tool a=1 -- true").fails(1).await;
    assert!(error.contains("--tool requires the name"), "{error}");
}

#[tokio::test]
async fn a_program_that_exits_cannot_be_judged() {
    let error = pintle("check -- true").fails(4).await;
    assert!(error.contains("serves none of the revisions"), "{error}");
}
