//! The servers behind a proxy.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::plan::{Plan, Proxy};
use crate::replica::QUOTA;
use crate::replicas::{FreePorts, Replicas, is_ready, send, wait_until};
use crate::replicas_block::{PAGE, SERVERS, configuration};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// First of the ports that are tried for the proxy.
const FIRST_PORT: u16 = 19_000;

/// All running programs. They end with this value.
pub(crate) struct Processes {
    kind: Proxy,
    proxy: Child,
    address: SocketAddr,
    pub(crate) replicas: Replicas,
}

impl Processes {
    /// Starts the store, the servers, and the proxy with the configuration of the book.
    pub(crate) fn start(plan: &Plan) -> Result<Self> {
        let replicas = Replicas::start_with(plan.engine, SERVERS.len(), Some(QUOTA))?;
        let address = FreePorts::from(FIRST_PORT).next_free()?;
        let file = plan
            .proxy
            .configure(&replicas.folder, address, &replicas.addresses())?;
        let proxy = plan.proxy.start(&replicas.folder, &file)?;
        let processes = Self {
            kind: plan.proxy,
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

    /// Returns the address of the proxy.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Has the proxy read its configuration again.
    pub(crate) fn reload_proxy(&self) -> Result<()> {
        match self.kind {
            Proxy::Haproxy => send(&self.proxy, "USR2"),
            Proxy::Nginx => send(&self.proxy, "HUP"),
            Proxy::Envoy => Ok(()),
        }
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

impl Proxy {
    /// Returns the program, and the name of its block in the page.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Haproxy => ("haproxy", "haproxy"),
            Self::Nginx => ("nginx", "nginx"),
            Self::Envoy => ("envoy", "yaml"),
        }
    }

    /// Writes the file of the proxy, and returns its path.
    fn configure(
        self,
        folder: &Path,
        address: SocketAddr,
        servers: &[SocketAddr],
    ) -> Result<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = fs::read_to_string(root.join(PAGE))?;
        let (_, block) = self.names();
        let text = configuration(&page, block, address, servers);
        let file = folder.join(format!("proxy.{block}"));
        let text = text.ok_or("the page has no block for the proxy")?;
        // The log of nginx is a file of the system.
        fs::write(&file, text.replace("http {", "http { access_log off;"))?;
        Ok(file)
    }

    fn start(self, folder: &Path, file: &Path) -> Result<Child> {
        let mut command = Command::new(self.names().0);
        match self {
            // A master process, because it can be reloaded.
            Self::Haproxy => command.args(["-W", "-db", "-f"]).arg(file),
            Self::Nginx => {
                let settings = "daemon off; pid nginx.pid; error_log stderr;";
                let command = command.args(["-g", settings, "-p"]).arg(folder);
                command.arg("-c").arg(file)
            }
            Self::Envoy => command.args(["--use-dynamic-base-id", "-c"]).arg(file),
        };
        let log = File::create(folder.join("proxy.log"))?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?);
        Ok(command.stderr(log).spawn()?)
    }
}
