//! Getting the suite, and running one of its requirement sets, or one of its scenarios.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::child::{self, Guard};
use crate::failure::{Attempt, Failure, Result};

/// Pinned, because every release of the suite asks for something else.
const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/// What the suite drives servers with; it would take any newer one by itself.
const SDK: &str = "@modelcontextprotocol/sdk@1.32.2";
/// The suite imports what older ones do not have.
const OLDEST_NODE: u32 = 22;
const ENTRY: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";

const INSTALL: Duration = Duration::from_secs(10 * 60);
const RUN: Duration = Duration::from_secs(10 * 60);
/// For one scenario, in milliseconds.
const SCENARIO_MS: &str = "30000";

/// An installed suite.
#[derive(Debug, Clone)]
pub(crate) struct Suite {
    node: PathBuf,
    entry: PathBuf,
    timeout: &'static str,
}

impl Suite {
    /// Finds or installs the suite, and a Node that can run it, under `home`.
    pub(crate) fn install(home: &Path) -> Result<Self> {
        let folder = home.join(folder_name());
        let entry = folder.join(ENTRY);
        if !entry.exists() {
            npm_install(&folder, &[SUITE, SDK])?;
        }
        Ok(Self {
            node: node(home)?,
            entry,
            timeout: SCENARIO_MS,
        })
    }

    /// Returns the suite with another timeout of a scenario, in milliseconds.
    pub(crate) fn with_timeout(&self, timeout: &'static str) -> Self {
        Self {
            timeout,
            ..self.clone()
        }
    }

    /// Runs one requirement set; returns the folder with what every scenario found.
    ///
    /// The exit status of the suite is not looked at: its rule is laxer than ours.
    pub(crate) fn run(&self, revision: &str, at: SocketAddr, results: &Path) -> Result<PathBuf> {
        make_empty(results)?;
        self.start_server(&["--requirements", revision], at, results, "suite.log")?;
        println!(
            "conformance: {revision} ran; its log is in {}",
            results.display()
        );
        Ok(results.to_path_buf())
    }

    /// Runs one scenario that is in no set, on the wire the suite chooses for it; what it found
    /// goes to the same folder.
    pub(crate) fn run_one(&self, scenario: &str, at: SocketAddr, results: &Path) -> Result<()> {
        let log = format!("{scenario}.log");
        self.start_server(&["--scenario", scenario], at, results, &log)
    }

    /// What the suite says of itself.
    pub(crate) fn list(&self) -> Result<String> {
        child::output(
            child::text(&self.node)?,
            &[child::text(&self.entry)?, "list"],
        )
    }

    /// Lets a client play one scenario on the wire of a revision; gives how the suite ended.
    pub(crate) fn run_client(
        &self,
        client: &str,
        revision: &str,
        scenario: &str,
        results: &Path,
    ) -> Result<ExitStatus> {
        make_empty(results)?;
        // The suite starts a shell. `exec`: what it ends at the time limit has to be the client.
        let command = format!("exec {client}");
        // `--force`: scenarios of extensions have no revision, and would be skipped.
        let what = ["client", "--force", "--command", &command];
        let what = [&what[..], &["--spec-version", revision]].concat();
        let what = [&what[..], &["--scenario", scenario]].concat();
        self.start(&what, results, "suite.log")
    }

    fn start_server(&self, what: &[&str], at: SocketAddr, results: &Path, log: &str) -> Result<()> {
        let url = format!("http://{at}/mcp");
        let what = [&["server", "--url", &url], what].concat();
        self.start(&what, results, log).map(drop)
    }

    fn start(&self, what: &[&str], results: &Path, log: &str) -> Result<ExitStatus> {
        let attempted = || format!("write to {}", results.display());
        let out = File::create(results.join(log)).attempting(attempted)?;
        let err = out.try_clone().attempting(attempted)?;
        let mut command = Command::new(&self.node);
        command
            .arg(&self.entry)
            .args(what)
            .args(["--timeout", self.timeout, "-o"])
            .arg(results)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err);
        Guard::start(&mut command)?.wait(RUN, "the conformance suite")
    }
}

fn make_empty(folder: &Path) -> Result<()> {
    let attempted = || format!("prepare {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder).attempting(attempted)?;
    }
    fs::create_dir_all(folder).attempting(attempted)
}

fn folder_name() -> String {
    let version = |spec: &'static str| spec.rsplit('@').next().unwrap_or(spec);
    format!("suite-{}-sdk-{}", version(SUITE), version(SDK))
}

/// The `node` on the path when it is new enough, otherwise one of our own.
fn node(home: &Path) -> Result<PathBuf> {
    let own = home.join(format!("node-{OLDEST_NODE}"));
    let candidates = || {
        [
            PathBuf::from("node"),
            own.join("node_modules").join(platform()).join("bin/node"),
        ]
        .into_iter()
        .chain([own.join("node_modules/node/bin/node")])
        .find(|node| is_new_enough(node))
    };
    if let Some(node) = candidates() {
        return Ok(node);
    }
    let major = format!("@{OLDEST_NODE}");
    npm_install(&own, &[&format!("{}{major}", platform())])
        .or_else(|_| npm_install(&own, &[&format!("node{major}")]))?;
    let cause = "what was installed does not run";
    candidates().ok_or_else(|| Failure::unable(format!("find a Node {OLDEST_NODE}"), cause))
}

/// The npm package that carries Node for this machine.
fn platform() -> String {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let os = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("node-{os}-{arch}")
}

fn is_new_enough(node: &Path) -> bool {
    let version = Command::new(node).arg("--version").output();
    version
        .ok()
        .and_then(|output| major(&String::from_utf8_lossy(&output.stdout)))
        >= Some(OLDEST_NODE)
}

/// The first number in `v22.3.0`.
fn major(version: &str) -> Option<u32> {
    version
        .trim()
        .strip_prefix('v')?
        .split('.')
        .next()?
        .parse()
        .ok()
}

/// Installs into a folder that appears only when everything is in it.
fn npm_install(folder: &Path, packages: &[&str]) -> Result<()> {
    let attempted = || format!("install {}", packages.join(" and "));
    let unfinished = folder.with_extension(format!("{}.tmp", std::process::id()));
    fs::create_dir_all(&unfinished).attempting(attempted)?;
    let manifest = unfinished.join("package.json");
    fs::write(manifest, r#"{ "private": true }"#).attempting(attempted)?;
    let mut command = Command::new("npm");
    command
        .args([
            "install",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefer-offline",
        ])
        .args(packages)
        .current_dir(&unfinished)
        .stdin(Stdio::null());
    child::run(&mut command, INSTALL)?;
    if folder.exists() {
        fs::remove_dir_all(folder).attempting(attempted)?;
    }
    fs::rename(&unfinished, folder).attempting(attempted)
}

#[cfg(test)]
mod tests {
    use super::{folder_name, major};

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(major("v22.3.0\n"), Some(22));
        assert_eq!(major("not node"), None);
    }

    #[test]
    fn another_version_lives_in_another_folder() {
        assert_eq!(folder_name(), "suite-0.2.0-alpha.12-sdk-1.32.2");
    }
}
