//! The database that a URL names, and its settings.

mod explain;
mod parse;

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// The content of a URL. Its `Debug` does not show credentials.
pub(crate) struct Target {
    /// Connects the pool. Its TLS mode is in `tls`.
    pub(crate) config: Config,
    /// Connects the listener. Differs from `config` beside a pooler.
    pub(crate) listen: Config,
    /// Whether a pooler such as pgbouncer may be between the pool and the server.
    pub(crate) is_pooled: bool,
    /// 1 to 63 of a-z, 0-9, `_` and `-`.
    pub(crate) schema: String,
    /// Number of connections of the pool.
    pub(crate) connections: usize,
    /// Longest time for an operation.
    pub(crate) operation_timeout: Duration,
    /// Longest time for the start.
    pub(crate) connect_timeout: Duration,
    pub(crate) tls: TlsMode,
    pub(crate) files: TlsFiles,
}

/// The TLS of all connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TlsMode {
    /// No TLS: the bytes are not encrypted.
    Disable,
    /// Encrypted. The certificate is verified only if the URL names an authority.
    Require,
    /// The certificate has a trusted authority.
    VerifyAuthority,
    /// The certificate has a trusted authority, and the name of the host.
    VerifyFull,
}

/// Files in PEM form.
#[derive(Debug, Clone, Default)]
pub(crate) struct TlsFiles {
    /// The trusted authorities, instead of those of the system.
    pub(crate) ca: Option<PathBuf>,
    /// The certificate of this client.
    pub(crate) cert: Option<PathBuf>,
    /// The private key of this client.
    pub(crate) key: Option<PathBuf>,
}

impl Target {
    /// Returns the hosts with their ports, for messages.
    pub(crate) fn host(&self) -> String {
        host_names(&self.config)
    }

    /// Returns the user, for messages.
    pub(crate) fn user(&self) -> String {
        self.config
            .get_user()
            .unwrap_or("of the process")
            .to_owned()
    }
}

fn host_names(config: &Config) -> String {
    let ports = config.get_ports();
    let name = |(at, host): (usize, &Host)| {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        match host {
            Host::Tcp(host) => format!("{host}:{port}"),
            #[cfg(unix)]
            Host::Unix(path) => format!("{}:{port}", path.display()),
        }
    };
    let names: Vec<_> = config.get_hosts().iter().enumerate().map(name).collect();
    match names.is_empty() {
        true => config
            .get_hostaddrs()
            .iter()
            .map(IpAddr::to_string)
            .collect::<Vec<_>>()
            .join(","),
        false => names.join(","),
    }
}

/// Returns true if no byte of a connection leaves the machine.
fn is_local(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(is_loopback);
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(host) => {
            host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|it| is_loopback(&it))
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn is_loopback(address: &IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("host", &self.host())
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
