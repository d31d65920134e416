//! Ends of servers: on their own, on request, or by force. No process is left.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pintle_process::{ChildExit, ChildOptions, ChildServer, Command};
use tokio::io::AsyncReadExt as _;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::child::processes::{
    Scratch, TEST_TIMEOUT, await_end, await_none, group_of, marked, new_mark, script,
};

/// Options with short timeouts, for a server that ignores requests to end.
fn short_timeouts() -> ChildOptions {
    let mut options = ChildOptions::default();
    options.exit_timeout = Duration::from_millis(100);
    options.terminate_timeout = Duration::from_millis(100);
    options
}

/// Starts a server and waits until it writes `up`.
async fn up(command: Command) -> ChildServer {
    let mut server = command.start().expect("it starts");
    let mut word = [0; 3];
    let read = timeout(TEST_TIMEOUT, server.stdout.read_exact(&mut word)).await;
    read.expect("in time").expect("three bytes");
    assert_eq!(&word, b"up\n");
    server
}

async fn end(server: ChildServer) -> ChildExit {
    timeout(TEST_TIMEOUT, server.end()).await.expect("in time")
}

// spec: 2025-11-25 LIFE-20
// spec: 2026-07-28 N-STDIO-08
#[tokio::test]
async fn the_end_of_its_input_is_enough_for_most_servers() {
    let mark = new_mark();
    let server = up(script("echo up; cat; echo bye >&2", &mark)).await;

    let exit = end(server).await;

    assert_eq!(exit.status().and_then(|status| status.code()), Some(0));
    assert_eq!(exit.stderr(), "bye\n");
    assert!(exit.was_asked());
    assert!(marked(&mark).is_empty());
}

#[tokio::test]
async fn a_server_that_exits_before_its_end_is_handled_was_asked() {
    let server = up(script("echo up; cat", &new_mark())).await;
    let supervisor = server.supervisor;
    drop(server.stdin);
    supervisor.begin_end();

    // The task that supervises the server does not run meanwhile.
    await_end(supervisor.id(), Instant::now() + TEST_TIMEOUT);

    assert!(supervisor.ended().await.was_asked());
}

// spec: 2025-11-25 LIFE-20
// spec: 2026-07-28 N-STDIO-08
// hardening: H-169
#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_is_asked_to_end() {
    let mark = new_mark();
    let lines = "trap 'echo asked >&2; exit 7' TERM; echo up; while :; do sleep 1000 & wait; done";
    let server = up(script(lines, &mark).options(short_timeouts())).await;

    let exit = end(server).await;

    assert_eq!(exit.status().and_then(|status| status.code()), Some(7));
    assert_eq!(exit.stderr(), "asked\n");
    assert!(marked(&mark).is_empty());
}

// spec: 2025-11-25 LIFE-20
// spec: 2026-07-28 N-STDIO-08
// hardening: H-169
#[tokio::test]
async fn a_server_that_ignores_the_request_too_is_killed_with_its_group() {
    let mark = new_mark();
    let lines = "trap '' TERM; (sleep 1000 & echo up; wait) & exec sleep 1000";
    let server = up(script(lines, &mark).options(short_timeouts())).await;
    assert!(marked(&mark).len() >= 3, "the server has descendants");

    let exit = end(server).await;

    assert_eq!(exit.status().and_then(|status| status.signal()), Some(9));
    await_none(&mark);
}

// hardening: H-169
#[tokio::test]
async fn a_descendant_is_ended_with_its_server() {
    let mark = new_mark();
    let server = up(script("sleep 1000 & echo up; cat", &mark)).await;

    let exit = end(server).await;

    assert_eq!(exit.status().and_then(|status| status.code()), Some(0));
    await_none(&mark);
}

// hardening: H-169
#[tokio::test]
async fn a_descendant_without_streams_is_ended_with_its_server() {
    let mark = new_mark();
    let lines = "trap '' TERM; sleep 1000 </dev/null >/dev/null 2>&1 & echo up; cat";
    let server = up(script(lines, &mark)).await;

    end(server).await;

    await_none(&mark);
}

#[tokio::test]
async fn descendants_can_outlive_their_server_for_a_time() {
    let mark = new_mark();
    let mut options = short_timeouts();
    options.descendants_timeout = TEST_TIMEOUT * 2;
    let lines = "sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; echo up; cat";
    let mut server = script(lines, &mark)
        .options(options)
        .start()
        .expect("it starts");
    let mut id = Vec::new();
    while !id.ends_with(b"up\n") {
        id.push(server.stdout.read_u8().await.expect("output"));
    }
    let leader = server.supervisor.id();
    drop(server.stdin);
    let deadline = Instant::now() + TEST_TIMEOUT;
    spawn_blocking(move || await_end(leader, deadline))
        .await
        .expect("it ends");

    assert_eq!(marked(&mark).len(), 1, "the descendant is left");

    let id = String::from_utf8(id).expect("text");
    let id: u32 = id
        .lines()
        .next()
        .and_then(|id| id.parse().ok())
        .expect("an id");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(id.cast_signed()).expect("an id"),
        rustix::process::Signal::KILL,
    )
    .expect("killed");
}

// spec: 2025-11-25 TRANS-STDIO-05
// hardening: H-168
#[tokio::test]
async fn the_end_of_a_failed_server_has_its_status_and_stderr() {
    let mark = new_mark();
    let command = script("echo no configuration >&2; exit 3", &mark);
    let server = command.start().expect("it starts");

    let exit = timeout(TEST_TIMEOUT, server.supervisor.ended())
        .await
        .expect("in time");

    assert!(!exit.was_asked());
    assert_eq!(
        exit.to_string(),
        "sh ended (exit status: 3): no configuration"
    );
    let status = exit.status().expect("known");
    assert_eq!(status.code(), Some(3));
}

// spec: 2025-11-25 TRANS-STDIO-06
// spec: 2026-07-28 N-STDIO-04
#[tokio::test]
async fn output_on_standard_error_is_not_a_failure() {
    let mark = new_mark();
    let server = up(script("echo ERROR: fatal >&2; echo up; cat", &mark)).await;

    let exit = end(server).await;

    assert_eq!(exit.status().and_then(|status| status.code()), Some(0));
    assert_eq!(exit.stderr(), "ERROR: fatal\n");
}

// hardening: H-167
#[tokio::test]
async fn a_flood_on_standard_error_is_read_and_its_end_is_stored() {
    let mark = new_mark();
    let lines = "head -c 100000000 /dev/zero | tr '\\0' x >&2; echo done >&2; echo up; cat";
    let server = up(script(lines, &mark)).await;

    let exit = end(server).await;

    assert_eq!(exit.stderr().len(), 64 << 10);
    assert!(exit.stderr().ends_with("xxxdone\n"));
}

// spec: 2025-11-25 TRANS-STDIO-05
#[tokio::test]
async fn a_listener_gets_the_bytes_of_standard_error() {
    let (mark, received) = (new_mark(), Arc::new(Mutex::new(Vec::new())));
    let listener = {
        let received = Arc::clone(&received);
        move |bytes: &[u8]| received.lock().expect("free").extend_from_slice(bytes)
    };
    let server =
        up(script("echo one >&2; echo up; cat; echo two >&2", &mark).on_stderr(listener)).await;

    end(server).await;

    assert_eq!(*received.lock().expect("free"), b"one\ntwo\n");
}

#[tokio::test]
async fn a_dropped_server_is_ended() {
    let mark = new_mark();
    let lines = "trap '' TERM; sleep 1000 & echo up; exec sleep 1000";
    let server = up(script(lines, &mark).options(short_timeouts())).await;

    drop(server);

    // Another thread awaits the end, because a blocked runtime could not end the server.
    let awaited = spawn_blocking(move || await_none(&mark));
    awaited.await.expect("it ends");
}

#[test]
fn a_server_ends_with_the_runtime_that_watched_it() {
    let mark = new_mark();
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    let lines = "trap '' TERM; sleep 1000 & echo up; exec sleep 1000";
    let server = runtime.block_on(up(script(lines, &mark)));

    drop(runtime);

    await_none(&mark);
    drop(server);
}

#[tokio::test]
async fn no_keeper_is_left_when_its_server_has_ended() {
    let mark = new_mark();
    let server = up(script("echo up; cat", &mark)).await;
    let keeper = group_of(server.supervisor.id());

    end(server).await;

    await_end(keeper, Instant::now());
}

#[tokio::test]
async fn no_keeper_is_left_when_its_server_did_not_start() {
    let scratch = Scratch::new();
    let file = scratch.path().join("broken");
    std::fs::write(&file, b"\x7fELF but not really").expect("written");
    std::fs::set_permissions(&file, Permissions::from_mode(0o755)).expect("set");
    let before = children();

    Command::new(&file).start().expect_err("no program");

    let deadline = Instant::now() + TEST_TIMEOUT;
    let since = children().into_iter().filter(|id| !before.contains(id));
    let ends = since.map(|id| spawn_blocking(move || await_end(id, deadline)));
    for end in ends.collect::<Vec<_>>() {
        end.await.expect("it ends");
    }
}

/// Returns the children of this thread, which is the only one that starts servers in this test.
fn children() -> Vec<u32> {
    let list = std::fs::read_to_string("/proc/thread-self/children").expect("a list");
    let ids = list.split_whitespace().map(str::parse);
    ids.map(|id| id.expect("an id")).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_with_too_much_memory_is_killed_with_its_descendants() {
    let mark = new_mark();
    let mut options = short_timeouts();
    options.max_memory_bytes = Some(64 << 20);
    // The descendant collects a text of 128 MiB and goes on.
    let lines = "trap '' TERM; sh -c 'x=$(head -c 134217728 /dev/zero | tr \\\\0 x); sleep 1000; true' & echo up; wait";
    let server = up(script(lines, &mark).options(options)).await;

    let exit = timeout(TEST_TIMEOUT, server.supervisor.ended()).await;

    let exit = exit.expect("in time");
    assert!(exit.was_too_large() && !exit.was_asked());
    assert!(exit.to_string().contains("more memory"), "{exit}");
    await_none(&mark);
}
