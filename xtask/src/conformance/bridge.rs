//! The suite through `pintle serve`, in the pairs of eras and transports.
//!
//! The bridge serves each set to the suite over HTTP. The server behind it is pinned to the revision of an era, on
//! standard streams or over HTTP. `conformance/bridge.txt` has the rows that differ from those without a bridge.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::expected::Expected;
use super::suite::Suite;
use super::{EXPECTED, NEWEST, REVISIONS, START, client, expected, free_address, judge};
use super::{run_alone, start, wait_for};
use crate::child::Guard;
use crate::failure::{Failure, Result};
use crate::workspace::Workspace;

/// The rows that differ behind a bridge.
const BRIDGE: &str = "conformance/bridge.txt";
/// For one scenario, in milliseconds: one that a pair cannot carry may wait for its end.
const SCENARIO_MS: &str = "10000";

/// The transport behind the bridge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    Stdio,
    Http,
}

/// A set of the suite, and the server behind the bridge.
#[derive(Debug, Clone, Copy)]
struct Pair {
    set: &'static str,
    behind: Behind,
    server: &'static str,
}

/// The pairs that CI runs: each set, each server and each transport, old and new beside each other.
const CHOSEN: [Pair; 3] = [
    Pair::new(REVISIONS[0], Behind::Stdio, NEWEST),
    Pair::new(NEWEST, Behind::Stdio, REVISIONS[0]),
    Pair::new(REVISIONS[0], Behind::Http, REVISIONS[0]),
];

/// Runs the sets for servers through `pintle serve`, and the scenarios for clients, all at the same time.
pub(crate) fn check(every_pair: bool) -> Result<()> {
    let workspace = Workspace::read()?;
    let run = Run::new(&workspace)?;
    let pairs = match every_pair {
        true => Pair::all(),
        false => CHOSEN.to_vec(),
    };
    let found = thread::scope(|scope| {
        let clients = scope.spawn(|| run.clients());
        let runs = pairs.iter().map(|pair| scope.spawn(|| run.pair(*pair)));
        let runs: Vec<_> = runs.collect();
        let ended = runs.into_iter().chain([clients]).map(|run| {
            run.join()
                .unwrap_or_else(|_| Err(Failure::unable("run the suite", "its thread panicked")))
        });
        ended.collect::<Result<Vec<_>>>()
    })?;
    Failure::unless_empty(
        "conformance through the bridge is not as expected",
        found.concat(),
    )
}

impl Pair {
    const fn new(set: &'static str, behind: Behind, server: &'static str) -> Self {
        Self {
            set,
            behind,
            server,
        }
    }

    fn all() -> Vec<Self> {
        let servers = [Behind::Stdio, Behind::Http]
            .into_iter()
            .flat_map(|behind| REVISIONS.map(|server| (behind, server)));
        servers
            .flat_map(|(behind, server)| REVISIONS.map(|set| Self::new(set, behind, server)))
            .collect()
    }

    fn transport(self) -> &'static str {
        match self.behind {
            Behind::Stdio => "stdio",
            Behind::Http => "http",
        }
    }

    /// The key of its rows.
    fn key(self) -> String {
        format!("{}/{}", self.set, self.server)
    }
}

/// The programs and lists of all pairs.
struct Run {
    suite: Suite,
    pintle: PathBuf,
    server: PathBuf,
    client: PathBuf,
    results: PathBuf,
    plain: Expected,
    bridged: Expected,
}

impl Run {
    fn new(workspace: &Workspace) -> Result<Self> {
        let home = workspace.target.join("conformance");
        let suite = Suite::install(&home)?;
        let [server, client] = super::build(workspace)?;
        Ok(Self {
            suite,
            pintle: workspace.target.join("debug/pintle"),
            server,
            client,
            results: home.join("results/bridge"),
            plain: expected(workspace, EXPECTED)?,
            bridged: expected(workspace, BRIDGE)?,
        })
    }

    /// Runs a set, and returns the differences from the lists.
    fn pair(&self, pair: Pair) -> Result<Vec<String>> {
        let bridge = Bridge::start(&self.pintle, &self.server, pair)?;
        let name = format!("{}-over-{}-{}", pair.set, pair.transport(), pair.server);
        let results = self.results.join(&name);
        let suite = self.suite.with_timeout(SCENARIO_MS);
        suite.run(pair.set, bridge.address, &results)?;
        run_alone(&suite, pair.set, bridge.address, &results)?;
        drop(bridge);
        let key = pair.key();
        let of_transport = format!("{key}/{}", pair.transport());
        let expected = self.plain.of(pair.set);
        let expected = expected.replaced_by(self.bridged.renamed(&key, pair.set));
        let expected = expected.replaced_by(self.bridged.renamed(&of_transport, pair.set));
        let found = expected.compare(pair.set, &judge::verdicts(&results)?);
        Ok(found
            .into_iter()
            .map(|fault| format!("{name}: {fault}"))
            .collect())
    }

    /// Runs the scenarios for clients, with `pintle serve --stdio` between our client and the suite.
    fn clients(&self) -> Result<Vec<String>> {
        let command = format!(
            "env PINTLE_BRIDGE={} {}",
            text(&self.pintle)?,
            text(&self.client)?
        );
        let mut faults = Vec::new();
        for revision in REVISIONS {
            let of = format!("{revision}/client");
            let expected = self.plain.of(&of);
            let expected = expected.replaced_by(self.bridged.renamed(&format!("{of}/bridge"), &of));
            let scenarios = expected
                .scenarios()
                .filter(|name| !name.starts_with("auth/"));
            let scenarios: Vec<String> = scenarios.map(str::to_owned).collect();
            let results = self.results.join(&of);
            let found = client::found(&self.suite, &command, revision, &scenarios, &results)?;
            faults.extend(expected.without("auth/").compare(&of, &found));
        }
        Ok(faults)
    }
}

fn text(path: &Path) -> Result<&str> {
    crate::child::text(path)
}

/// A running bridge, and the server behind it.
struct Bridge {
    address: SocketAddr,
    _programs: Vec<Guard>,
}

impl Bridge {
    /// Starts a bridge to a server that speaks one revision.
    fn start(pintle: &Path, server: &Path, pair: Pair) -> Result<Self> {
        let address = free_address()?;
        let at = address.to_string();
        let mut command = Command::new(pintle);
        command.args(["serve", "--http", &at, "--revision", pair.server]);
        let mut programs = Vec::new();
        match pair.behind {
            Behind::Stdio => {
                command.arg("--").arg(server).arg("--stdio");
            }
            Behind::Http => {
                let (running, server) = start(server)?;
                programs.push(running);
                command.arg(format!("http://{server}/mcp"));
            }
        }
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut bridge = Guard::start(command.stderr(Stdio::null()))?;
        wait_for(&mut bridge, address, START)?;
        programs.insert(0, bridge);
        Ok(Self {
            address,
            _programs: programs,
        })
    }
}
