//! Servers that are written into the files of hosts.

use std::fs;

use crate::talk::home::Home;
use crate::talk::program::Pintle;

const CURSOR: &str = "{ // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }\n  },\n}\n";

fn write(home: &Home, file: &str, text: &str) {
    let path = home.path().join(file);
    fs::create_dir_all(path.parent().expect("in the home")).expect("made");
    fs::write(path, text).expect("written");
}

fn text(home: &Home, file: &str) -> String {
    fs::read_to_string(home.path().join(file)).expect("there")
}

/// Returns the command line that installs the showcase as a program.
fn install(home: &Home, words: &str) -> Pintle {
    let install = home.pintle("install --name bench --yes").words(words);
    let program = env!("CARGO_BIN_EXE_pintle");
    install.words("--").word(program).words("serve --stdio")
}

#[tokio::test]
async fn an_installed_server_is_reached_by_its_name_and_removed() {
    let home = Home::new();
    write(&home, ".cursor/mcp.json", CURSOR);
    let line = install(&home, "--host cursor").prints().await;
    assert!(
        line.starts_with("`bench` is in the file of Cursor, "),
        "{line}"
    );
    assert!(line.contains("mcp.json.pintle-1.bak"), "{line}");
    assert!(text(&home, ".cursor/mcp.json").contains("// mine"));
    let ping = home.pintle("ping @bench").prints().await;
    assert!(ping.ends_with(" ms\n"), "{ping}");

    let error = install(&home, "--host cursor").fails(1).await;
    assert!(error.contains("--replace"), "{error}");
    let other = home.pintle("install --host cursor --name bench --yes --replace -- npx -y other");
    other.prints().await;
    assert!(text(&home, ".cursor/mcp.json").contains("\"args\": [\"-y\", \"other\"]"));

    let uninstall = || home.pintle("uninstall bench --host cursor --yes");
    uninstall().prints().await;
    assert_eq!(text(&home, ".cursor/mcp.json"), CURSOR);
    let error = uninstall().fails(1).await;
    assert!(error.contains("has no server named `bench`"), "{error}");
}

#[tokio::test]
async fn every_host_gets_a_server_that_the_program_reads() {
    let home = Home::new();
    for host in [
        "claude-code",
        "claude",
        "vscode",
        "visual-studio",
        "copilot",
        "cursor",
        "windsurf",
        "zed",
        "gemini",
        "antigravity",
        "codex",
        "lmstudio",
        "cline",
        "roo",
        "kilo",
        "kiro",
        "amazonq",
        "qwen",
        "opencode",
        "continue",
        "goose",
    ] {
        install(&home, &format!("--host {host}")).prints().await;
        let data = home.pintle("list @ --json").json().await;
        assert_eq!(data["servers"][0]["address"], format!("@{host}/bench"));
        let ping = home.pintle(&format!("ping @{host}/bench --trust"));
        assert!(ping.prints().await.ends_with(" ms\n"), "{host}");
        let uninstall = home.pintle(&format!("uninstall bench --yes --host {host}"));
        uninstall.prints().await;
    }
    assert_eq!(home.files(), Vec::<std::path::PathBuf>::new());
}

#[tokio::test]
async fn a_dry_run_prints_a_diff_and_writes_nothing() {
    let home = Home::new();
    write(&home, ".cursor/mcp.json", CURSOR);
    let diff = home
        .pintle("install --host cursor --name notes --env A=1 --dry-run -- npx -y notes")
        .prints()
        .await;
    for line in [
        "+++ ",
        "@@ ",
        "-    \"a\": { \"command\": \"x\" }\n",
        "+      \"args\": [\"-y\", \"notes\"],\n",
    ] {
        assert!(diff.contains(line), "{line}: {diff}");
    }
    assert_eq!(text(&home, ".cursor/mcp.json"), CURSOR);
    assert_eq!(home.files().len(), 1);
    // A file that is created begins at /dev/null.
    let diff = home
        .pintle("install --host codex --name notes --dry-run -- npx")
        .prints()
        .await;
    assert!(diff.starts_with("--- /dev/null\n"), "{diff}");
    assert!(diff.contains("+[mcp_servers.notes]\n"), "{diff}");
}

#[tokio::test]
async fn without_a_terminal_a_change_requires_yes() {
    let home = Home::new();
    let error = home
        .pintle("install --host cursor --name notes -- npx")
        .fails(1)
        .await;
    assert!(
        error.contains("confirmed at a terminal, or with --yes"),
        "{error}"
    );
    assert!(error.contains("+      \"command\": \"npx\""), "{error}");
    assert!(home.files().is_empty());
}

#[tokio::test]
async fn the_user_sees_the_change_and_confirms_it() {
    let home = Home::new();
    let words = [
        "install", "--host", "cursor", "--name", "notes", "--", "npx",
    ];
    for (answer, code) in [("no\n", 1), ("yes\n", 0)] {
        let mut typist = home.typist(&words);
        typist.sees("\"command\": \"npx\"").await;
        typist.sees("Write this change? [yes/no] > ").await;
        typist.types(answer).await;
        assert_eq!(typist.leaves().await.code(), Some(code));
        assert_eq!(home.files().len(), 1 - code as usize);
    }
}

#[tokio::test]
async fn a_reference_is_stored_in_place_of_a_secret() {
    let home = Home::new();
    let ended = home
        .pintle("install --host vscode --name notes --env API_KEY=s3cret --env LANG=C --yes -- npx")
        .run()
        .await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended.notes.contains("--env API_KEY stores a reference"),
        "{ended:?}"
    );
    assert!(
        !ended.notes.contains("s3cret") && !ended.notes.contains("LANG"),
        "{ended:?}"
    );
    let install = home.pintle("install --host vscode --name safe --env API_KEY --yes -- npx");
    let ended = install.set("API_KEY", "s3cret2").run().await;
    assert_eq!(
        (ended.code, ended.notes.as_str()),
        (Some(0), ""),
        "{ended:?}"
    );
    let file = text(&home, ".config/Code/User/mcp.json");
    assert!(file.contains("\"API_KEY\": \"${env:API_KEY}\""), "{file}");
    assert!(!file.contains("s3cret2"), "{file}");
    // Claude Desktop has no references.
    let install = home.pintle("install --host claude --name notes --env API_KEY --yes -- npx");
    let error = install.fails(1).await;
    assert!(
        error.contains("Claude Desktop cannot have a reference"),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_is_copied_to_another_host() {
    let home = Home::new();
    write(
        &home,
        ".gemini/settings.json",
        "{\"mcpServers\": {\"notes\": {\"command\": \"npx\", \"env\": {\"T\": \"$T\"}}}}",
    );
    home.pintle("install @notes --host opencode --yes")
        .prints()
        .await;
    let file = text(&home, ".config/opencode/opencode.json");
    assert!(file.contains("\"command\": [\"npx\"]"), "{file}");
    assert!(file.contains("\"T\": \"{env:T}\""), "{file}");
    // A server of a project's file needs consent, because a file of the user needs none.
    write(
        &home,
        "opencode.json",
        "{\"mcp\": {\"odd\": {\"type\": \"local\", \"command\": [\"sh\"]}}}",
    );
    let error = home
        .pintle("install @odd --host cursor --yes")
        .fails(1)
        .await;
    assert!(error.contains("--trust"), "{error}");
    home.pintle("install @odd --host cursor --yes --trust")
        .prints()
        .await;
    assert!(text(&home, ".cursor/mcp.json").contains("\"command\": \"sh\""));
}

#[tokio::test]
async fn a_file_of_the_project_is_changed_only_on_request() {
    let home = Home::new();
    home.pintle("install --host claude-code --name notes --project --yes -- npx")
        .prints()
        .await;
    assert_eq!(home.files(), [home.path().join(".mcp.json")]);
    let error = home
        .pintle("install --host goose --name notes --project --yes -- npx")
        .fails(1)
        .await;
    assert!(
        error.contains("Goose has no configuration file of the project"),
        "{error}"
    );
    home.pintle("uninstall notes --host claude-code --project --yes")
        .prints()
        .await;
    assert!(home.files().is_empty());
}

#[tokio::test]
async fn lines_for_the_hand_replace_an_edit_that_is_not_safe() {
    let home = Home::new();
    write(
        &home,
        ".config/goose/config.yaml",
        "extensions: { a: { cmd: x } }\n",
    );
    let error = home
        .pintle("install --host goose --name notes --yes -- npx")
        .fails(1)
        .await;
    assert!(
        error.contains("by hand") && error.contains("cmd: \"npx\""),
        "{error}"
    );
    assert_eq!(home.files().len(), 1);
}

#[tokio::test]
async fn options_that_do_not_apply_are_rejected() {
    let home = Home::new();
    for (line, reason) in [
        ("install --host cursor --yes -- npx", "--name"),
        (
            "install --host cursor --yes https://a.example/mcp",
            "--name",
        ),
        ("install --host cursor --name a", "which server?"),
        ("install --host nowhere --name a -- npx", "nowhere"),
        (
            "install --host cursor --name a --yes tcp://a:1",
            "http and https",
        ),
        (
            "install --host cursor --name a --yes --env A=1 https://a.example/mcp",
            "--env requires",
        ),
        (
            "install --host cursor --name a --yes --header A:1 -- npx",
            "require a URL",
        ),
        (
            "install --host cursor --name a/b --yes -- npx",
            "invalid server name",
        ),
        (
            "install --host claude --name a --yes https://a.example/mcp",
            "cannot have a URL",
        ),
        (
            "install @nothing --host cursor --yes",
            "no host has a server",
        ),
    ] {
        let error = home.pintle(line).fails(1).await;
        assert!(error.contains(reason), "{line}: {error}");
    }
    assert!(home.files().is_empty());
}
