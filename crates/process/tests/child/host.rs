//! A killed host leaves no server behind, and no descendant of a server.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use tokio::io::AsyncReadExt as _;

use crate::child::processes::{
    MARK, TEST_TIMEOUT, await_end, await_none, group_of, marked, new_mark, script,
};

/// The variable that turns this test into the host that is killed.
const SERVER: &str = "PINTLE_TEST_SERVER";
/// Number of hosts at a time.
const AT_ONCE: usize = 50;

/// Servers of a host: one that ends at the end of its input; one that ignores it and signals; one
/// behind wrappers like `npx` and `sh -c`.
const SERVERS: [&str; 3] = [
    "echo up; exec cat",
    "trap '' TERM HUP INT; echo up; exec sleep 1000",
    "trap '' TERM; sh -c 'sh -c \"sleep 1000; true\"; true' & echo up; wait",
];

/// Half of the hosts are killed when their server runs, the others while they start it.
// hardening: H-169
#[test]
fn nothing_outlives_a_host_that_is_killed_a_hundred_times() {
    if let Ok(lines) = std::env::var(SERVER) {
        return run_host(&lines);
    }
    for _ in 0..100 / AT_ONCE {
        let marks: Vec<String> = (0..AT_ONCE / 2)
            .map(|number| Host::start(number).kill_early())
            .collect();
        let hosts: Vec<Host> = (0..AT_ONCE / 2).map(Host::start).collect();
        let killed: Vec<(String, u32)> = hosts.into_iter().map(Host::kill_late).collect();
        for (mark, keeper) in killed {
            await_none(&mark);
            await_end(keeper, Instant::now() + TEST_TIMEOUT);
        }
        marks.iter().for_each(|mark| await_none(mark));
    }
}

/// Another process of this test program.
struct Host {
    process: Child,
    output: Lines<BufReader<ChildStdout>>,
    mark: String,
}

impl Host {
    fn start(number: usize) -> Self {
        let mark = new_mark();
        let name = "child::host::nothing_outlives_a_host_that_is_killed_a_hundred_times";
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args([name, "--exact", "--nocapture"])
            .env(SERVER, SERVERS[number % SERVERS.len()])
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(process.stdout.take().expect("piped")).lines();
        Self {
            process,
            output,
            mark,
        }
    }

    /// Kills the host while it starts its server. Returns the host's mark.
    fn kill_early(mut self) -> String {
        self.read_after("begins");
        self.kill()
    }

    /// Kills the host when its server runs. Returns the host's mark and the id of the keeper.
    fn kill_late(mut self) -> (String, u32) {
        let server = self.read_after("has server ").parse().expect("an id");
        assert!(marked(&self.mark).contains(&server));
        let keeper = group_of(server);
        (self.kill(), keeper)
    }

    fn kill(mut self) -> String {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ended");
        self.mark
    }

    /// Waits for a line that contains `word`, and returns the text after the word.
    fn read_after(&mut self, word: &str) -> String {
        let lines = self.output.by_ref().map(|line| line.expect("text"));
        let mut after = lines.filter_map(|line| Some(line.split_once(word)?.1.to_owned()));
        after.next().expect("such a line")
    }
}

/// Starts the server, prints its id, and waits to be killed.
#[expect(clippy::print_stdout, reason = "another process reads it")]
fn run_host(lines: &str) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        println!("begins");
        let mark = std::env::var(MARK).expect("it is set");
        let mut server = script(lines, &mark).start().expect("it starts");
        server.stdout.read_u8().await.expect("it is up");
        println!("has server {}", server.supervisor.id());
        std::future::pending::<()>().await;
    });
}
