//! Faults in the text of files.

use crate::planted::{Planted, one};

#[tokio::test]
async fn syntax_errors_name_their_line_in_each_format() {
    let found = Planted::new()
        .with(".cursor/mcp.json", "{\n \"mcpServers\": {\n  oops\n }}")
        .found()
        .await;
    found.at("syntax", ".cursor/mcp.json", 3);
    let found = Planted::new()
        .with(".codex/config.toml", "[mcp_servers.a]\ncommand = \n")
        .found()
        .await;
    found.at("syntax", ".codex/config.toml", 2);
    let yaml = "mcpServers:\n  - name: a\n    command: [x\n";
    let found = Planted::new()
        .with(".continue/config.yaml", yaml)
        .found()
        .await;
    assert!(found.rules().contains(&"syntax"), "{:#?}", found.findings);
}

#[tokio::test]
async fn comments_and_trailing_commas_are_found_where_a_host_rejects_them() {
    let text = "{\n \"mcpServers\": {\n  // mine\n  \"a\": {\"command\": \"true\", \"disabled\": true},\n }\n}";
    let found = Planted::new()
        .with(".config/Claude/claude_desktop_config.json", text)
        .found()
        .await;
    found.at("comment", ".config/Claude/claude_desktop_config.json", 3);
    found.at(
        "trailing-comma",
        ".config/Claude/claude_desktop_config.json",
        4,
    );
    let found = Planted::new().with(".cursor/mcp.json", text).found().await;
    assert_eq!(found.rules(), [""; 0]);
}

#[tokio::test]
async fn servers_under_a_wrong_key_are_found() {
    let text = "{\n \"servers\": {\n  \"a\": {\"command\": \"true\"}\n }\n}";
    let found = Planted::new().with(".cursor/mcp.json", text).found().await;
    let finding = found.at("wrong-key", ".cursor/mcp.json", 2);
    assert!(finding.remedy.contains("`mcpServers`"), "{finding:?}");
    let found = Planted::new()
        .with(".config/Code/User/mcp.json", &one("true", ""))
        .found()
        .await;
    found.at("wrong-key", ".config/Code/User/mcp.json", 2);
}

#[tokio::test]
async fn names_that_occur_twice_are_found_in_a_file_and_across_files() {
    let text = "{\"mcpServers\": {\n\"a\": {\"command\": \"x\", \"disabled\": true},\n\"a\": {\"command\": \"y\", \"disabled\": true}}}";
    let found = Planted::new().with(".cursor/mcp.json", text).found().await;
    found.at("duplicate-name", ".cursor/mcp.json", 3);
    let found = Planted::new()
        .with("work/.mcp.json", &one("x", ", \"disabled\": true"))
        .with(".claude.json", &one("y", ", \"disabled\": true"))
        .found()
        .await;
    let finding = found.at("duplicate-server", ".claude.json", 3);
    assert!(finding.message.contains("work/.mcp.json:3"), "{finding:?}");
}

#[tokio::test]
async fn a_url_beside_a_command_is_found() {
    let text = one("true", ",\n   \"url\": \"https://a.example/mcp\"");
    let found = Planted::new()
        .with(".cursor/mcp.json", &text)
        .without_permission()
        .found()
        .await;
    found.at("url-and-command", ".cursor/mcp.json", 4);
}

#[tokio::test]
async fn a_wrong_or_missing_type_is_found() {
    let text = one("true", ",\n   \"type\": \"http\"");
    let found = Planted::new()
        .with(".cursor/mcp.json", &text)
        .without_permission()
        .found()
        .await;
    let finding = found.at("wrong-type", ".cursor/mcp.json", 5);
    assert!(finding.remedy.contains("stdio"), "{finding:?}");
    let url = "{\"servers\": {\n\"a\": {\n\"url\": \"https://a.example/mcp\",\n\"type\": \"streamable-http\"}}}";
    let found = Planted::new()
        .with(".config/Code/User/mcp.json", url)
        .without_permission()
        .found()
        .await;
    let finding = found.at("wrong-type", ".config/Code/User/mcp.json", 4);
    assert!(finding.remedy.contains("`http`"), "{finding:?}");
    let url = "{\"mcpServers\": {\n\"a\": {\n\"url\": \"https://a.example/mcp\"}}}";
    let found = Planted::new()
        .with(".claude.json", url)
        .without_permission()
        .found()
        .await;
    found.at("missing-type", ".claude.json", 3);
}

#[tokio::test]
async fn a_url_that_needs_https_or_another_host_is_found() {
    let url = "{\"mcpServers\": {\n\"a\": {\n\"url\": \"http://a.example/mcp?key=s3cret\"}}}";
    let found = Planted::new()
        .with(".cursor/mcp.json", url)
        .without_permission()
        .found()
        .await;
    let finding = found.at("plain-http", ".cursor/mcp.json", 3);
    assert!(!finding.message.contains("s3cret"), "{finding:?}");
    let place = ".config/Claude/claude_desktop_config.json";
    let found = Planted::new()
        .with(place, url)
        .without_permission()
        .found()
        .await;
    found.at("no-urls", place, 3);
}

#[tokio::test]
async fn a_definition_of_a_wrong_form_is_found() {
    let text = one("true", ",\n   \"args\": \"-x\"");
    let found = Planted::new().with(".cursor/mcp.json", &text).found().await;
    found.at("definition", ".cursor/mcp.json", 5);
}

#[tokio::test]
async fn variables_without_a_value_or_with_a_wrong_syntax_are_found() {
    let text = one("true", ",\n   \"env\": {\"TOKEN\": \"${env:NO_SUCH}\"}");
    let found = Planted::new().with(".cursor/mcp.json", &text).found().await;
    let finding = found.at("missing-value", ".cursor/mcp.json", 5);
    assert!(finding.message.contains("NO_SUCH"), "{finding:?}");
    let place = ".config/Claude/claude_desktop_config.json";
    let found = Planted::new()
        .with(place, &text)
        .without_permission()
        .found()
        .await;
    let finding = found.at("unexpanded-variable", place, 5);
    assert!(finding.message.contains("${env:NO_SUCH}"), "{finding:?}");
}
