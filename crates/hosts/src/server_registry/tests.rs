use crate::config_path::Platform;
use crate::config_path::tests::FakeMachine;
use crate::review::Action;
use crate::target::{Endpoint, Program};

use super::*;

fn machine(files: &[(&'static str, &str)]) -> FakeMachine {
    let files = files.iter().map(|(file, text)| (*file, (*text).to_owned()));
    FakeMachine {
        vars: [("HOME", "/h"), ("KEY", "k"), ("EMPTY", "")].into(),
        files: files.collect(),
    }
}

fn silent(_: &super::super::Input) -> Result<String, String> {
    Err("nobody is there to ask".to_owned())
}

fn find(machine: &FakeMachine, here: &str, name: &str) -> Result<Target, String> {
    machine.at(Platform::Linux, here, |environment| {
        let registry = ServerRegistry::open(environment);
        let found = registry.find(Named::from(name));
        found
            .and_then(|listed| listed.target(environment, &mut silent))
            .map_err(|error| error.to_string())
    })
}

fn program(
    command: &str,
    arguments: &[&str],
    environment: &[(&str, &str)],
    directory: &str,
) -> Target {
    let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
    Target::Program(Program {
        command: command.to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        environment: environment.iter().map(owned).collect(),
        directory: Some(directory.into()),
    })
}

fn url(url: &str, headers: &[(&str, &str)]) -> Target {
    let owned = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
    Target::Url(Endpoint {
        url: url.to_owned(),
        headers: headers.iter().map(owned).collect(),
        is_sse: false,
    })
}

#[test]
fn every_host_is_read_in_its_own_way() {
    let machine = machine(&[
        (
            "/h/.claude.json",
            r#"{"history": [], "mcpServers": {"a": {"command": "x", "args": ["${KEY}", "${NO:-d}", "${EMPTY:-e}"]}},
            "projects": {"/p": {"mcpServers": {"b": {"type": "http", "url": "https://b/${KEY}"}}}}}"#,
        ),
        (
            "/h/.config/Claude/claude_desktop_config.json",
            r#"{"mcpServers": {"c": {"command": "x", "env": {"A": "${KEY}"}}}}"#,
        ),
        (
            "/p/.vscode/mcp.json",
            "{ // mine\n\"servers\": {\"d\": {\"command\": \"${workspaceFolder}/x${/}y\", \"cwd\": \"sub\", \"env\": {\"K\": \"${env:KEY}\"}, \"envFile\": \"${workspaceFolder}/.env\",},},}",
        ),
        ("/p/.env", "A=1\nK=old\n"),
        (
            "/h/.cursor/mcp.json",
            r#"{"mcpServers": {"e": {"url": "https://e", "headers": {"X": "${env:KEY} ${userHome}"}}}}"#,
        ),
        (
            "/h/.config/zed/settings.json",
            r#"{"context_servers": {"f": {"command": {"path": "x", "args": ["y"]}}}}"#,
        ),
        (
            "/h/.gemini/settings.json",
            r#"{"mcpServers": {"g": {"httpUrl": "https://g", "headers": {"X": "$KEY"}}}}"#,
        ),
        (
            "/h/.codex/config.toml",
            "[mcp_servers.h]\nurl = \"https://h\"\nbearer_token_env_var = \"KEY\"\n",
        ),
        (
            "/h/.config/opencode/opencode.json",
            r#"{"mcp": {"i": {"type": "local", "command": ["x", "{env:KEY}", "{file:~/t}"]}}}"#,
        ),
        ("/h/t", " token\n"),
    ]);
    let at_p = |name| find(&machine, "/p", name);
    assert_eq!(at_p("a"), Ok(program("x", &["k", "d", "e"], &[], "/p")));
    assert_eq!(at_p("b"), Ok(url("https://b/k", &[])));
    assert_eq!(at_p("c"), Ok(program("x", &[], &[("A", "${KEY}")], "/p")));
    let environment = [("A", "1"), ("K", "old"), ("K", "k")];
    assert_eq!(
        at_p("d"),
        Ok(program("/p/x/y", &[], &environment, "/p/sub"))
    );
    assert_eq!(at_p("e"), Ok(url("https://e", &[("X", "k /h")])));
    assert_eq!(at_p("f"), Ok(program("x", &["y"], &[], "/p")));
    assert_eq!(at_p("g"), Ok(url("https://g", &[("X", "k")])));
    assert_eq!(
        at_p("h"),
        Ok(url("https://h", &[("Authorization", "Bearer k")]))
    );
    assert_eq!(at_p("i"), Ok(program("x", &["k", "token"], &[], "/p")));
    assert_eq!(
        find(&machine, "/q", "b").map_err(|error| error.contains("no host")),
        Err(true)
    );
}

#[test]
fn hosts_that_write_yaml_are_read() {
    let machine = machine(&[
        (
            "/h/.continue/config.yaml",
            "name: mine\nmcpServers:\n  - name: a\n    command: x\n    env:\n      K: ${{ secrets.KEY }}\n      S: ${{ secrets.HIDDEN }}\n  - name: b\n    type: streamable-http\n    url: https://b\n    requestOptions:\n      headers: { X: \"${{ secrets.KEY }}\" }\n  - name: none\n    command: ${{ secrets.NO }}\n",
        ),
        ("/h/.continue/.env", "HIDDEN=h\n"),
        (
            "/p/.continue/mcpServers/team.yaml",
            "mcpServers:\n  - name: c\n    command: y\n    cwd: sub\n",
        ),
        (
            "/p/.continue/mcpServers/copied.json",
            r#"{"mcpServers": {"d": {"command": "z"}}}"#,
        ),
        ("/p/.continue/mcpServers/README.md", "# Not read\n"),
        (
            "/h/.config/goose/config.yaml",
            "extensions:\n  developer:\n    type: builtin\n    enabled: true\n  e:\n    type: stdio\n    cmd: uvx\n    args: [a, \"${KEY}\"]\n    envs: {}\n    env_keys: [KEY]\n    enabled: true\n  f:\n    type: sse\n    uri: https://f\n    enabled: false\n",
        ),
    ]);
    let at_p = |name| find(&machine, "/p", name);
    let environment = [("K", "k"), ("S", "h")];
    assert_eq!(at_p("a"), Ok(program("x", &[], &environment, "/p")));
    assert_eq!(at_p("b"), Ok(url("https://b", &[("X", "k")])));
    assert_eq!(at_p("c"), Ok(program("y", &[], &[], "/p/sub")));
    assert_eq!(at_p("d"), Ok(program("z", &[], &[], "/p")));
    assert_eq!(
        at_p("e"),
        Ok(program("uvx", &["a", "k"], &[("KEY", "k")], "/p"))
    );
    let f = Target::Url(Endpoint {
        url: "https://f".to_owned(),
        headers: Vec::new(),
        is_sse: true,
    });
    assert_eq!(at_p("f"), Ok(f));
    for (name, parts) in [
        ("none", ["config.yaml:14", "the secret NO"]),
        ("developer", ["config.yaml:3", "an extension of the host"]),
    ] {
        let error = at_p(name).expect_err(name);
        for part in parts {
            assert!(error.contains(part), "{name}: {error}");
        }
    }
}

#[test]
fn files_of_windows_lie_elsewhere() {
    let servers = |name: &str| format!(r#"{{"mcpServers": {{"{name}": {{"command": "x"}}}}}}"#);
    let mut machine = machine(&[]);
    machine.vars = [
        ("USERPROFILE", "/u"),
        ("APPDATA", "/u/Roaming"),
        ("HOME", "/not-this"),
    ]
    .into();
    let goose = "extensions:\n  b:\n    type: stdio\n    cmd: x\n";
    machine.files = [
        ("/u/Roaming/Claude/claude_desktop_config.json", servers("a")),
        ("/u/Roaming/Block/goose/config/config.yaml", goose.to_owned()),
        ("/u/.cursor/mcp.json", servers("c")),
        (
            "/u/.claude.json",
            r#"{"projects": {"C:/work": {"mcpServers": {"d": {"command": "x"}}}, "C:\\work": {"mcpServers": {"e": {"command": "x"}}}}}"#.to_owned(),
        ),
        (r"C:\ProgramData\gemini-cli\settings.json", servers("f")),
    ]
    .into();
    machine.at(Platform::Windows, r"C:\work", |environment| {
        let registry = ServerRegistry::open(environment);
        let mut names: Vec<_> = registry
            .servers
            .iter()
            .map(|listed| &*listed.server.name)
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["a", "b", "c", "d", "e", "f"],
            "{:?}",
            registry.errors
        );
    });
}

#[test]
fn a_name_that_means_two_servers_is_not_guessed() {
    let machine = machine(&[
        (
            "/p/.mcp.json",
            r#"{"mcpServers": {"a": {"command": "evil"}, "b": {"command": "same"}}}"#,
        ),
        (
            "/h/.cursor/mcp.json",
            r#"{"mcpServers": {"a": {"command": "good"}, "b": {"command": "same"}}}"#,
        ),
        (
            "/h/.claude.json",
            r#"{"mcpServers": {"b": {"command": "other", "disabled": true}}}"#,
        ),
    ]);
    let error = find(&machine, "/p", "a").expect_err("ambiguous");
    assert!(
        error.contains("@claude-code/a") && error.contains("@cursor/a"),
        "{error}"
    );
    assert_eq!(
        find(&machine, "/p", "cursor/a"),
        Ok(program("good", &[], &[], "/p"))
    );
    assert_eq!(
        find(&machine, "/p", "b"),
        Ok(program("same", &[], &[], "/p"))
    );
}

#[test]
fn two_files_of_one_host_are_distinguished_by_their_paths() {
    let machine = machine(&[
        (
            "/h/.codeium/windsurf/mcp_config.json",
            r#"{"mcpServers": {"a": {"command": "x"}}}"#,
        ),
        (
            "/h/.codeium/mcp_config.json",
            r#"{"mcpServers": {"a": {"command": "y"}}}"#,
        ),
    ]);
    let error = find(&machine, "/", "a").expect_err("ambiguous");
    assert!(
        error.contains("--config /h/.codeium/mcp_config.json @a"),
        "{error}"
    );
}

#[test]
fn a_missing_value_is_named_with_its_place() {
    let machine = machine(&[(
        "/p/.vscode/mcp.json",
        "{\n\"inputs\": [{\"id\": \"key\", \"type\": \"promptString\"}],\n\"servers\": {\n\"a\": {\n\"url\": \"u\",\n\"headers\": {\"X\": \"${input:key}\"}\n},\n\"b\": {\"command\": \"${env:NO}\"},\n\"c\": {\"command\": \"${file}\"},\n\"d\": {\"command\": 5},\n\"e\": {\"command\": \"x\", \"envFile\": \"no\"},\n\"f\": {\"url\": \"${input:other}\"},\n\"g\": {}\n}}",
    )]);
    for (name, parts) in [
        (
            "a",
            [
                "/p/.vscode/mcp.json:6",
                "`headers` of the server `a`",
                "nobody is there",
            ],
        ),
        ("b", [":8", "`command`", "variable NO, which is not set"]),
        ("c", [":9", "`command`", "only the editor knows"]),
        ("d", [":10", "`command`", "has to be text"]),
        ("e", ["/p/no", "is not", "there"]),
        ("f", [":12", "`url`", "does not ask"]),
        ("g", [":13", "`g`", "neither a command nor a URL"]),
    ] {
        let error = find(&machine, "/p", name).expect_err(name);
        for part in parts {
            assert!(error.contains(part), "{name}: {error}");
        }
    }
}

#[test]
fn a_question_of_the_file_is_asked() {
    let machine = machine(&[(
        "/p/.vscode/mcp.json",
        r#"{"inputs": [{"id": "key", "type": "pickString", "description": "Key?", "password": true,
            "default": "d", "options": ["a", {"label": "B", "value": "b"}]}],
            "servers": {"a": {"url": "u/${input:key}"}}}"#,
    )]);
    machine.at(Platform::Linux, "/p", |environment| {
        let mut asked = Vec::new();
        let mut answer = |input: &super::super::Input| {
            asked.push(input.clone());
            Ok("b".to_owned())
        };
        let registry = ServerRegistry::open(environment);
        let found = registry.find(Named::from("a")).expect("found");
        let target = found.target(environment, &mut answer);
        assert_eq!(target.expect("expanded"), url("u/b", &[]));
        let [input] = asked.as_slice() else {
            panic!("{asked:?}");
        };
        assert_eq!(
            (input.description.as_str(), input.is_secret),
            ("Key?", true)
        );
        assert_eq!(
            (input.default.as_deref(), input.options.len()),
            (Some("d"), 2)
        );
    });
}

#[test]
fn a_broken_file_hides_no_other() {
    let machine = machine(&[
        ("/h/.cursor/mcp.json", "{\n\"mcpServers\": {\n"),
        (
            "/h/.lmstudio/mcp.json",
            r#"{"mcpServers": {"a": {"command": "x"}}}"#,
        ),
    ]);
    assert!(find(&machine, "/", "a").is_ok());
    machine.at(Platform::Linux, "/", |environment| {
        let registry = ServerRegistry::open(environment);
        let [error] = registry.errors.as_slice() else {
            panic!("{registry:?}");
        };
        assert!(
            error.to_string().starts_with("/h/.cursor/mcp.json:"),
            "{error}"
        );
        assert_eq!(registry.servers[0].address(), "@lmstudio/a");
    });
}

#[test]
fn a_named_file_is_read_whatever_its_owner() {
    let machine = machine(&[
        (
            "/x/a.json",
            r#"{"servers": {"a": {"command": "${KEY}", "args": ["${env:KEY}"]}}}"#,
        ),
        ("/x/b.toml", "[mcp_servers.b]\ncommand = \"x\"\n"),
        ("/x/c.json", "{}"),
        (
            "/x/e.yml",
            "extensions:\n  e: { cmd: x }\nmcpServers:\n  - { name: f, command: y }\n",
        ),
    ]);
    machine.at(Platform::Linux, "/x", |environment| {
        let find = |file: &str, name: &str| {
            let registry = ServerRegistry::of_file(environment, Path::new(file))?;
            let found = registry.find(Named::from(name))?;
            assert_eq!(found.origin, ConfigOwner::Named);
            found.target(environment, &mut silent)
        };
        assert_eq!(
            find("a.json", "a").expect("found"),
            program("k", &["k"], &[], "/x")
        );
        assert!(find("/x/b.toml", "b").is_ok());
        assert!(find("e.yml", "e").is_ok() && find("e.yml", "f").is_ok());
        for (file, reason) in [("c.json", "has no servers"), ("d.json", "is not there")] {
            let error = find(file, "a").expect_err(file).to_string();
            assert!(error.contains(reason), "{error}");
        }
    });
}

#[test]
fn an_unknown_name_is_answered_with_a_near_one() {
    let machine = machine(&[(
        "/h/.cursor/mcp.json",
        r#"{"mcpServers": {"github": {"command": "x"}}}"#,
    )]);
    let error = find(&machine, "/", "gihtub").expect_err("unknown");
    assert!(error.contains("did you mean `github`?"), "{error}");
    let error = find(&machine, "/", "nohost/github").expect_err("unknown host");
    assert!(
        error.contains("`nohost` is not a known host") && error.contains("vscode"),
        "{error}"
    );
}

#[test]
fn the_users_own_file_is_not_a_file_of_a_project() {
    let machine = machine(&[(
        "/h/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "x"}}}"#,
    )]);
    machine.at(Platform::Linux, "/h", |environment| {
        let registry = ServerRegistry::open(environment);
        let named =
            ServerRegistry::of_file(environment, Path::new(".cursor/mcp.json")).expect("read");
        for registry in [registry, named] {
            let origins: Vec<_> = registry
                .servers
                .iter()
                .map(|listed| listed.origin)
                .collect();
            assert_eq!(origins, [ConfigOwner::User]);
        }
    });
}

#[test]
fn a_review_names_inputs_without_reading_them() {
    let machine = machine(&[
        (
            "/p/.vscode/mcp.json",
            r#"{"servers": {"a": {"command": "x", "args": ["${env:KEY}", "b  c"], "cwd": "sub", "envFile": ".env",
                "env": {"T": "${file:/etc/t}"}}}}"#,
        ),
        (
            "/p/.mcp.json",
            r#"{"mcpServers": {"b": {"url": "https://b/${NO}", "headers": {"X": "${KEY:-d}"}}}}"#,
        ),
    ]);
    machine.at(Platform::Linux, "/p", |environment| {
        let unread = |name: &str| match name {
            "HOME" => Some("/h".to_owned()),
            name => panic!("{name} is read"),
        };
        let blind = Environment {
            env: &unread,
            ..*environment
        };
        let registry = ServerRegistry::open(environment);
        let review = |name: &str| {
            registry
                .find(Named::from(name))
                .expect("found")
                .review(&blind)
        };
        let texts = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        let sets = |review: &Review| {
            let (variables, files) = (review.variables.clone(), review.files.clone());
            (Vec::from_iter(variables), Vec::from_iter(files))
        };

        let start = review("a").expect("reviewed");
        let Action::Start {
            words, directory, ..
        } = &start.action
        else {
            panic!("{start:?}");
        };
        assert_eq!(
            (words, directory.as_str()),
            (&texts(&["x", "${env:KEY}", "b  c"]), "/p/sub")
        );
        let read = (texts(&["KEY"]), texts(&["/etc/t", "/p/.env"]));
        assert_eq!(sets(&start), read);

        let connect = review("b").expect("reviewed");
        assert!(matches!(&connect.action, Action::Connect { url, .. } if url == "https://b/${NO}"));
        assert_eq!(sets(&connect), (texts(&["KEY", "NO"]), Vec::new()));
    });
}

#[test]
fn a_file_of_several_hosts_needs_the_key_of_one() {
    let common = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    let faults = |file: &'static str| {
        let machine = machine(&[(file, common)]);
        machine.at(Platform::Linux, "/p", |environment| {
            ServerRegistry::open(environment)
                .file_faults(environment)
                .len()
        })
    };
    // Claude Code and Visual Studio read this file, with different keys.
    assert_eq!(faults("/p/.mcp.json"), 0);
    assert_eq!(faults("/p/.vscode/mcp.json"), 1);
}
