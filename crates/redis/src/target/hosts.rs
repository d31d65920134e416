//! URLs with several hosts: `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE` and
//! `redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT`.

use redis::{ConnectionAddr, IntoConnectionInfo};
use url::Url;

use super::invalid;
use crate::connect_error::ConnectError;

/// The port of a sentinel without a port in the URL.
const SENTINEL_PORT: u16 = 26_379;

/// The port of a server without a port in the URL.
const PORT: u16 = 6_379;

/// Most hosts of a URL.
const MAX_HOSTS: usize = 16;

const SENTINEL_FORM: &str =
    "the form is redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE";

const CLUSTER_FORM: &str = "the form is redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT";

/// The part of a URL with several hosts that names the servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hosts {
    Sentinels(Sentinels),
    /// Servers of a cluster.
    Cluster(Vec<ConnectionAddr>),
}

/// The processes that name the server of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentinels {
    pub(crate) service: String,
    pub(crate) addresses: Vec<ConnectionAddr>,
    /// The credentials for the sentinels themselves.
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
}

impl Hosts {
    pub(crate) fn addresses(&self) -> &[ConnectionAddr] {
        match self {
            Self::Sentinels(sentinels) => &sentinels.addresses,
            Self::Cluster(addresses) => addresses,
        }
    }

    /// Returns the servers for messages.
    pub(super) fn text(&self) -> String {
        let addresses = self.addresses().iter().map(ToString::to_string);
        let addresses = addresses.collect::<Vec<_>>().join(", ");
        match self {
            Self::Sentinels(sentinels) => {
                format!("the service {} of {addresses}", sentinels.service)
            }
            Self::Cluster(_) => format!("the cluster of {addresses}"),
        }
    }

    /// Takes the parameter `sentinel_user` or `sentinel_pass`. Returns false if there are no sentinels.
    pub(super) fn take(&mut self, name: &str, value: &str) -> bool {
        let Self::Sentinels(sentinels) = self else {
            return false;
        };
        match name {
            "sentinel_user" => sentinels.user = Some(value.to_owned()),
            _ => sentinels.password = Some(value.to_owned()),
        }
        true
    }
}

/// A URL in parts.
struct Parts<'u> {
    scheme: &'u str,
    /// The credentials with their `@`.
    user: &'u str,
    hosts: Vec<&'u str>,
    path: &'u str,
    parameters: &'u str,
}

impl<'u> Parts<'u> {
    fn of(scheme: &'u str, rest: &'u str) -> Result<Self, ConnectError> {
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let (path, parameters) = tail.split_at(tail.find(['?', '#']).unwrap_or(tail.len()));
        let hosts: Vec<_> = hosts.split(',').collect();
        if hosts.len() > MAX_HOSTS {
            return Err(invalid(format!("it has more than {MAX_HOSTS} hosts")));
        }
        Ok(Self {
            scheme,
            user,
            hosts,
            path: path.trim_matches('/'),
            parameters,
        })
    }

    /// Returns the URL of the first host.
    fn first(&self, database: &str) -> String {
        let (scheme, user, host) = (self.scheme, self.user, self.hosts[0]);
        format!("{scheme}://{user}{host}/{database}{}", self.parameters)
    }

    fn addresses(&self, port: u16, form: &str) -> Result<Vec<ConnectionAddr>, ConnectError> {
        let addresses = self
            .hosts
            .iter()
            .map(|host| address(self.scheme, host, port));
        addresses
            .collect::<Option<_>>()
            .ok_or_else(|| invalid(form))
    }
}

/// Splits a URL with several hosts. Returns the URL of the first one with the credentials and the database.
pub(super) fn split(text: &str) -> Result<Option<(String, Hosts)>, ConnectError> {
    let Some((before, rest)) = text.split_once("://") else {
        return Ok(None);
    };
    let Some((scheme @ ("redis" | "rediss"), kind)) = before.split_once('+') else {
        return Ok(None);
    };
    match kind {
        "sentinel" => sentinels(&Parts::of(scheme, rest)?).map(Some),
        "cluster" => cluster(&Parts::of(scheme, rest)?).map(Some),
        _ => Ok(None),
    }
}

fn sentinels(parts: &Parts<'_>) -> Result<(String, Hosts), ConnectError> {
    let (service, database) = parts.path.split_once('/').unwrap_or((parts.path, ""));
    if service.is_empty() {
        return Err(invalid(SENTINEL_FORM));
    }
    let sentinels = Sentinels {
        service: service.to_owned(),
        addresses: parts.addresses(SENTINEL_PORT, SENTINEL_FORM)?,
        user: None,
        password: None,
    };
    Ok((parts.first(database), Hosts::Sentinels(sentinels)))
}

fn cluster(parts: &Parts<'_>) -> Result<(String, Hosts), ConnectError> {
    if !matches!(parts.path, "" | "0") {
        return Err(invalid("a cluster has the database 0 only"));
    }
    let addresses = parts.addresses(PORT, CLUSTER_FORM)?;
    Ok((parts.first(""), Hosts::Cluster(addresses)))
}

fn address(scheme: &str, host: &str, port: u16) -> Option<ConnectionAddr> {
    let mut url = Url::parse(&format!("{scheme}://{host}")).ok()?;
    if url.port().is_none() {
        url.set_port(Some(port)).ok()?;
    }
    let info = url.into_connection_info().ok()?;
    Some(info.addr().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, String) {
        let (url, found) = split(text).expect("a URL").expect("several hosts");
        (url, found.text())
    }

    #[test]
    fn a_url_names_sentinels_and_their_service() {
        let (url, text) = read("redis+sentinel://me:p%40ss@a.example,[::1]:7/harbour/3?prefix=p");
        assert_eq!(url, "redis://me:p%40ss@a.example/3?prefix=p");
        assert_eq!(text, "the service harbour of a.example:26379, ::1:7");
        let (url, text) = read("rediss+sentinel://a/harbour");
        assert_eq!(url, "rediss://a/");
        assert_eq!(text, "the service harbour of a:26379");
    }

    #[test]
    fn a_url_names_servers_of_a_cluster() {
        let (url, text) = read("redis+cluster://me:secret@a:7000,b/0?prefix=p");
        assert_eq!(url, "redis://me:secret@a:7000/?prefix=p");
        assert_eq!(text, "the cluster of a:7000, b:6379");
        split("redis+cluster://a/1").expect_err("another database");
    }

    #[test]
    fn other_urls_have_one_host() {
        for url in ["redis://a/1", "redis+unix:///a", "http+sentinel://a/b", "a"] {
            assert_eq!(split(url).expect("a URL"), None, "{url}");
        }
    }

    #[test]
    fn a_url_without_a_service_or_a_host_is_refused() {
        for url in [
            "redis+sentinel://a",
            "redis+sentinel://a/?prefix=p",
            "redis+sentinel:///harbour",
            "redis+sentinel://a,/harbour",
            "redis+sentinel://a:b/harbour",
            "redis+cluster://",
            "redis+cluster://a,",
        ] {
            split(url).expect_err(url);
        }
    }

    #[test]
    fn more_hosts_than_the_limit_are_refused() {
        let url = |count| format!("redis+cluster://{}", vec!["a"; count].join(","));
        split(&url(MAX_HOSTS)).expect("the most");
        split(&url(MAX_HOSTS + 1)).expect_err("too many");
    }
}
