//! Three servers that share a state in Redis, behind a proxy with the configuration that the book has.

mod block;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use self::block::{PAGE, SERVERS, configuration};
use super::{START, free_address, wait_for};
use crate::child::Guard;
use crate::failure::{Attempt, Failure, Result};

/// A proxy, by the name of its block in the page.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Proxy {
    Haproxy,
    Nginx,
}

/// The running programs, the proxy first.
pub(super) struct Replicas {
    /// The address of the proxy.
    pub(super) address: SocketAddr,
    _programs: Vec<Guard>,
}

impl Replicas {
    /// Starts Redis, the servers and the proxy in a folder of their own.
    pub(super) fn start(proxy: Proxy, root: &Path, server: &Path, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).attempting(|| format!("make {}", folder.display()))?;
        let (redis, state) = redis(folder)?;
        let mut programs = vec![redis];
        let mut addresses = Vec::new();
        for _ in SERVERS {
            let (running, address) = replica(server, &state)?;
            programs.push(running);
            addresses.push(address);
        }
        let page = root.join(PAGE);
        let page = fs::read_to_string(&page).attempting(|| format!("read {}", page.display()))?;
        let (proxy, address) = proxy.start(&page, folder, &addresses)?;
        programs.insert(0, proxy);
        Ok(Self {
            address,
            _programs: programs,
        })
    }
}

/// Returns the running engine, and the URL of the state in it.
fn redis(folder: &Path) -> Result<(Guard, String)> {
    let address = free_address()?;
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
    command.args(["--save", "", "--appendonly", "no"]);
    let running = started(command.current_dir(folder), address)?;
    Ok((running, format!("redis://{address}")))
}

fn replica(server: &Path, state: &str) -> Result<(Guard, SocketAddr)> {
    let address = free_address()?;
    let mut command = Command::new(server);
    command.args(["--http", &address.to_string(), "--health", "--state", state]);
    command.stderr(Stdio::null());
    Ok((started(&mut command, address)?, address))
}

impl Proxy {
    fn start(
        self,
        page: &str,
        folder: &Path,
        servers: &[SocketAddr],
    ) -> Result<(Guard, SocketAddr)> {
        let address = free_address()?;
        let name = format!("{self:?}").to_lowercase();
        let file = folder.join(format!("{name}.cfg"));
        let missing =
            || Failure::unable(format!("read the block {name} of {PAGE}"), "it is absent");
        let text = configuration(page, &name, address, servers).ok_or_else(missing)?;
        fs::write(&file, text).attempting(|| format!("write {}", file.display()))?;
        let mut command = Command::new(&name);
        match self {
            Self::Haproxy => command.arg("-db").arg("-f").arg(&file),
            Self::Nginx => {
                let settings = "daemon off; pid nginx.pid; error_log stderr;";
                command
                    .args(["-g", settings, "-p"])
                    .arg(folder)
                    .arg("-c")
                    .arg(&file)
            }
        };
        Ok((started(&mut command, address)?, address))
    }
}

fn started(command: &mut Command, address: SocketAddr) -> Result<Guard> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut running = Guard::start(command)?;
    wait_for(&mut running, address, START)?;
    Ok(running)
}
