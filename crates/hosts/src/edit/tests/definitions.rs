//! The members of each host, and the file that gets them.

use serde_json::json;

use super::*;
use crate::config_path::Platform;
use crate::config_path::tests::FakeMachine;
use crate::entry::Text;

fn program() -> UnexpandedTarget {
    UnexpandedTarget::Program {
        command: "npx".to_owned(),
        arguments: vec!["-y".to_owned()],
        environment: vec![
            ("PLAIN".to_owned(), Text::Written("p".to_owned())),
            ("TOKEN".to_owned(), Text::Env("TOKEN".to_owned())),
        ],
        env_file: None,
        directory: None,
    }
}

fn url() -> UnexpandedTarget {
    UnexpandedTarget::Url {
        url: "https://a.example/mcp".to_owned(),
        headers: vec![("Authorization".to_owned(), Text::Bearer("TOKEN".to_owned()))],
        is_sse: false,
    }
}

fn rendered(id: &str, target: &UnexpandedTarget) -> Result<Value, EditError> {
    let host = host(id);
    let members = Renderer::new(host, host.syntaxes).members("b", target)?;
    Ok(Value::Object(members))
}

#[test]
fn each_host_has_its_own_members() {
    let env = |token: &str| json!({ "PLAIN": "p", "TOKEN": token });
    let bearer = |token: &str| json!({ "Authorization": format!("Bearer {token}") });
    let address = "https://a.example/mcp";
    for (id, expected) in [
        (
            "claude-code",
            json!({ "type": "stdio", "command": "npx", "args": ["-y"], "env": env("${TOKEN}") }),
        ),
        (
            "cursor",
            json!({ "command": "npx", "args": ["-y"], "env": env("${env:TOKEN}") }),
        ),
        (
            "opencode",
            json!({ "type": "local", "command": ["npx", "-y"], "environment": env("{env:TOKEN}"), "enabled": true }),
        ),
        (
            "codex",
            json!({ "command": "npx", "args": ["-y"], "env_vars": ["TOKEN"], "env": { "PLAIN": "p" } }),
        ),
        (
            "goose",
            json!({ "name": "b", "description": "", "enabled": true, "type": "stdio", "cmd": "npx", "args": ["-y"],
            "envs": env("${TOKEN}"), "timeout": 300 }),
        ),
        (
            "continue",
            json!({ "command": "npx", "args": ["-y"], "env": env("${{ secrets.TOKEN }}") }),
        ),
    ] {
        assert_eq!(rendered(id, &program()).expect(id), expected, "{id}");
    }
    for (id, expected) in [
        (
            "vscode",
            json!({ "type": "http", "url": address, "headers": bearer("${env:TOKEN}") }),
        ),
        (
            "codex",
            json!({ "url": address, "bearer_token_env_var": "TOKEN" }),
        ),
        (
            "windsurf",
            json!({ "serverUrl": address, "headers": bearer("${env:TOKEN}") }),
        ),
        (
            "gemini",
            json!({ "httpUrl": address, "headers": bearer("${TOKEN}") }),
        ),
        (
            "continue",
            json!({ "type": "streamable-http", "url": address,
            "requestOptions": { "headers": bearer("${{ secrets.TOKEN }}") } }),
        ),
    ] {
        assert_eq!(rendered(id, &url()).expect(id), expected, "{id}");
    }
    // Claude Desktop has neither variables nor URLs.
    for target in [program(), url()] {
        let error = rendered("claude", &target).expect_err("unsupported");
        assert!(matches!(error, EditError::Unsupported { .. }), "{error:?}");
    }
}

#[test]
fn each_host_reads_the_members_of_its_dialect() {
    for host in Host::all() {
        for target in [program(), url()] {
            let Ok(Value::Object(members)) = rendered(host.id, &target) else {
                assert!(host.syntaxes.is_empty(), "{}", host.id);
                continue;
            };
            let server = crate::entry::Server::from(crate::raw_entry::RawEntry {
                name: "b".to_owned(),
                line: 1,
                members: Some(members),
                lines: std::collections::BTreeMap::new(),
            });
            let found = server.target.expect(host.id);
            let again = rendered(host.id, &found).expect(host.id);
            assert_eq!(
                again,
                rendered(host.id, &target).expect(host.id),
                "{}",
                host.id
            );
        }
    }
}

#[test]
fn a_copy_has_the_variables_of_the_new_host() {
    let members = |id: &str, from: &str, text: &str| {
        let target = UnexpandedTarget::Program {
            command: "x".to_owned(),
            arguments: vec![text.to_owned()],
            environment: Vec::new(),
            env_file: None,
            directory: None,
        };
        let members = Renderer::new(host(id), host(from).syntaxes).members("b", &target);
        members.map(|members| members["args"][0].clone())
    };
    assert_eq!(
        members("cursor", "gemini", "a-$B/${C}").expect("copied"),
        "a-${env:B}/${env:C}"
    );
    assert_eq!(
        members("gemini", "claude", "plain").expect("copied"),
        "plain"
    );
    assert_eq!(
        members("kiro", "gemini", "${A:-b}").expect("copied"),
        "${A:-b}"
    );
    assert_eq!(
        members("vscode", "cursor", "${workspaceFolder}").expect("copied"),
        "${workspaceFolder}"
    );
    for (id, from, text) in [
        // A text of Claude would be a variable of Gemini.
        ("gemini", "claude", "$A"),
        ("claude", "gemini", "$A"),
        ("gemini", "vscode", "${input:x}"),
        ("cursor", "gemini", "${A:-b}"),
    ] {
        assert!(members(id, from, text).is_err(), "{text}");
    }
}

#[test]
fn the_file_of_a_host_is_chosen() {
    let machine = FakeMachine {
        vars: [("HOME", "/h")].into(),
        files: [
            ("/h/.config/VSCodium/User/x", String::new()),
            ("/p/.git/HEAD", String::new()),
            ("/p/opencode.jsonc", String::new()),
        ]
        .into(),
    };
    machine.at(Platform::Linux, "/p/q", |environment| {
        let file = |id: &str, placement: &Placement| {
            let file = places::new_file(environment, host(id), placement, "b");
            file.map(|file| file.display().to_string())
        };
        let user = |id: &str| file(id, &Placement::User).expect(id);
        let project = |id: &str| file(id, &Placement::Project).expect(id);
        assert_eq!(user("cursor"), "/h/.cursor/mcp.json");
        assert_eq!(user("vscode"), "/h/.config/VSCodium/User/mcp.json");
        assert_eq!(user("amazonq"), "/h/.aws/amazonq/mcp.json");
        assert_eq!(user("continue"), "/h/.continue/mcpServers/b.json");
        assert_eq!(user("goose"), "/h/.config/goose/config.yaml");
        assert_eq!(project("cursor"), "/p/.cursor/mcp.json");
        assert_eq!(project("opencode"), "/p/opencode.jsonc");
        assert_eq!(
            file("cursor", &Placement::File("x.json".into())).expect("named"),
            "/p/q/x.json"
        );
        let error = file("goose", &Placement::Project).expect_err("no file");
        assert_eq!(
            error.to_string(),
            "Goose has no configuration file of the project here"
        );
    });
}

#[test]
fn a_name_is_usable_in_every_host() {
    for name in ["a", "A-1_b.c", &"x".repeat(64)] {
        assert!(NewServer::new(name, url()).is_ok(), "{name}");
    }
    for name in ["", ".", "-a", "a/b", "a b", "é", &"x".repeat(65)] {
        let error = NewServer::new(name, url()).expect_err(name);
        assert!(matches!(error, EditError::InvalidName(_)), "{error:?}");
    }
}
