//! Conversations with a process: their ends, and restarts of the process.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use pintle_model::{ClientCapabilities, Implementation, JsonObject, Revision};
use pintle_process::{ChildExit, ChildOptions, ChildTransport, Command, SpawnError};
use pintle_proto::{Connection, NewCall, PeerCallError, TransportError, TransportErrorKind};
use pintle_runtime::{Connect as _, Peer, PeerCall, StreamOptions, drive};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use crate::child::processes::{TEST_TIMEOUT, await_none, marked, new_mark, script};

/// A message that a server may write at any time.
const NOTICE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

type Driver = JoinHandle<Result<(), TransportError>>;

/// Starts a client of a server, with a call in flight.
fn calling(transport: ChildTransport) -> (Peer, PeerCall, Driver) {
    let identity = Implementation::new("t", "1");
    let engine = Connection::client(identity, ClientCapabilities::default(), Arc::default());
    let peer = Peer::new(engine);
    peer.with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    let call = peer.call(NewCall::new("tools/list", JsonObject::new()));
    let driven = peer.clone();
    let driver = tokio::spawn(async move { drive(driven, transport, drop).await });
    (peer, call.expect("room"), driver)
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(TEST_TIMEOUT, future).await.expect("in time")
}

/// Returns the error of a conversation with a server that ends on its own.
async fn lost(command: &Command) -> TransportError {
    let transport = within(command.connect()).await.expect("it starts");
    let (_peer, call, driver) = calling(transport);
    let outcome = within(call.outcome()).await.expect_err("no answer");
    let PeerCallError::Lost(error) = outcome else {
        panic!("{outcome}")
    };
    let end = within(driver).await.expect("no panic");
    assert_eq!(end, Err(error.clone()));
    error
}

// spec: 2026-07-28 N-STDIO-11
// hardening: H-168
#[tokio::test]
async fn a_call_fails_with_the_exit_of_the_server_that_died() {
    let command = script("read line; echo out of memory >&2; exit 3", &new_mark());

    let error = lost(&command).await;

    assert_eq!(error.kind(), TransportErrorKind::ProcessExited);
    assert_eq!(
        error.to_string(),
        "the server's process ended: exit status: 3"
    );
    let exit: &ChildExit = error
        .source()
        .expect("a cause")
        .downcast_ref()
        .expect("this one");
    assert_eq!(exit.status().and_then(|status| status.code()), Some(3));
    assert_eq!(exit.to_string(), "sh ended (exit status: 3): out of memory");
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The server copies its input to standard error, where the client ignores it.
// spec: 2025-11-25 TRANS-STDIO-02, TRANS-STDIO-03, TRANS-STDIO-08
// spec: 2026-07-28 N-STDIO-01, N-STDIO-03, N-STDIO-07
#[tokio::test]
async fn a_server_reads_one_message_per_line() {
    let (input, mut inputs) = watch::channel(Vec::new());
    let listener = move |bytes: &[u8]| input.send_modify(|input| input.extend_from_slice(bytes));
    let command = script("cat >&2", &new_mark()).on_stderr(listener);
    let transport = within(command.connect()).await.expect("it starts");
    let (peer, call, driver) = calling(transport);
    let name = Value::from("two\nlines\r\nand \u{2028} more");
    let params = JsonObject::from_iter([("name".to_owned(), name.clone())]);
    let other = peer.call(NewCall::new("tools/call", params)).expect("room");
    within(inputs.wait_for(|input| lines(input) == 2))
        .await
        .expect("a listener");
    drop(call);
    within(inputs.wait_for(|input| lines(input) == 3))
        .await
        .expect("a listener");

    peer.close();

    within(driver).await.expect("no panic").expect("a good end");
    within(other.outcome()).await.expect_err("it is over");
    let input = String::from_utf8(inputs.borrow().clone()).expect("text");
    let messages = input
        .lines()
        .map(|line| serde_json::from_str(line).expect(line));
    let messages: Vec<Value> = messages.collect();
    let methods: Vec<_> = messages.iter().map(|message| &message["method"]).collect();
    let cancelled = "notifications/cancelled";
    assert_eq!(methods, ["tools/list", "tools/call", cancelled, cancelled]);
    let ids = [2, 3].map(|at: usize| &messages[at]["params"]["requestId"]);
    assert_eq!(ids, [&messages[0]["id"], &messages[1]["id"]]);
    assert_eq!(messages[1]["params"]["name"], name);
    assert!(input.ends_with('\n'), "{input}");
}

/// A write to the server fails after its exit. The client must read its answer all the same.
#[tokio::test]
async fn the_answer_of_a_server_that_exits_is_received() {
    let lines = r#"read -r line; id=${line#*'"id":'}; id=${id%%[,\}]*}
        echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"resultType":"complete","tools":[]}}'"#;
    for _ in 0..8 {
        let command = script(lines, &new_mark());
        let transport = within(command.connect()).await.expect("it starts");
        let (peer, call, driver) = calling(transport);
        let long = JsonObject::from_iter([("name".to_owned(), "x".repeat(1 << 20).into())]);
        let other = peer.call(NewCall::new("tools/call", long)).expect("room");

        let answer = within(call.outcome()).await.expect("an answer");

        assert!(answer.get().contains("tools"), "{answer}");
        within(other.outcome())
            .await
            .expect_err("the server has exited");
        let end = within(driver).await.expect("no panic");
        assert_eq!(
            end.map_err(|error| error.kind()),
            Err(TransportErrorKind::ProcessExited)
        );
    }
}

// spec: 2026-07-28 N-STDIO-10
// spec: 2025-11-25 LIFE-21
#[tokio::test]
async fn a_server_that_closes_its_output_may_exit_on_its_own() {
    let mark = new_mark();
    let command = script(
        "exec >&-; while read -r line; do :; done; echo bye >&2",
        &mark,
    );

    let error = lost(&command).await;

    let exit: &ChildExit = error
        .source()
        .expect("a cause")
        .downcast_ref()
        .expect("this one");
    assert_eq!(exit.to_string(), "sh ended (exit status: 0): bye");
    assert!(marked(&mark).is_empty());
}

#[tokio::test]
async fn a_server_that_closes_its_output_and_stays_is_ended() {
    let mark = new_mark();
    let command = script("exec >&-; exec sleep 1000", &mark).options(short_timeouts());

    let error = lost(&command).await;

    assert_eq!(error.kind(), TransportErrorKind::Disconnected);
    spawn_blocking(move || await_none(&mark))
        .await
        .expect("it ends");
}

/// The error differs from that of a server that exited. The client does not wait for the exit.
// spec: 2026-07-28 N-STDIO-14
#[tokio::test]
async fn a_line_beyond_the_limit_ends_the_conversation_and_the_process() {
    let mark = new_mark();
    let lines = format!("echo '{NOTICE}'; head -c 2000 /dev/zero | tr '\\0' x; exec sleep 1000");
    let mut streams = StreamOptions::default();
    streams.max_line_bytes = 1000;
    let command = script(&lines, &mark).options(short_timeouts());

    let error = lost(&command.stream_options(streams)).await;

    assert_eq!(error, TransportErrorKind::TooLarge.into());
    spawn_blocking(move || await_none(&mark))
        .await
        .expect("it ends");
}

// spec: 2025-11-25 LIFE-20, LIFE-19
// spec: 2026-07-28 N-STDIO-08
#[tokio::test]
async fn closing_waits_for_the_end_of_the_process() {
    for lines in [
        "cat >/dev/null",
        "trap '' TERM; sleep 1000 & exec sleep 1000",
    ] {
        let mark = new_mark();
        let command = script(lines, &mark).options(short_timeouts());
        let transport = within(command.connect()).await.expect("it starts");
        let (peer, call, driver) = calling(transport);

        peer.close();

        assert_eq!(
            within(call.outcome()).await.unwrap_err(),
            PeerCallError::Closed
        );
        within(driver).await.expect("no panic").expect("a good end");
        // The kernel may take a moment to remove a killed process.
        spawn_blocking(move || await_none(&mark))
            .await
            .expect("it ends");
    }
}

#[tokio::test]
async fn a_dropped_conversation_ends_its_process() {
    let mark = new_mark();
    let command = script("trap '' TERM; exec sleep 1000", &mark).options(short_timeouts());
    let transport = within(command.connect()).await.expect("it starts");
    let (_peer, _call, driver) = calling(transport);

    driver.abort();

    spawn_blocking(move || await_none(&mark))
        .await
        .expect("it ends");
}

// spec: 2026-07-28 N-STDIO-11
// hardening: H-185
#[tokio::test]
async fn a_server_that_crashes_in_a_loop_is_not_started_for_a_while() {
    let mut options = short_timeouts();
    options.max_restarts = 3;
    let command = script(
        &format!("echo '{NOTICE}'; echo no >&2; exit 1"),
        &new_mark(),
    );
    let command = command.options(options);
    for _ in 0..3 {
        assert_eq!(
            lost(&command).await.kind(),
            TransportErrorKind::ProcessExited
        );
    }

    let error = within(command.clone().connect())
        .await
        .expect_err("too often");

    assert_eq!(error.kind(), TransportErrorKind::Unreachable);
    let cause: &SpawnError = error
        .source()
        .expect("a cause")
        .downcast_ref()
        .expect("this one");
    let SpawnError::Crashing {
        times: 3,
        last: Some(last),
        ..
    } = cause
    else {
        panic!("{cause}")
    };
    assert_eq!(last.stderr(), "no\n");
}

// spec: 2026-07-28 N-STDIO-11
// hardening: H-185
#[tokio::test]
async fn a_server_that_crashed_is_started_again_after_a_wait() {
    const HOUR: Duration = Duration::from_secs(3600);
    let mut options = short_timeouts();
    (options.restart_delay, options.max_restart_delay) = (HOUR, HOUR);
    let command = script(&format!("echo '{NOTICE}'; exit 1"), &new_mark()).options(options);
    lost(&command).await;

    tokio::time::pause();
    let begin = tokio::time::Instant::now();
    command.connect().await.expect("it starts");

    // The time since the end of the server is part of the wait.
    assert!(
        begin.elapsed() > HOUR - TEST_TIMEOUT,
        "{:?}",
        begin.elapsed()
    );
    assert!(
        begin.elapsed() < HOUR + TEST_TIMEOUT,
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test]
async fn a_server_that_does_not_start_is_unreachable() {
    let error = Command::new("no-such-program")
        .connect()
        .await
        .expect_err("nothing");

    assert_eq!(error.kind(), TransportErrorKind::Unreachable);
    let text = "the server cannot be reached: there is no program no-such-program to start";
    assert_eq!(error.to_string(), text);
}

#[test]
fn the_key_of_a_server_depends_on_its_command_without_values() {
    let server = || {
        Command::new("npx")
            .args(["-y", "some-server"])
            .env("TOKEN", "one")
    };
    let key = |command: Command| command.key().expect("it has one");

    let first = key(server());
    assert_eq!(first, key(server()));
    assert_eq!(
        first,
        key(server().env("TOKEN", "two")),
        "the key does not depend on a secret"
    );
    assert_ne!(first, key(server().arg("--legacy")));
    assert_ne!(first, key(server().current_dir("/")));
    assert_ne!(first, key(server().env("MODE", "legacy")));
}

/// Options with short timeouts, for a server that ignores requests to end.
fn short_timeouts() -> ChildOptions {
    let mut options = ChildOptions::default();
    options.exit_timeout = Duration::from_millis(100);
    options.terminate_timeout = Duration::from_millis(100);
    options.restart_delay = Duration::from_millis(1);
    options
}
