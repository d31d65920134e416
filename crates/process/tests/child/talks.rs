//! Conversations with a process: how they end, and how often they begin again.

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

use crate::child::processes::{PATIENCE, await_none, marked, new_mark, script};

/// A line that a server may write at any time.
const NOTICE: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

type Driver = JoinHandle<Result<(), TransportError>>;

/// A client of a server, with a call in flight.
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
    timeout(PATIENCE, future).await.expect("in time")
}

/// How a conversation with a server ends that ends itself.
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
async fn a_call_during_which_the_server_dies_says_how_it_died() {
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

fn lines(said: &[u8]) -> usize {
    said.iter().filter(|byte| **byte == b'\n').count()
}

/// The server repeats what it reads where it does no harm.
// spec: 2025-11-25 TRANS-STDIO-02, TRANS-STDIO-03, TRANS-STDIO-08
// spec: 2026-07-28 N-STDIO-01, N-STDIO-03, N-STDIO-07
#[tokio::test]
async fn what_a_server_reads_is_messages_one_a_line() {
    let (said, mut heard) = watch::channel(Vec::new());
    let listener = move |bytes: &[u8]| said.send_modify(|said| said.extend_from_slice(bytes));
    let command = script("cat >&2", &new_mark()).on_stderr(listener);
    let transport = within(command.connect()).await.expect("it starts");
    let (peer, call, driver) = calling(transport);
    let name = Value::from("two\nlines\r\nand \u{2028} more");
    let params = JsonObject::from_iter([("name".to_owned(), name.clone())]);
    let other = peer.call(NewCall::new("tools/call", params)).expect("room");
    within(heard.wait_for(|said| lines(said) == 2))
        .await
        .expect("a listener");
    drop(call);
    within(heard.wait_for(|said| lines(said) == 3))
        .await
        .expect("a listener");

    peer.close();

    within(driver).await.expect("no panic").expect("a good end");
    within(other.outcome()).await.expect_err("it is over");
    let heard = String::from_utf8(heard.borrow().clone()).expect("text");
    let messages = heard
        .lines()
        .map(|line| serde_json::from_str(line).expect(line));
    let messages: Vec<Value> = messages.collect();
    let methods: Vec<_> = messages.iter().map(|message| &message["method"]).collect();
    let cancelled = "notifications/cancelled";
    assert_eq!(methods, ["tools/list", "tools/call", cancelled, cancelled]);
    let ids = [2, 3].map(|at: usize| &messages[at]["params"]["requestId"]);
    assert_eq!(ids, [&messages[0]["id"], &messages[1]["id"]]);
    assert_eq!(messages[1]["params"]["name"], name);
    assert!(heard.ends_with('\n'), "{heard}");
}

/// What is written to it fails as soon as it has ended, which says nothing about its answer.
#[tokio::test]
async fn a_server_that_answers_and_leaves_has_answered() {
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
        within(other.outcome()).await.expect_err("nobody is left");
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
async fn a_server_that_closes_its_output_is_let_go() {
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
    let command = script("exec >&-; exec sleep 1000", &mark).options(impatient());

    let error = lost(&command).await;

    assert_eq!(error.kind(), TransportErrorKind::Disconnected);
    spawn_blocking(move || await_none(&mark))
        .await
        .expect("it ends");
}

/// It is told from a server that ended, and is not waited for.
// spec: 2026-07-28 N-STDIO-14
#[tokio::test]
async fn a_line_beyond_the_limit_ends_the_conversation_and_the_process() {
    let mark = new_mark();
    let lines = format!("echo '{NOTICE}'; head -c 2000 /dev/zero | tr '\\0' x; exec sleep 1000");
    let mut streams = StreamOptions::default();
    streams.max_line_bytes = 1000;
    let command = script(&lines, &mark).options(impatient());

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
        let command = script(lines, &mark).options(impatient());
        let transport = within(command.connect()).await.expect("it starts");
        let (peer, call, driver) = calling(transport);

        peer.close();

        assert_eq!(
            within(call.outcome()).await.unwrap_err(),
            PeerCallError::Closed
        );
        within(driver).await.expect("no panic").expect("a good end");
        // The kernel may take a moment to bury what it has killed.
        spawn_blocking(move || await_none(&mark))
            .await
            .expect("it ends");
    }
}

#[tokio::test]
async fn a_conversation_that_is_dropped_takes_its_process_along() {
    let mark = new_mark();
    let command = script("trap '' TERM; exec sleep 1000", &mark).options(impatient());
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
async fn a_server_that_crashes_in_a_loop_is_left_alone() {
    let mut options = impatient();
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
    let mut options = impatient();
    (options.restart_delay, options.max_restart_delay) = (HOUR, HOUR);
    let command = script(&format!("echo '{NOTICE}'; exit 1"), &new_mark()).options(options);
    lost(&command).await;

    tokio::time::pause();
    let asked = tokio::time::Instant::now();
    command.connect().await.expect("it starts");

    // Whatever passed since the end is part of the wait.
    assert!(asked.elapsed() > HOUR - PATIENCE, "{:?}", asked.elapsed());
    assert!(asked.elapsed() < HOUR + PATIENCE, "{:?}", asked.elapsed());
}

#[tokio::test]
async fn what_does_not_start_cannot_be_reached() {
    let error = Command::new("no-such-program")
        .connect()
        .await
        .expect_err("nothing");

    assert_eq!(error.kind(), TransportErrorKind::Unreachable);
    let said = "the server cannot be reached: there is no program no-such-program to start";
    assert_eq!(error.to_string(), said);
}

#[test]
fn a_server_is_known_again_by_what_it_is_started_with() {
    let server = || {
        Command::new("npx")
            .args(["-y", "some-server"])
            .env("TOKEN", "one")
    };
    let key = |command: Command| command.key().expect("it has one");

    let known = key(server());
    assert_eq!(known, key(server()));
    assert_eq!(
        known,
        key(server().env("TOKEN", "two")),
        "a secret says nothing"
    );
    assert_ne!(known, key(server().arg("--legacy")));
    assert_ne!(known, key(server().current_dir("/")));
    assert_ne!(known, key(server().env("MODE", "legacy")));
}

/// Graces of a server from which nothing good is expected.
fn impatient() -> ChildOptions {
    let mut options = ChildOptions::default();
    options.exit_timeout = Duration::from_millis(100);
    options.terminate_timeout = Duration::from_millis(100);
    options.restart_delay = Duration::from_millis(1);
    options
}
