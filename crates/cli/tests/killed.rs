//! The program is killed without notice. Every process that it started ends all the same.

mod witness;

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use witness::Witness;

/// Maximum time of a wait. A test then fails, so that it cannot hang. It normally ends in a second.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Number of programs that run at the same time.
const CONCURRENCY: usize = 25;

/// A server that starts a descendant and becomes the showcase. Its arguments: the pipe of the
/// witness, the program, and the script of the descendant.
const SERVER: &str = r#"exec 9>"$0"; sh -c "$2" & echo $$ $! >&9; exec "$1" serve --stdio"#;

/// Ends on `SIGTERM`.
const OBEDIENT: &str = "exec sleep 1000";

/// Ends only when it is killed.
const STUBBORN: &str = "trap '' TERM HUP; sleep 1000 & wait; sleep 1000";

const INITIALIZE: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}
"#;

/// The moment when the program is killed.
#[derive(Debug, Clone, Copy)]
enum KillPoint {
    /// As soon as the server runs, before any message.
    Start,
    /// In the middle of a call.
    Call,
    /// While a shell waits for a line.
    Shell,
    /// While it passes the messages of another client.
    Tap,
    /// While it serves another server.
    Bridge,
    /// While it is the host of a program that serves another server.
    Host,
    /// While it serves another server, which is killed, and not the program.
    Child,
}

// hardening: H-169
#[tokio::test]
async fn a_program_killed_a_hundred_times_leaves_no_process_behind() {
    let kill_points = [
        KillPoint::Start,
        KillPoint::Call,
        KillPoint::Shell,
        KillPoint::Tap,
    ];
    kill_all((0..100).zip(kill_points.into_iter().cycle()).collect()).await;
}

#[tokio::test]
async fn a_bridge_its_host_and_its_server_killed_leave_no_process_behind() {
    let kill_points = [KillPoint::Bridge, KillPoint::Host, KillPoint::Child];
    kill_all((100..202).zip(kill_points.into_iter().cycle()).collect()).await;
}

async fn kill_all(rounds: Vec<(usize, KillPoint)>) {
    for group in rounds.chunks(CONCURRENCY) {
        let killed = group.iter().map(|(round, kill_point)| {
            let left = if round % 10 == 0 { STUBBORN } else { OBEDIENT };
            tokio::spawn(killed(*round, *kill_point, left))
        });
        for killed in killed.collect::<Vec<_>>() {
            killed.await.expect("no process is left");
        }
    }
}

/// Starts the program, kills it at a moment, and waits for the end of all its processes.
async fn killed(round: usize, kill_point: KillPoint, left: &str) {
    let mut witness = Witness::new(round);
    let mut program = start(kill_point, &witness, left);
    if let KillPoint::Bridge | KillPoint::Child = kill_point {
        begin(&mut program).await;
    }
    let server = witness.server().await;
    until(kill_point, &mut program).await;
    assert!(server.runs(), "{kill_point:?}");

    match kill_point {
        KillPoint::Child => server.kill(),
        _ => {
            program.start_kill().expect("killed");
            program.wait().await.expect("ended");
        }
    }

    let gone = async {
        witness.closed().await;
        server.ended().await;
    };
    let gone = timeout(TEST_TIMEOUT, gone).await;
    gone.unwrap_or_else(|_| panic!("round {round}, {kill_point:?}: a process is left"));
}

fn start(kill_point: KillPoint, witness: &Witness, left: &str) -> Child {
    let words: &[&str] = match kill_point {
        KillPoint::Start => &["listen"],
        KillPoint::Call => &["call", "board", "call_sign=RECK", "cables=100"],
        KillPoint::Shell => &["shell"],
        KillPoint::Tap => &["tap"],
        KillPoint::Bridge | KillPoint::Host | KillPoint::Child => &["serve", "--stdio"],
    };
    let program = env!("CARGO_BIN_EXE_pintle");
    let mut command = Command::new(program);
    if let KillPoint::Host = kill_point {
        command.args([
            "call",
            "board",
            "call_sign=RECK",
            "cables=100",
            "--",
            program,
        ]);
    }
    command.args(words).args(["--", "sh", "-c", SERVER]);
    command.arg(witness.path()).args([program, left]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command.spawn().expect("starts")
}

/// Sends the first message of a host, because a bridge on standard streams waits for it.
async fn begin(program: &mut Child) {
    use tokio::io::AsyncWriteExt as _;
    let input = program.stdin.as_mut().expect("piped");
    input.write_all(INITIALIZE).await.expect("it reads");
}

/// Waits until the program reaches the moment.
async fn until(kill_point: KillPoint, program: &mut Child) {
    match kill_point {
        KillPoint::Start | KillPoint::Tap => {}
        KillPoint::Bridge | KillPoint::Child => {
            line_of(program.stdout.take().expect("piped")).await;
        }
        KillPoint::Call | KillPoint::Host => {
            // The first line is a notification of progress.
            let notes = program.stderr.take().expect("piped");
            line_of(notes).await;
        }
        KillPoint::Shell => {
            use tokio::io::AsyncWriteExt as _;
            let mut input = program.stdin.take().expect("piped");
            input
                .write_all(b"berth name=fish-quay\n")
                .await
                .expect("it reads");
            line_of(program.stdout.take().expect("piped")).await;
            // The input stays open, so that the shell waits for the next line.
            program.stdin = Some(input);
        }
    }
}

async fn line_of(stream: impl tokio::io::AsyncRead + Unpin) {
    let mut line = String::new();
    let mut stream = BufReader::new(stream);
    let read = timeout(TEST_TIMEOUT, stream.read_line(&mut line)).await;
    let length = read.expect("in time").expect("readable");
    assert!(length > 0, "it ended without a line");
}
