//! What the README promises to whoever has just cloned the repository.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child::Guard;
use crate::conformance::wait_for;
use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

/// The two commands, as they stand in the README.
const COMMANDS: [&str; 2] = ["cargo run --release -- serve", "cargo test --workspace"];

/// `cargo run` builds before it runs.
const BUILD: Duration = Duration::from_secs(30 * 60);
const ANSWER: Duration = Duration::from_secs(10);
/// H-131: how long a server may take to leave after SIGTERM.
const STOP: Duration = Duration::from_secs(5);

/// One request of each era.
const REQUESTS: [Request; 2] = [
    Request {
        headers: "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n",
        body: r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
        shows: r#""tools":["#,
    },
    Request {
        headers: "",
        body: r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"xtask","version":"0"}}}"#,
        shows: r#""protocolVersion":"2025-11-25""#,
    },
];

struct Request {
    headers: &'static str,
    body: &'static str,
    shows: &'static str,
}

/// Looks the commands up, then serves, asks and stops.
pub(crate) fn check() -> Result<()> {
    let workspace = Workspace::read()?;
    promises(&workspace.root)?;
    serve(&workspace.root)
}

fn promises(root: &Path) -> Result<()> {
    let text = fs::read_to_string(root.join("README.md")).attempting(|| "read README.md".into())?;
    let missing = COMMANDS
        .iter()
        .filter(|command| !text.lines().any(|line| line == **command));
    let missing = missing.map(|command| (*command).to_owned()).collect();
    Failure::unless_empty("the README does not say", missing)
}

fn serve(root: &Path) -> Result<()> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 8000));
    if TcpStream::connect(address).is_ok() {
        return Err(Failure::unable(
            format!("serve on {address}"),
            "somebody else does",
        ));
    }
    let mut command = Command::new("cargo");
    command
        .args(COMMANDS[0].split(' ').skip(1))
        .current_dir(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let mut running = Guard::start(&mut command)?;
    wait_for(&mut running, address, BUILD)?;
    for request in &REQUESTS {
        request.ask(address)?;
    }
    running.terminate()?;
    running
        .wait(STOP, "the server to leave after SIGTERM")
        .map(drop)?;
    println!("readme: serve serves both eras, and leaves when told");
    Ok(())
}

impl Request {
    fn ask(&self, address: SocketAddr) -> Result<()> {
        let answer = self
            .exchange(address)
            .attempting(|| format!("ask {address}"))?;
        let is_shown = answer.starts_with("HTTP/1.1 200") && answer.contains(self.shows);
        let faults = if is_shown {
            vec![]
        } else {
            vec![self.body.to_owned(), answer]
        };
        Failure::unless_empty("serve answered something else than expected", faults)
    }

    fn exchange(&self, address: SocketAddr) -> std::io::Result<String> {
        let Self { headers, body, .. } = self;
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(ANSWER))?;
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n{headers}\
             Content-Length: {}\r\n\r\n{body}",
            body.len(),
        )?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}
