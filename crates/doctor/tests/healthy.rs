//! Servers without a fault.

use crate::planted::{Planted, TOOLS, one, server};

#[tokio::test]
async fn a_server_without_a_fault_has_no_finding() {
    let planted = Planted::new()
        .program("server", &server("2025-11-25", TOOLS, ""))
        .with(".cursor/mcp.json", &one("HOME/server", ""));
    let found = planted.found().await;
    assert_eq!(found.rules(), [""; 0], "{:#?}", found.findings);
    let pintle_doctor::State::Program(program) = &found.facts[0].state else {
        panic!("a program: {:?}", found.facts[0].state);
    };
    let run = program.run.as_ref().expect("started");
    let conversation = run.conversation.as_ref().expect("opened");
    assert_eq!(conversation.revision, "2025-11-25");
    assert_eq!(conversation.server.as_deref(), Some("planted 1"));
    assert!(
        matches!(conversation.lists[0].result, Ok(1)),
        "{conversation:?}"
    );
}

#[tokio::test]
async fn nothing_is_started_or_read_without_permission() {
    let planted = Planted::new()
        .program("server", "touch HOME/started")
        .with(
            ".cursor/mcp.json",
            &one("HOME/server", ", \"env\": {\"A\": \"${env:NO_SUCH}\"}"),
        )
        .without_permission();
    let found = planted.found().await;
    assert_eq!(found.rules(), ["not-examined"]);
    assert!(!planted.path("started").exists());
}

#[tokio::test]
async fn a_server_that_is_switched_off_is_not_started() {
    let planted = Planted::new().program("server", "touch HOME/started").with(
        ".cursor/mcp.json",
        &one("HOME/server", ", \"disabled\": true"),
    );
    assert_eq!(planted.found().await.rules(), [""; 0]);
    assert!(!planted.path("started").exists());
}
