//! Faults of programs.

use std::time::Duration;

use crate::planted::{Planted, TOOLS, one, server};

const FILE: &str = ".cursor/mcp.json";

/// Plants a program as the server of Cursor.
fn planted(program: &str) -> Planted {
    Planted::new()
        .program("server", program)
        .with(FILE, &one("HOME/server", ""))
}

#[tokio::test]
async fn an_unknown_command_is_found() {
    let found = Planted::new()
        .with(FILE, &one("no-such-program-here", ""))
        .found()
        .await;
    found.at("unknown-command", FILE, 4);
}

#[tokio::test]
async fn a_command_outside_of_the_path_is_found_with_its_place() {
    let rest = ",\n   \"env\": {\"PATH\": \"/usr/bin:/bin\"}";
    let planted = Planted::new()
        .program(".local/bin/planted-tool", &server("2025-11-25", TOOLS, ""))
        .with(FILE, &one("planted-tool", rest));
    let found = planted.found().await;
    let finding = found.at("off-path", FILE, 4);
    let place = planted
        .path(".local/bin/planted-tool")
        .display()
        .to_string();
    assert!(finding.remedy.contains(&place), "{finding:?}");
    // The rest of the examination uses the program.
    assert_eq!(found.rules(), ["off-path"]);
}

#[tokio::test]
async fn a_command_outside_of_the_path_of_a_desktop_is_a_warning() {
    let place = ".config/Claude/claude_desktop_config.json";
    let planted = Planted::new()
        .program(".local/bin/planted-tool", &server("2025-11-25", TOOLS, ""))
        .with(place, &one("planted-tool", ""));
    let found = planted.found().await;
    match cfg!(target_os = "macos") {
        true => found.at("off-path", place, 4),
        false => found.at("assumed-path", place, 4),
    };
}

#[tokio::test]
async fn a_file_that_must_not_be_executed_is_found() {
    let planted = Planted::new()
        .with("server", "#!/bin/sh\n")
        .with(FILE, &one("HOME/server", ""));
    let finding = planted.found().await;
    let finding = finding.at("not-executable", FILE, 4);
    assert!(finding.remedy.contains("chmod +x"), "{finding:?}");
}

#[tokio::test]
async fn a_relative_path_in_another_directory_is_found() {
    let planted = Planted::new()
        .program("server.sh", &server("2025-11-25", TOOLS, ""))
        .with(FILE, &one("./server.sh", ""));
    let found = planted.found().await;
    let finding = found.at("wrong-directory", FILE, 4);
    assert!(
        finding
            .remedy
            .contains(&planted.path("server.sh").display().to_string()),
        "{finding:?}"
    );
    let planted = Planted::new()
        .program("server.sh", &server("2025-11-25", TOOLS, ""))
        .with(FILE, &one("sh", ",\n   \"args\": [\"server.sh\"]"));
    let found = planted.found().await;
    found.at("wrong-directory", FILE, 5);
    found.at("crash", FILE, 4);
}

#[tokio::test]
async fn a_missing_working_directory_is_found() {
    let text = one("HOME/server", ",\n   \"cwd\": \"HOME/nowhere\"");
    let planted = Planted::new().program("server", "exit 0").with(FILE, &text);
    planted.found().await.at("no-directory", FILE, 5);
}

#[tokio::test]
async fn a_crash_is_found_with_its_standard_error_and_without_secrets() {
    let program = "echo \"the key $KEY is not valid\" >&2; exit 3";
    let text = one("HOME/server", ",\n   \"env\": {\"KEY\": \"s3cret-value\"}");
    let planted = Planted::new().program("server", program).with(FILE, &text);
    let found = planted.found().await;
    let finding = found.at("crash", FILE, 4);
    assert!(finding.message.contains("exit status: 3"), "{finding:?}");
    assert!(
        finding
            .message
            .contains("the key [value of KEY] is not valid"),
        "{finding:?}"
    );
    let text = format!("{:?}", found.findings);
    assert!(!text.contains("s3cret-value"), "{text}");
}

#[tokio::test]
async fn a_server_that_never_answers_is_found() {
    let planted = planted("echo waiting >&2; exec sleep 1000").within(Duration::from_millis(500));
    let found = planted.found().await;
    let finding = found.at("hang", FILE, 4);
    assert!(finding.message.contains("waiting"), "{finding:?}");
}

#[tokio::test]
async fn output_that_is_not_a_message_is_found() {
    let program = format!(
        "echo 'Server is ready'\n{}",
        server("2025-11-25", TOOLS, "")
    );
    let found = planted(&program).found().await;
    let finding = found.at("stdout-noise", FILE, 4);
    assert!(finding.message.contains("Server is ready"), "{finding:?}");
    assert_eq!(found.rules(), ["stdout-noise"]);
}

#[tokio::test]
async fn a_flood_of_output_is_bounded() {
    let program = "yes noise | head -c 3000000; yes error | head -c 300000 >&2; exit 1";
    let found = planted(program).found().await;
    found.at("stdout-noise", FILE, 4);
    let size: usize = found
        .findings
        .iter()
        .map(|finding| finding.message.len())
        .sum();
    assert!(size < 2_000, "{size}");
}

#[tokio::test]
async fn a_list_that_fails_is_found() {
    let error = r#""error":{"code":-32603,"message":"the disk is full"}"#;
    let found = planted(&server("2025-11-25", error, "")).found().await;
    let finding = found.at("list", FILE, 4);
    assert!(finding.message.contains("the disk is full"), "{finding:?}");
}

#[tokio::test]
async fn tools_that_clients_or_hosts_reject_are_found() {
    let tools = r#""result":{"tools":[{"inputSchema":{"type":"object"}}]}"#;
    let found = planted(&server("2025-11-25", tools, "")).found().await;
    found.at("invalid-item", FILE, 4);
    let tools = r#""result":{"tools":[{"name":"read.file","description":"Reads.","inputSchema":{"type":"object"}}]}"#;
    let planted = Planted::new()
        .program("server", &server("2025-11-25", tools, ""))
        .with(".claude.json", &one("HOME/server", ""));
    let found = planted.found().await;
    let finding = found.at("rejected-tool", ".claude.json", 4);
    assert!(finding.message.contains("read.file"), "{finding:?}");
}

#[tokio::test]
async fn an_old_revision_is_found() {
    let found = planted(&server("2024-11-05", TOOLS, "")).found().await;
    let finding = found.at("old-revision", FILE, 4);
    assert!(finding.message.contains("2024-11-05"), "{finding:?}");
}

#[tokio::test]
async fn a_server_that_stays_after_its_input_is_found() {
    let found = planted(&server("2025-11-25", TOOLS, "exec sleep 1000"))
        .found()
        .await;
    found.at("stays", FILE, 4);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_process_that_a_server_leaves_is_found() {
    let program = format!(
        "sleep 1000 </dev/null >/dev/null 2>&1 &\n{}",
        server("2025-11-25", TOOLS, "")
    );
    let found = planted(&program).found().await;
    let finding = found.at("left-process", FILE, 4);
    assert!(finding.message.contains("sleep"), "{finding:?}");
}
