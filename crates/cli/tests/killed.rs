//! The program is killed, which it cannot see coming: whatever it started ends all the same.

mod witness;

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use witness::Witness;

/// How long anything may take, before a test fails rather than hangs. It is over in a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many programs run at the same time.
const TOGETHER: usize = 25;

/// A server that leaves something behind, and becomes the showcase. The first argument is what the
/// witness reads, the second the program, the third what is left behind.
const SERVER: &str = r#"exec 9>"$0"; sh -c "$2" & echo $$ $! >&9; exec "$1" serve --stdio"#;

/// Ends when it is asked to.
const MEEK: &str = "exec sleep 1000";

/// Ends when it is killed.
const STUBBORN: &str = "trap '' TERM HUP; sleep 1000 & wait; sleep 1000";

/// When the program is killed.
#[derive(Debug, Clone, Copy)]
enum Moment {
    /// As soon as the server runs, and before anybody has said anything.
    Start,
    /// In the middle of a call.
    Call,
    /// While it waits for a line of its user.
    Shell,
}

// hardening: H-169
#[tokio::test]
async fn whoever_is_killed_a_hundred_times_leaves_nobody_behind() {
    let moments = [Moment::Start, Moment::Call, Moment::Shell];
    let rounds: Vec<_> = (0..100).zip(moments.into_iter().cycle()).collect();
    for together in rounds.chunks(TOGETHER) {
        let killed = together.iter().map(|(round, moment)| {
            let left = if round % 10 == 0 { STUBBORN } else { MEEK };
            tokio::spawn(killed(*round, *moment, left))
        });
        for killed in killed.collect::<Vec<_>>() {
            killed.await.expect("nobody is left");
        }
    }
}

/// Starts the program, kills it at a moment, and waits until everybody is gone.
async fn killed(round: usize, moment: Moment, left: &str) {
    let mut witness = Witness::new(round);
    let mut program = start(moment, &witness, left);
    let server = witness.server().await;
    until(moment, &mut program).await;
    assert!(server.runs(), "{moment:?}");

    program.start_kill().expect("killed");
    program.wait().await.expect("ended");

    let gone = async {
        witness.nobody().await;
        server.gone().await;
    };
    let gone = timeout(PATIENCE, gone).await;
    gone.unwrap_or_else(|_| panic!("round {round}, {moment:?}: somebody is left"));
}

fn start(moment: Moment, witness: &Witness, left: &str) -> Child {
    let words: &[&str] = match moment {
        Moment::Start => &["listen"],
        Moment::Call => &["call", "board", "call_sign=RECK", "cables=100"],
        Moment::Shell => &["shell"],
    };
    let program = env!("CARGO_BIN_EXE_pintle");
    let mut command = Command::new(program);
    command.args(words).args(["--", "sh", "-c", SERVER]);
    command.arg(witness.path()).args([program, left]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command.spawn().expect("starts")
}

/// Waits until the program is where it is to be killed.
async fn until(moment: Moment, program: &mut Child) {
    match moment {
        Moment::Start => {}
        Moment::Call => {
            // The first sign of progress.
            let notes = program.stderr.take().expect("piped");
            line_of(notes).await;
        }
        Moment::Shell => {
            use tokio::io::AsyncWriteExt as _;
            let mut input = program.stdin.take().expect("piped");
            input
                .write_all(b"berth name=fish-quay\n")
                .await
                .expect("it reads");
            line_of(program.stdout.take().expect("piped")).await;
            // The shell reads on: its input stays open.
            program.stdin = Some(input);
        }
    }
}

async fn line_of(stream: impl tokio::io::AsyncRead + Unpin) {
    let mut line = String::new();
    let mut stream = BufReader::new(stream);
    let read = timeout(PATIENCE, stream.read_line(&mut line)).await;
    let length = read.expect("in time").expect("readable");
    assert!(length > 0, "it ended without a word");
}
