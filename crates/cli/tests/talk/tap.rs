//! `pintle tap` between a client and a server.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::serve::child::Program;
use crate::talk::home::Home;
use crate::talk::program::pintle;

const PROGRAM: &str = env!("CARGO_BIN_EXE_pintle");

#[tokio::test]
async fn a_client_works_through_a_tap_that_records() {
    let home = Home::new();
    let file = home.path().join("recording.jsonl");
    for revision in ["2025-06-18", "2026-07-28"] {
        let call = pintle("call --revision")
            .word(revision)
            .words("berth name=fish-quay");
        let call = call
            .word("--")
            .word(PROGRAM)
            .words("tap --record")
            .word(file.to_str().expect("text"));
        let output = call
            .words("--")
            .word(PROGRAM)
            .words("serve --stdio")
            .prints()
            .await;
        assert!(!output.is_empty());
        let recording = std::fs::read_to_string(&file).expect("it is written");
        let lines: Vec<Value> = recording
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        assert_eq!(lines[0]["pintle_recording"], 1);
        let is_call = |line: &&Value| line["message"]["method"] == "tools/call";
        let call = lines.iter().find(is_call).expect("the call is recorded");
        assert_eq!(call["to"], "server");
        assert!(
            lines.iter().all(|line| line.get("odd").is_none()),
            "{recording}"
        );
        assert_eq!(lines.last().expect("an end")["end"], "closed");
        let mode = std::fs::metadata(&file)
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn a_tap_has_the_exit_code_and_the_standard_error_of_the_server() {
    let server = |script: &str| pintle("tap -q -- sh -c").word(script);
    let notes = server("echo oh >&2; exit 7").fails(7).await;
    assert_eq!(notes, "oh\n");
    assert_eq!(server("kill -9 $$").fails(137).await, "");
    assert_eq!(server("exit 0").prints().await, "");
    let notes = pintle("tap -- no-such-program-here").fails(4).await;
    assert!(notes.contains("no-such-program-here"), "{notes}");
}

#[tokio::test]
async fn a_tap_shows_messages_on_standard_error() {
    let noise = pintle("tap -- sh -c")
        .word("read line; echo hello")
        .input("{\"token\":\"hush\"}\n");
    let ended = noise.run().await;
    assert_eq!((ended.code, ended.output.as_str()), (Some(0), "hello\n"));
    for part in [
        "! not a message of JSON-RPC",
        "! not JSON",
        "hello",
        "1 messages to the server",
    ] {
        assert!(ended.notes.contains(part), "{part} in {}", ended.notes);
    }
    assert!(!ended.notes.contains("hush"), "{}", ended.notes);
    let json = pintle("tap --json --secrets -- cat")
        .input("{\"token\":\"hush\"}\n")
        .run()
        .await;
    let first: Value =
        serde_json::from_str(json.notes.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["to"], &first["odd"][0]),
        (&"server".into(), &"not_json_rpc".into())
    );
    assert!(first["text"].is_null(), "it is JSON: {first}");
}

#[tokio::test]
async fn a_client_works_through_a_tap_over_http() {
    let home = Home::new();
    let file = home.path().join("recording.jsonl");
    let mut server = Program::start("serve --http 127.0.0.1:0");
    let url = url(&server.noted("http://").await);
    let mut tap = Program::start(&format!(
        "tap -q --record {} {url} --http 127.0.0.1:0",
        file.display()
    ));
    let tapped = self::url(&tap.noted("Connect clients").await);
    assert_ne!(url, tapped);
    for revision in ["2025-06-18", "2026-07-28"] {
        let call = pintle("call --revision").word(revision).word(&tapped);
        call.words("berth name=fish-quay").prints().await;
    }
    tap.signal("TERM").await;
    assert_eq!(tap.ended().await.code(), Some(0));
    let recording = std::fs::read_to_string(&file).expect("it is written");
    let lines: Vec<Value> = recording
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let calls = lines
        .iter()
        .filter(|line| line["message"]["method"] == "tools/call");
    assert_eq!(calls.count(), 2, "{recording}");
    assert!(
        lines.iter().all(|line| line.get("odd").is_none()),
        "{recording}"
    );
}

fn url(line: &str) -> String {
    let (_, rest) = line.split_once("http://").expect("a URL");
    let (url, _) = rest.split_once("/mcp").expect("a path");
    format!("http://{url}/mcp")
}

/// Records a call of the showcase in a revision.
async fn recorded(home: &Home, revision: &str) -> std::path::PathBuf {
    let file = home.path().join(format!("{revision}.jsonl"));
    let call = pintle("call --revision")
        .word(revision)
        .words("berth name=fish-quay --");
    let tap = call
        .word(PROGRAM)
        .words("tap -q --record")
        .word(file.display().to_string());
    tap.words("--")
        .word(PROGRAM)
        .words("serve --stdio")
        .prints()
        .await;
    file
}

#[tokio::test]
async fn a_recording_is_replayed_to_clients_of_the_other_era() {
    let home = Home::new();
    for (revision, other) in [("2025-06-18", "2026-07-28"), ("2026-07-28", "2025-06-18")] {
        let file = recorded(&home, revision).await;
        let call = |arguments: &str| {
            let call = pintle("call --unchecked --revision")
                .word(other)
                .words(arguments)
                .word("--")
                .word(PROGRAM);
            call.words("replay --strict")
                .word(file.display().to_string())
        };
        let direct = pintle("call berth name=fish-quay --")
            .word(PROGRAM)
            .words("serve --stdio")
            .prints()
            .await;
        assert_eq!(
            call("berth name=fish-quay").prints().await,
            direct,
            "{revision}"
        );
        let missed = call("berth name=other").run().await;
        assert_ne!(missed.code, Some(0), "{missed:?}");
        assert!(
            missed
                .notes
                .contains("arguments.name is \"other\", \"fish-quay\" was recorded"),
            "{missed:?}"
        );
    }
}

#[tokio::test]
async fn a_strict_replay_ends_at_the_first_miss() {
    let home = Home::new();
    let file = recorded(&home, "2026-07-28").await;
    let meta = serde_json::json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let params = serde_json::json!({ "name": "no-such-tool", "_meta": meta });
    let call =
        serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut program = Program::start(&format!("replay {} --strict", file.display()));
    let error = program.send(&call);
    error.await;
    let answer = program.receive().await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    // The input is still open.
    assert_eq!(program.ended().await.code(), Some(5));
    let lenient = pintle("replay")
        .word(file.display().to_string())
        .input(&format!("{call}\n"))
        .prints()
        .await;
    assert!(lenient.contains("-32602"), "{lenient}");
    pintle("replay")
        .word(home.path().join("none").display().to_string())
        .fails(1)
        .await;
}

#[tokio::test]
async fn a_file_is_served_as_a_server() {
    let home = Home::new();
    let file = home.path().join("mock.toml");
    std::fs::write(&file, "[[tool]]\nname = \"sky\"\ntext = \"clear\"\n").expect("it is written");
    let mut mock = Program::start(&format!("mock {} --http 127.0.0.1:0", file.display()));
    let url = url(&mock.noted("Connect clients").await);
    for revision in ["2025-06-18", "2026-07-28"] {
        let call = pintle("call --revision")
            .word(revision)
            .word(&url)
            .word("sky");
        assert_eq!(call.prints().await, "clear\n");
    }
    std::fs::write(&file, "[[tool]]\nnam = \"sky\"\n").expect("it is written");
    let notes = pintle("mock")
        .word(file.display().to_string())
        .fails(1)
        .await;
    assert!(notes.contains("nam"), "{notes}");
}
