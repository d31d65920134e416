//! Edits of texts: each entry is added and removed, and the rest stays.

mod definitions;
mod properties;

use serde_json::json;

use super::*;

fn host(id: &str) -> &'static Host {
    Host::by_id(id).expect("a known host")
}

fn target(id: &str) -> Target<'static> {
    let file = match id {
        "codex" => "/f.toml",
        "goose" => "/f.yaml",
        _ => "/f.json",
    };
    Target::new(host(id), Path::new(file), "b")
}

fn members() -> JsonObject {
    let members = json!({ "command": "x", "args": ["-y", "a \"b\""], "env": { "A": "1" } });
    members.as_object().cloned().expect("an object")
}

/// Inserts an entry `b`, compares the text, removes the entry, and compares with the first text.
fn round(id: &str, before: &str, after: &str) {
    let target = target(id);
    let found = target.inserted(before, &members(), false).expect(before);
    assert_eq!(found, after, "{before:?}");
    assert_eq!(target.removed(&found).expect(after), before, "{after:?}");
}

#[test]
fn an_entry_follows_the_style_of_the_json_file() {
    round(
        "cursor",
        "{\n    // mine\n    \"mcpServers\": {\n        \"a\": { \"url\": \"u\" } // note\n    },\n    \"x\": [1]\n}\n",
        "{\n    // mine\n    \"mcpServers\": {\n        \"a\": { \"url\": \"u\" }, // note\n        \"b\": {\n            \
         \"command\": \"x\",\n            \"args\": [\"-y\", \"a \\\"b\\\"\"],\n            \"env\": {\n                \
         \"A\": \"1\"\n            }\n        }\n    },\n    \"x\": [1]\n}\n",
    );
    // Tabs, CRLF, a byte order mark, a trailing comma, and no line end.
    round(
        "cursor",
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t/* end */\r\n\t}\r\n}",
        "\u{feff}{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t/* end */\r\n\t\t\"b\": {\r\n\t\t\t\"command\": \
         \"x\",\r\n\t\t\t\"args\": [\"-y\", \"a \\\"b\\\"\"],\r\n\t\t\t\"env\": {\r\n\t\t\t\t\"A\": \
         \"1\"\r\n\t\t\t}\r\n\t\t},\r\n\t}\r\n}",
    );
    // One line.
    round(
        "cursor",
        "{\"mcpServers\": {\"a\": 1 /* , */}}",
        "{\"mcpServers\": {\"a\": 1, \"b\": {\"command\":\"x\",\"args\":[\"-y\",\"a \\\"b\\\"\"],\"env\":{\"A\":\"1\"}} /* , */}}",
    );
}

#[test]
fn an_object_without_members_gets_the_entry() {
    let pretty = "\n  \"mcpServers\": {\n    \"b\": {\n      \"command\": \"x\"\n    }\n  }\n";
    let members = json!({ "command": "x" })
        .as_object()
        .cloned()
        .expect("an object");
    for (before, after) in [
        ("", format!("{{{pretty}}}\n")),
        ("// empty\n", format!("// empty\n{{{pretty}}}\n")),
        ("{}", format!("{{{pretty}}}")),
        ("{\n}\n", format!("{{{pretty}}}\n")),
        ("{ // c\n}\n", format!("{{ // c{pretty}}}\n")),
        ("{\n  \"mcpServers\": {}\n}\n", format!("{{{pretty}}}\n")),
        (
            "{\n  \"mcpServers\": {\n  }\n}\n",
            format!("{{{pretty}}}\n"),
        ),
    ] {
        let found = target("cursor").inserted(before, &members, false);
        assert_eq!(found, Ok(after), "{before:?}");
    }
}

#[test]
fn a_removed_entry_leaves_the_others_in_order() {
    for (before, after) in [
        ("{\n  \"b\": {},\n  \"c\": 1\n}", "{\n  \"c\": 1\n}"),
        (
            "{\n  \"a\": 1,\n  // b\n  \"b\": {}, // it\n  \"c\": 1\n}",
            "{\n  \"a\": 1,\n  // b\n   // it\n  \"c\": 1\n}",
        ),
        // A comment to the end of the line must not reach the next entry.
        (
            "{\n  // b\n  \"b\": {}, \"c\": 1 }",
            "{\n  // b\n   \"c\": 1 }",
        ),
        ("{ // b\n\"b\": {} }", "{ // b\n }"),
        ("{\"b\": {}}", "{}"),
        ("{\"b\": {},}", "{}"),
        ("{\"b\": {}, \"c\": 1}", "{ \"c\": 1}"),
        // Of two entries of one name none stays.
        ("{\"b\": {}, \"a\": 1, \"b\": {}}", "{ \"a\": 1}"),
    ] {
        let wrap = |inner: &str| format!("{{\"mcpServers\": {inner}}}");
        let found = target("cursor").removed(&wrap(before));
        assert_eq!(found, Ok(wrap(after)), "{before}");
    }
}

#[test]
fn the_last_of_duplicate_keys_is_edited() {
    let before = "{\"mcpServers\": {\"a\": 1}, \"mcpServers\": {\"c\": 1}}";
    let after =
        "{\"mcpServers\": {\"a\": 1}, \"mcpServers\": {\"c\": 1, \"b\": {\"command\":\"x\"}}}";
    let members = json!({ "command": "x" })
        .as_object()
        .cloned()
        .expect("an object");
    let found = target("cursor").inserted(before, &members, false);
    assert_eq!(found.as_deref(), Ok(after));
    assert_eq!(target("cursor").removed(after).as_deref(), Ok(before));
    // An escaped key is the same key.
    let escaped = "{\"mcpServers\": {\"\\u0062\": 1}}";
    assert_eq!(
        target("cursor").inserted(escaped, &members, false),
        Err(TextError::Exists)
    );
}

#[test]
fn an_existing_entry_is_replaced_in_place() {
    let before = "{\n  \"mcpServers\": {\n    \"b\": { \"command\": \"old\" }, // mine\n    \"c\": 1\n  }\n}\n";
    let found = target("cursor")
        .inserted(before, &members(), true)
        .expect("replaced");
    assert!(
        found.contains("      }\n    }, // mine\n    \"c\": 1"),
        "{found}"
    );
    assert!(!found.contains("old"), "{found}");
    for (id, text) in [
        ("cursor", before),
        ("codex", "[mcp_servers.b]\ncommand = \"old\"\n"),
        ("goose", "extensions:\n  b:\n    cmd: old\n"),
    ] {
        assert_eq!(
            target(id).inserted(text, &members(), false),
            Err(TextError::Exists)
        );
        let found = target(id)
            .inserted(text, &members(), true)
            .expect("replaced");
        assert!(!found.contains("old"), "{found}");
    }
}

#[test]
fn a_toml_file_gets_a_table_at_its_end() {
    let section =
        "[mcp_servers.b]\ncommand = \"x\"\nargs = [\"-y\", \"a \\\"b\\\"\"]\nenv = { A = \"1\" }\n";
    let crlf = section.replace('\n', "\r\n");
    for (before, after) in [
        ("", section.to_owned()),
        ("\u{feff}", format!("\u{feff}{section}")),
        (
            "# mine\nmodel = 1\n",
            format!("# mine\nmodel = 1\n\n{section}"),
        ),
        ("a = 1\n\n\n", format!("a = 1\n\n\n\n{section}")),
        ("a = 1", format!("a = 1\n\n{}", section.trim_end())),
        ("a = 1\r\n", format!("a = 1\r\n\r\n{crlf}")),
        (
            "a = 1\r\nb = 1",
            format!("a = 1\r\nb = 1\r\n\r\n{}", crlf.trim_end()),
        ),
        ("\n", format!("\n\n{section}")),
        ("# only", format!("# only\n\n{}", section.trim_end())),
        (
            "[mcp_servers.a]\nurl = \"u\"\n\n[z]\n",
            format!("[mcp_servers.a]\nurl = \"u\"\n\n[z]\n\n{section}"),
        ),
    ] {
        round("codex", before, &after);
    }
}

#[test]
fn a_removed_table_leaves_the_comments_of_the_next_one() {
    let before = "[mcp_servers.a]\nx = '''\n[mcp_servers.b]\n'''\n\n# mine\n[mcp_servers.b]\ncommand = \"x\" # y\n\n\
                  [mcp_servers.b.tools.z]\nq = 1\n\n# next\n\n[[t]]\na = 1\n\n[mcp_servers.b.env]\nA = \"1\"\n";
    let after =
        "[mcp_servers.a]\nx = '''\n[mcp_servers.b]\n'''\n\n# mine\n\n# next\n\n[[t]]\na = 1\n";
    assert_eq!(target("codex").removed(before).as_deref(), Ok(after));
}

#[test]
fn toml_in_another_form_is_left_to_the_user() {
    for before in [
        "mcp_servers = { b = { command = \"x\" } }",
        "[mcp_servers]\nb.command = \"x\"\n",
        "mcp_servers.b = { command = \"x\" }",
    ] {
        let error = target("codex").removed(before).expect_err(before);
        assert!(
            matches!(error, TextError::NotEditable(_)),
            "{before}: {error:?}"
        );
    }
    for before in [
        "mcp_servers = { a = { command = \"x\" } }",
        "mcp_servers = 1",
        "mcp_servers = [1]",
    ] {
        let error = target("codex")
            .inserted(before, &members(), false)
            .expect_err(before);
        assert!(
            matches!(error, TextError::NotEditable(_)),
            "{before}: {error:?}"
        );
    }
    let error = target("codex").inserted("a = \n", &members(), false);
    assert!(matches!(error, Err(TextError::Syntax(_))), "{error:?}");
}

#[test]
fn a_yaml_map_gets_the_entry_first() {
    let entry = "  b:\n    command: \"x\"\n    args: [\"-y\", \"a \\\"b\\\"\"]\n    env: { \"A\": \"1\" }\n";
    let deep = entry
        .replace("  b:", "    b:")
        .replace("\n    ", "\n      ");
    for (before, after) in [
        (
            "# mine\nextensions: # all\n  # first\n  a:\n    cmd: y\nz: 1\n",
            format!("# mine\nextensions: # all\n{entry}  # first\n  a:\n    cmd: y\nz: 1\n"),
        ),
        (
            "extensions:\n    a: 1\n",
            format!("extensions:\n{deep}    a: 1\n"),
        ),
        (
            "\u{feff}extensions:\r\n  a: 1",
            format!(
                "\u{feff}extensions:\r\n{}  a: 1",
                entry.replace('\n', "\r\n")
            ),
        ),
        ("z: 1\nextensions:\n", format!("z: 1\nextensions:\n{entry}")),
    ] {
        round("goose", before, &after);
    }
    let found = target("goose").inserted("a: 1", &members(), false);
    assert_eq!(found, Ok(format!("a: 1\nextensions:\n{entry}")));
    let found = target("goose").inserted("", &members(), false);
    assert_eq!(found, Ok(format!("extensions:\n{entry}")));
}

#[test]
fn a_removed_yaml_entry_leaves_comments_and_texts() {
    let before = "extensions:\n  a:\n    text: |\n      b:\n        x\n  'b':\n    list:\n    - 1\n\n    text: |\n      y\n\n\n  # c\n  c: 1\n";
    let after = "extensions:\n  a:\n    text: |\n      b:\n        x\n\n\n  # c\n  c: 1\n";
    assert_eq!(target("goose").removed(before).as_deref(), Ok(after));
}

#[test]
fn yaml_in_another_form_is_left_to_the_user() {
    for before in [
        "extensions: {}\n",
        "extensions: { a: 1 }\n",
        "{ extensions: { a: 1 } }\n",
        "extensions: &x\n  a: 1\n",
        "- 1\n",
        "extensions: 5\n",
        "a: 1\n---\nextensions:\n  c: 1\n",
        "\"extensions\": [1]\n",
    ] {
        let error = target("goose")
            .inserted(before, &members(), false)
            .expect_err(before);
        assert!(
            matches!(error, TextError::NotEditable(_)),
            "{before}: {error:?}"
        );
        let error = target("goose").error(error, Some(&members())).to_string();
        assert!(
            error.contains("by hand:\nextensions:\n  b:\n    command: \"x\""),
            "{error}"
        );
    }
}

#[test]
fn json_in_another_form_is_not_edited() {
    for before in ["[]", "5", "{\"mcpServers\": []}", "{\"mcpServers\": null}"] {
        let error = target("cursor")
            .inserted(before, &members(), false)
            .expect_err(before);
        assert!(
            matches!(error, TextError::NotEditable(_)),
            "{before}: {error:?}"
        );
    }
    let error = target("cursor").inserted("{\n\"a\": \n}", &members(), false);
    assert!(
        matches!(error, Err(TextError::Syntax(SyntaxError { line: 3, .. }))),
        "{error:?}"
    );
    assert_eq!(target("cursor").removed("{}"), Err(TextError::Absent));
}
