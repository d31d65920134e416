//! The life of the program: input, signals, exit codes, unusual ids.

use serde_json::{Value, json};

use crate::serve::child::{Program, envelope};

// spec: 2025-11-25 LIFE-19
// hardening: H-130
// spec: 2026-07-28 N-STDIO-09
#[tokio::test]
async fn the_end_of_the_input_ends_the_program() {
    let mut program = Program::connected().await;
    program.close_input();
    assert_eq!(program.ended().await.code(), Some(0));
}

// hardening: H-130
#[tokio::test]
async fn the_end_of_the_input_ends_the_program_while_tools_run() {
    let mut program = Program::connected().await;
    begin_long_trip(&mut program).await;
    program.close_input();
    assert_eq!(program.ended().await.code(), Some(0));
}

// hardening: H-131
// spec: 2026-07-28 N-STDIO-10
#[tokio::test]
async fn sigterm_ends_the_program() {
    let mut program = Program::connected().await;
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
}

// hardening: H-131
#[tokio::test]
async fn sigterm_ends_the_program_while_tools_run() {
    let mut program = Program::connected().await;
    begin_long_trip(&mut program).await;
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
}

// spec: 2025-11-25 LIFE-20
#[tokio::test]
async fn ctrl_c_ends_the_program() {
    let mut program = Program::connected().await;
    program.signal("INT").await;
    assert_eq!(program.ended().await.code(), Some(0));
}

// hardening: H-136
#[tokio::test]
async fn unusual_ids_are_returned_unchanged() {
    let mut program = Program::connected().await;
    let long = "x".repeat(1_000);
    let odd = [
        "",
        " ",
        "0",
        "-1",
        "null",
        "\u{2028}",
        "\"quoted\"",
        "line\nbreak",
        "zwölf",
        "\u{1F6A2}",
        &long,
    ];
    for id in odd.map(Value::from).into_iter().chain([
        json!(0),
        json!(-7),
        json!(9_007_199_254_740_991_i64),
    ]) {
        let legacy = program.ask(id.clone(), "ping", json!({})).await;
        assert_eq!(legacy["result"], json!({}), "{id}");
        let modern = program
            .ask(id.clone(), "tools/list", json!({ "_meta": envelope() }))
            .await;
        assert!(modern["result"]["tools"].is_array(), "{id}");
    }
}

// hardening: H-137
// spec: 2026-07-28 N-STDIO-04
#[tokio::test]
async fn standard_output_has_messages_and_standard_error_has_logs() {
    let mut program = Program::start("serve --stdio -vv");
    program.noted("mcpServers").await;
    for id in 0..5 {
        let params = json!({ "name": "weather_forecast", "arguments": {}, "_meta": envelope() });
        let answer = program.ask(json!(id), "tools/call", params).await;
        assert_eq!(answer["result"]["content"][0]["text"], "fog, clearing");
    }
    program.noted("a tool was called").await;
    program.close_input();
    assert_eq!(program.rest().await, [""; 0]);
    assert_eq!(program.ended().await.code(), Some(0));
}

#[tokio::test]
async fn exit_codes_match_the_documentation() {
    for (line, code) in [
        ("--help", 0),
        ("--version", 0),
        ("serve --stdio --http 127.0.0.1:0", 1),
        ("sail", 1),
        ("serve --http 0.0.0.0:0", 1),
        ("serve --http 192.0.2.1:1 --allow-insecure-bind", 4),
    ] {
        let mut program = Program::start(line);
        assert_eq!(program.ended().await.code(), Some(code), "{line}");
    }
}

#[tokio::test]
async fn a_rejected_address_names_the_flag_that_permits_it() {
    let mut program = Program::start("serve --http 0.0.0.0:0");
    let line = program.noted("0.0.0.0:0").await;
    assert!(line.contains("--allow-insecure-bind"), "{line}");
}

/// Calls a tool that runs longer than these tests, and waits for its first progress.
async fn begin_long_trip(program: &mut Program) {
    let arguments = json!({ "call_sign": "RECK", "cables": 100 });
    let params =
        json!({ "name": "board", "arguments": arguments, "_meta": { "progressToken": 1 } });
    program
        .send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }))
        .await;
    assert_eq!(program.receive().await["method"], "notifications/progress");
}
