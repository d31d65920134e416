//! A client of servers in child processes, in every revision, until they end.

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use pintle::client::{CallError, Client, ConnectError, EraMode};
use pintle::model::{Feature, Revision};
use pintle::process::{ChildExit, ChildOptions, Command, SpawnError};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// A timeout after which a test fails instead of waiting without end.
const PATIENCE: Duration = Duration::from_secs(30);
const CALCULATOR: &str = env!("CARGO_BIN_EXE_calculator");

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("in time")
}

async fn connect(mode: EraMode, command: Command) -> Client {
    let client = within(Client::builder().mode(mode).connect(command)).await;
    client.expect("a conversation")
}

async fn add(client: &Client, a: i64, b: i64) -> Result<String, CallError> {
    let result = within(
        client
            .call_tool("add", json!({ "a": a, "b": b }))
            .into_future(),
    )
    .await?;
    let result = serde_json::to_value(result).expect("JSON");
    Ok(result["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned())
}

/// The root cause of a failed call or connection.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> &'a T {
    let mut error = error;
    loop {
        if let Some(cause) = error.downcast_ref() {
            return cause;
        }
        error = error.source().expect("a cause of this type");
    }
}

/// A server of a few lines of shell that answers its first line.
fn legacy(lines: &str) -> Command {
    let welcome = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "shell", "version": "1" },
    });
    let answer = r#"answer() { id=${line#*'"id":'}; id=${id%%[,\}]*}; echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$1"'}'; }"#;
    let lines = format!("{answer}\nread -r line; answer '{welcome}'\n{lines}");
    Command::new("sh").args(["-c", &lines]).options(impatient())
}

fn impatient() -> ChildOptions {
    let mut options = ChildOptions::default();
    options.restart_delay = Duration::from_millis(1);
    options
}

// spec: 2025-11-25 TRANS-STDIO-01, LIFE-20
// spec: 2026-07-28 N-STDIO-08
#[tokio::test]
async fn a_program_is_called_in_every_revision() {
    for revision in Revision::ALL {
        let client = connect(EraMode::Pinned(revision), Command::new(CALCULATOR)).await;

        assert_eq!(client.server().expect("connected").revision, revision);
        assert_eq!(add(&client, 20, 22).await.expect("a sum"), "42");
        let tools = within(client.list_tools().into_future())
            .await
            .expect("a list");
        assert_eq!(tools.len(), 1, "{revision}");

        within(client.close()).await;
        assert!(matches!(
            add(&client, 1, 1).await,
            Err(CallError::Closed { .. })
        ));
    }
}

/// The exit status shows that the server left by itself: it was neither asked to end nor killed.
// spec: 2026-07-28 N-STDIO-09
#[tokio::test]
async fn a_server_leaves_at_the_end_of_its_input() {
    let started = Command::new(CALCULATOR).start().expect("it starts");

    let exit = within(started.end()).await;

    assert_eq!(exit.status().and_then(|status| status.code()), Some(0));
}

// spec: 2026-07-28 N-STDIO-06
#[tokio::test]
async fn answers_on_the_one_pipe_find_their_calls() {
    let client = connect(EraMode::Auto, Command::new(CALCULATOR)).await;
    assert!(
        client
            .server()
            .expect("connected")
            .revision
            .has(Feature::Envelope)
    );
    let mut calls = JoinSet::new();
    for a in 0..100 {
        let client = client.clone();
        calls.spawn(async move { (a, add(&client, a, 1000).await.expect("a sum")) });
    }
    while let Some(called) = calls.join_next().await {
        let (a, sum) = called.expect("no panic");
        assert_eq!(sum, (a + 1000).to_string());
    }
}

// spec: 2026-07-28 N-STDIO-11, N-ERA-07
// hardening: H-163 (pipe)
#[tokio::test]
async fn a_server_that_exits_at_the_probe_is_restarted_for_a_handshake() {
    let lines = format!(
        r#"read -r line; case $line in *server/discover*) exit 1;; esac
           {{ printf '%s\n' "$line"; cat; }} | {CALCULATOR}"#
    );
    let client = connect(EraMode::Auto, Command::new("sh").args(["-c", &lines])).await;

    assert!(
        client
            .server()
            .expect("connected")
            .revision
            .has(Feature::Handshake)
    );
    assert_eq!(add(&client, 1, 2).await.expect("a sum"), "3");
    within(client.close()).await;
}

// spec: 2026-07-28 N-STDIO-11
// hardening: H-168
#[tokio::test]
async fn the_error_of_a_crashed_server_has_its_last_standard_error() {
    let server = legacy("read -r line; read -r line; echo 'the disk is full' >&2; exit 3");
    let client = connect(EraMode::Legacy, server).await;

    let error = add(&client, 1, 2).await.expect_err("no answer");

    assert!(matches!(error, CallError::Disconnected { .. }), "{error}");
    let exit: &ChildExit = cause(&error);
    assert_eq!(exit.status().and_then(|status| status.code()), Some(3));
    assert_eq!(
        exit.to_string(),
        "sh ended (exit status: 3): the disk is full"
    );
}

// spec: 2026-07-28 N-STDIO-11
// hardening: H-168
#[tokio::test]
async fn the_error_of_a_server_that_ends_at_once_has_the_reason() {
    for mode in [EraMode::Auto, EraMode::Legacy] {
        let server = Command::new("sh").args(["-c", "echo 'TOKEN is not set' >&2; exit 2"]);
        let connected = within(Client::builder().mode(mode).connect(server)).await;

        let error = connected.expect_err("nobody is there");
        let exit: &ChildExit = cause(&error);
        assert_eq!(exit.stderr(), "TOKEN is not set\n", "{mode:?}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let connected = within(Client::connect(Command::new("no-such-program"))).await;

    let error = connected.expect_err("nobody is there");

    assert!(matches!(error, ConnectError::Unreachable(_)), "{error}");
    let refused: &SpawnError = cause(&error);
    assert!(matches!(refused, SpawnError::NotFound { program } if program == "no-such-program"));
}

/// The first process of this server ends during a call, the second works.
// spec: 2026-07-28 N-STDIO-11
#[tokio::test]
async fn the_next_call_starts_a_server_that_crashed_again() {
    let flag = scratch("crashed");
    let lines = format!(
        "if [ -e {0} ]; then exec {CALCULATOR}; fi; : >{0}; {CALCULATOR} | head -n 1",
        flag.display()
    );
    let server = Command::new("sh").args(["-c", &lines]).options(impatient());
    let client = connect(EraMode::Legacy, server).await;

    let lost = add(&client, 1, 2).await;
    assert!(
        matches!(lost, Err(CallError::Disconnected { .. })),
        "{lost:?}"
    );

    assert_eq!(add(&client, 1, 2).await.expect("a sum"), "3");
    within(client.close()).await;
    fs::remove_file(flag).expect("it was made");
}

#[tokio::test]
async fn the_example_starts_its_server_and_lists_its_tools() {
    let mut example = tokio::process::Command::new(env!("CARGO_BIN_EXE_child_process"));

    let output = within(example.output()).await.expect("it runs");

    assert_eq!(String::from_utf8_lossy(&output.stdout), "add\n");
    assert!(output.status.success(), "{output:?}");
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("pintle-{}-{name}", std::process::id()))
}
