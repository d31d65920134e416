//! The server that a URL names, and its settings.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo, ProtocolVersion};
use url::Url;

use crate::connect_error::ConnectError;

mod hosts;

pub(crate) use hosts::{Hosts, Sentinels};

/// Default of `prefix`.
const PREFIX: &str = "pintle";

/// Default and bounds of `connections`.
const CONNECTIONS: u64 = 2;
const MAX_CONNECTIONS: RangeInclusive<u64> = 1..=64;

/// Default of `operation_timeout` in milliseconds, and its bounds.
const OPERATION_TIMEOUT: u64 = 1_000;
const OPERATION_TIMEOUTS: RangeInclusive<u64> = 10..=600_000;

/// Default of `connect_timeout` in seconds, and its bounds.
const CONNECT_TIMEOUT: u64 = 10;
const CONNECT_TIMEOUTS: RangeInclusive<u64> = 1..=600;

/// Bounds of `wait`, which is 0 by default.
const REPLICAS: RangeInclusive<u64> = 0..=16;

/// A silent server is probed after this time. After three times as long its connection ends.
const KEEPALIVE: Duration = Duration::from_secs(5);

const FORM: &str = "the form is redis://USER:PASSWORD@HOST:PORT/DATABASE";

/// The content of a URL. Its `Debug` does not show credentials.
pub(crate) struct Target {
    /// The server, or the first host with the settings of the servers.
    pub(crate) info: ConnectionInfo,
    /// The hosts of a URL that has several.
    pub(crate) hosts: Option<Hosts>,
    /// Host and port, for messages.
    pub(crate) host: String,
    /// 1 to 63 of a-z, 0-9, `_` and `-`.
    pub(crate) prefix: String,
    /// Number of connections for operations.
    pub(crate) connections: usize,
    /// Number of replicas that acknowledge a write of a record.
    pub(crate) replicas: usize,
    /// Longest time for an operation.
    pub(crate) operation_timeout: Duration,
    /// Longest time for the start.
    pub(crate) connect_timeout: Duration,
    pub(crate) files: TlsFiles,
    /// Texts that no message may contain.
    pub(crate) secrets: Vec<String>,
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
    /// Returns true if the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        matches!(self.info.addr(), ConnectionAddr::TcpTls { .. })
    }

    /// Returns true if other hosts can read the connection.
    pub(crate) fn is_exposed(&self) -> bool {
        let others = self.hosts.iter().flat_map(Hosts::addresses);
        let mut addresses = std::iter::once(self.info.addr()).chain(others);
        addresses.any(|it| matches!(it, ConnectionAddr::Tcp(host, _) if !is_loopback(host)))
    }

    /// Returns the rights that a user needs.
    pub(crate) fn rights(&self) -> String {
        let prefix = &self.prefix;
        format!(
            "~{prefix}:* &{prefix}:* +@read +@write +@scripting +@pubsub +@connection +info +time +wait"
        )
    }

    fn read(info: ConnectionInfo, found: Parameters) -> Result<Self, ConnectError> {
        let (redis, tcp) = (info.redis_settings().clone(), tcp_settings());
        let redis = redis
            .set_protocol(ProtocolVersion::RESP3)
            .set_skip_set_lib_name();
        let mut secrets = secrets(&info, &found.url);
        if let Some(Hosts::Sentinels(sentinels)) = &found.hosts {
            secrets.extend(sentinels.password.clone());
        }
        let host = found.hosts.as_ref().map(Hosts::text);
        Ok(Self {
            host: host.unwrap_or_else(|| info.addr().to_string()),
            info: info.set_redis_settings(redis).set_tcp_settings(tcp),
            hosts: found.hosts,
            prefix: prefix(found.prefix)?,
            connections: found.connections.unwrap_or(CONNECTIONS) as usize,
            replicas: found.wait.unwrap_or(0) as usize,
            operation_timeout: Duration::from_millis(
                found.operation_timeout.unwrap_or(OPERATION_TIMEOUT),
            ),
            connect_timeout: Duration::from_secs(found.connect_timeout.unwrap_or(CONNECT_TIMEOUT)),
            files: found.files,
            secrets,
        })
    }
}

pub(crate) fn tcp_settings() -> TcpSettings {
    let probes = TcpKeepalive::new()
        .with_time(KEEPALIVE)
        .with_interval(KEEPALIVE);
    let settings = TcpSettings::default()
        .set_nodelay(true)
        .set_keepalive(probes);
    #[cfg(target_os = "linux")]
    let settings = settings.set_user_timeout(KEEPALIVE * 3);
    settings
}

/// Returns the password, as it is and as the URL has it.
fn secrets(info: &ConnectionInfo, url: &Url) -> Vec<String> {
    let decoded = info.redis_settings().password();
    let secrets = decoded.into_iter().chain(url.password());
    let secrets = secrets.filter(|it| !it.is_empty());
    secrets.map(str::to_owned).collect()
}

fn is_loopback(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// The parameters of a URL.
struct Parameters {
    /// The URL with the parameters of the client only.
    url: Url,
    prefix: Option<String>,
    connections: Option<u64>,
    wait: Option<u64>,
    operation_timeout: Option<u64>,
    connect_timeout: Option<u64>,
    files: TlsFiles,
    hosts: Option<Hosts>,
}

impl FromStr for Target {
    type Err = ConnectError;

    fn from_str(url: &str) -> Result<Self, ConnectError> {
        let (url, hosts) = match hosts::split(url)? {
            Some((url, hosts)) => (url, Some(hosts)),
            None => (url.to_owned(), None),
        };
        let url = Url::parse(&url).map_err(|_| invalid(FORM))?;
        if url.fragment().is_some() {
            return Err(invalid(
                "it has a fragment; write `#` in a password as `%23`",
            ));
        }
        let found = Parameters::read(url, hosts)?;
        let info = found.url.clone().into_connection_info();
        // The text of the error may repeat a part of the URL.
        let info = info.map_err(|_| invalid(FORM))?;
        Self::read(info, found)
    }
}

fn invalid(reason: impl Into<String>) -> ConnectError {
    let reason = reason.into();
    ConnectError::Url { reason }
}

impl Parameters {
    fn read(mut url: Url, hosts: Option<Hosts>) -> Result<Self, ConnectError> {
        let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
        url.set_query(None);
        let mut found = Self {
            url,
            prefix: None,
            connections: None,
            wait: None,
            operation_timeout: None,
            connect_timeout: None,
            files: TlsFiles::default(),
            hosts,
        };
        for (name, value) in pairs {
            found.take(&name, value)?;
        }
        Ok(found)
    }

    fn take(&mut self, name: &str, value: String) -> Result<(), ConnectError> {
        let is_socket = self.url.scheme().ends_with("unix");
        match name {
            "prefix" => self.prefix = Some(value),
            "connections" => self.connections = Some(number(name, &value, MAX_CONNECTIONS)?),
            "wait" => self.wait = Some(number(name, &value, REPLICAS)?),
            "operation_timeout" => {
                self.operation_timeout = Some(number(name, &value, OPERATION_TIMEOUTS)?);
            }
            "connect_timeout" => {
                self.connect_timeout = Some(number(name, &value, CONNECT_TIMEOUTS)?);
            }
            "ca" => self.files.ca = Some(value.into()),
            "cert" => self.files.cert = Some(value.into()),
            "key" => self.files.key = Some(value.into()),
            // A URL of a socket has no place for them before its path.
            "db" | "user" | "pass" if is_socket => {
                self.url.query_pairs_mut().append_pair(name, &value);
            }
            "sentinel_user" | "sentinel_pass" if self.take_for_sentinels(name, &value) => {}
            name => return Err(invalid(format!("the parameter `{name}` does not exist"))),
        }
        Ok(())
    }

    fn take_for_sentinels(&mut self, name: &str, value: &str) -> bool {
        let mut hosts = self.hosts.iter_mut();
        hosts.any(|it| it.take(name, value))
    }
}

fn number(name: &str, text: &str, bounds: RangeInclusive<u64>) -> Result<u64, ConnectError> {
    let number = text.parse().ok().filter(|it| bounds.contains(it));
    number.ok_or_else(|| {
        let (from, to) = (bounds.start(), bounds.end());
        invalid(format!("`{name}` is not a number from {from} to {to}"))
    })
}

fn prefix(text: Option<String>) -> Result<String, ConnectError> {
    let prefix = text.unwrap_or_else(|| PREFIX.to_owned());
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    if (1..=63).contains(&prefix.len()) && prefix.bytes().all(is_allowed) {
        return Ok(prefix);
    }
    Err(invalid("`prefix` is not 1 to 63 of a-z, 0-9, `_` and `-`"))
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("host", &self.host)
            .field("prefix", &self.prefix)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
