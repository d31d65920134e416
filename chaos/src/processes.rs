//! The servers behind a proxy.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::plan::Plan;
use crate::replicas::{FreePorts, Replicas, is_ready, send, wait_until};
use crate::replicas_block::{PAGE, SERVERS, configuration};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// First of the ports that are tried for the proxy.
const FIRST_PORT: u16 = 19_000;

/// All running programs. They end with this value.
pub(crate) struct Processes {
    proxy: Child,
    address: SocketAddr,
    pub(crate) replicas: Replicas,
}

impl Processes {
    /// Starts the store, the servers, and the proxy with the configuration of the book.
    pub(crate) fn start(plan: &Plan) -> Result<Self> {
        let replicas = Replicas::start(plan.engine, SERVERS.len())?;
        let address = FreePorts::from(FIRST_PORT).next_free()?;
        let proxy = start_proxy(&replicas.folder, address, &replicas.addresses())?;
        let processes = Self {
            proxy,
            address,
            replicas,
        };
        wait_until(|| is_ready(address))?;
        Ok(processes)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Has the proxy read its configuration again.
    pub(crate) fn reload_proxy(&self) -> Result<()> {
        send(&self.proxy, "USR2")
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        // SIGTERM reaches the workers of the proxy as well.
        let _ = send(&self.proxy, "TERM");
        let _ = wait_until(|| !matches!(self.proxy.try_wait(), Ok(None)));
        let _ = self.proxy.kill();
    }
}

fn start_proxy(folder: &Path, address: SocketAddr, servers: &[SocketAddr]) -> Result<Child> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join(PAGE))?;
    let text = configuration(&page, "haproxy", address, servers);
    let file = folder.join("haproxy.cfg");
    fs::write(&file, text.ok_or("the page has no block for HAProxy")?)?;
    let mut command = Command::new("haproxy");
    // A master process, because it can be reloaded.
    command.args(["-W", "-db", "-f"]).arg(&file);
    let log = File::create(folder.join("haproxy.log"))?;
    command.stdin(Stdio::null()).stdout(log.try_clone()?);
    Ok(command.stderr(log).spawn()?)
}
