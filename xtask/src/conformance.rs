//! The official conformance suite, run against our conformance server and our client.
//!
//! `conformance/expected.txt` says for every scenario of both requirement sets whether it passes.
//! The list has to be true in both directions: a scenario that fails though it should pass is a
//! fault, and so is one that passes though it is listed as coming later.

mod bridge;
mod client;
mod expected;
mod judge;
mod replicas;
mod suite;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::{self, Guard};
use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

pub(crate) use self::bridge::check as check_bridge;
use self::expected::Expected;
pub(crate) use self::replicas::Proxy;
use self::replicas::Replicas;
use self::suite::Suite;

/// The revisions with a requirement set.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// Revisions without one, for which there are scenarios for clients all the same.
const OLDER: [&str; 2] = ["2025-03-26", "2025-06-18"];
/// Scenarios of extensions that are in no requirement set; the suite runs them on the newest wire.
const ALONE: [&str; 3] = [
    "sep-2640-skills-enumeration",
    "sep-2640-skills-manifest",
    "sep-2640-skills-directory",
];
/// The revision the others are listed under.
const NEWEST: &str = REVISIONS[1];
/// The server under test, and the client.
const PROGRAMS: [&str; 2] = ["conformance-server", "conformance-client"];
const EXPECTED: &str = "conformance/expected.txt";
/// The rows that differ for replicas behind a proxy.
const REPLICAS: &str = "conformance/replicas.txt";
const BUILD: Duration = Duration::from_secs(30 * 60);
const START: Duration = Duration::from_secs(20);

/// Builds, starts, runs, judges.
pub(crate) fn check() -> Result<()> {
    let workspace = Workspace::read()?;
    let expected = expected(&workspace, EXPECTED)?;
    let home = workspace.target.join("conformance");
    let suite = Suite::install(&home)?;
    let [server, client] = build(&workspace)?;

    let mut faults = Vec::new();
    for revision in REVISIONS {
        // One server per set: what a set leaves behind must not help or hurt the next.
        let (running, address) = start(&server)?;
        let results = suite.run(revision, address, &home.join("results").join(revision))?;
        run_alone(&suite, revision, address, &results)?;
        drop(running);
        let found = judge::verdicts(&results)?;
        faults.extend(expected.compare(revision, &found));
    }
    faults.extend(client::check(&suite, &client, &expected, &home)?);
    Failure::unless_empty("conformance is not as expected", faults)
}

/// Runs the requirement sets for servers against three replicas behind a proxy.
pub(crate) fn check_replicas(proxy: Proxy) -> Result<()> {
    let workspace = Workspace::read()?;
    let expected = expected(&workspace, EXPECTED)?.replaced_by(expected(&workspace, REPLICAS)?);
    let home = workspace.target.join("conformance");
    let suite = Suite::install(&home)?;
    let [server, _] = build(&workspace)?;
    let mut faults = Vec::new();
    for revision in REVISIONS {
        let folder = home.join("replicas");
        let replicas = Replicas::start(proxy, &workspace.root, &server, &folder)?;
        let results = home.join("results").join(format!("replicas-{revision}"));
        suite.run(revision, replicas.address, &results)?;
        run_alone(&suite, revision, replicas.address, &results)?;
        drop(replicas);
        let found = judge::verdicts(&results)?;
        faults.extend(expected.compare(revision, &found));
    }
    Failure::unless_empty("conformance of replicas is not as expected", faults)
}

/// Runs the scenarios that are in no set, after that of the newest revision.
fn run_alone(suite: &Suite, revision: &str, address: SocketAddr, results: &Path) -> Result<()> {
    let scenarios = ALONE.iter().filter(|_| revision == NEWEST);
    scenarios
        .into_iter()
        .try_for_each(|scenario| suite.run_one(scenario, address, results))
}

/// Reads a list of results.
fn expected(workspace: &Workspace, file: &str) -> Result<Expected> {
    let list = workspace.root.join(file);
    let list = fs::read_to_string(&list).attempting(|| format!("read {}", list.display()))?;
    Expected::parse(&list)
}

/// Builds both programs as `cargo test --workspace` builds what they depend on, which is to say
/// nothing again: that is what the one test is for, which itself is empty.
fn build(workspace: &Workspace) -> Result<[PathBuf; 2]> {
    let mut command = Command::new("cargo");
    command
        .args(["build", "--quiet", "--workspace", "--test", "interleavings"])
        .args(PROGRAMS.iter().flat_map(|name| ["--bin", *name]))
        .args(["--bin", "pintle"])
        .current_dir(&workspace.root);
    child::run(&mut command, BUILD)?;
    Ok(PROGRAMS.map(|name| workspace.target.join("debug").join(name)))
}

/// Starts the server and waits until it accepts connections.
fn start(server: &Path) -> Result<(Guard, SocketAddr)> {
    let address = free_address()?;
    let mut command = Command::new(server);
    command
        .args(["--port", &address.port().to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut running = Guard::start(&mut command)?;
    wait_for(&mut running, address, START)?;
    Ok((running, address))
}

/// Waits until something accepts connections at `address`, as long as `running` lives, and no
/// longer than `ceiling`.
pub(crate) fn wait_for(running: &mut Guard, address: SocketAddr, ceiling: Duration) -> Result<()> {
    let began = Instant::now();
    while TcpStream::connect(address).is_err() {
        let cause = match (running.has_ended(), began.elapsed() > ceiling) {
            (true, _) => "the server ended",
            (false, true) => "the server does not listen",
            (false, false) => {
                thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        return Err(Failure::unable(format!("reach {address}"), cause));
    }
    Ok(())
}

fn free_address() -> Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .attempting(|| "find a free port".into())
}
