//! URLs of sentinels: `redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE`.

use redis::{ConnectionAddr, IntoConnectionInfo};
use url::Url;

use super::invalid;
use crate::connect_error::ConnectError;

/// The port of a sentinel without a port in the URL.
const PORT: u16 = 26_379;

/// Most sentinels of a URL.
const MAX_SENTINELS: usize = 16;

const FORM: &str =
    "the form is redis+sentinel://USER:PASSWORD@HOST:PORT,HOST:PORT/SERVICE/DATABASE";

/// The processes that name the server of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sentinels {
    pub(crate) service: String,
    pub(crate) addresses: Vec<ConnectionAddr>,
    /// The credentials for the sentinels themselves.
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
}

impl Sentinels {
    /// Takes the parameter `sentinel_user` or `sentinel_pass`.
    pub(super) fn take(&mut self, name: &str, value: String) {
        match name {
            "sentinel_user" => self.user = Some(value),
            _ => self.password = Some(value),
        }
    }
}

/// Splits a URL of sentinels. Returns the URL of the first one with the credentials and the database of
/// the service.
pub(super) fn split(text: &str) -> Result<Option<(String, Sentinels)>, ConnectError> {
    let found = text.split_once("+sentinel://");
    let Some((scheme @ ("redis" | "rediss"), rest)) = found else {
        return Ok(None);
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let (user, hosts) = match authority.rsplit_once('@') {
        Some((user, hosts)) => (format!("{user}@"), hosts),
        None => (String::new(), authority),
    };
    let (path, parameters) = tail.split_at(tail.find(['?', '#']).unwrap_or(tail.len()));
    let mut parts = path.trim_start_matches('/').splitn(2, '/');
    let service = parts.next().filter(|it| !it.is_empty());
    let service = service.ok_or_else(|| invalid(FORM))?.to_owned();
    let database = parts.next().unwrap_or_default();
    let addresses: Vec<_> = hosts
        .split(',')
        .map(|host| address(scheme, host))
        .collect::<Result<_, _>>()?;
    if addresses.len() > MAX_SENTINELS {
        return Err(invalid(format!(
            "it has more than {MAX_SENTINELS} sentinels"
        )));
    }
    let first = hosts.split(',').next().unwrap_or_default();
    let url = format!("{scheme}://{user}{first}/{database}{parameters}");
    let sentinels = Sentinels {
        service,
        addresses,
        user: None,
        password: None,
    };
    Ok(Some((url, sentinels)))
}

fn address(scheme: &str, host: &str) -> Result<ConnectionAddr, ConnectError> {
    let mut url = Url::parse(&format!("{scheme}://{host}")).map_err(|_| invalid(FORM))?;
    if url.port().is_none() {
        url.set_port(Some(PORT)).map_err(|()| invalid(FORM))?;
    }
    let info = url.into_connection_info().map_err(|_| invalid(FORM))?;
    Ok(info.addr().clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<String>, String) {
        let (url, found) = split(text).expect("a URL").expect("sentinels");
        let addresses = found.addresses.iter().map(ToString::to_string).collect();
        (url, addresses, found.service)
    }

    #[test]
    fn a_url_names_sentinels_and_their_service() {
        let (url, addresses, service) =
            read("redis+sentinel://me:p%40ss@a.example,[::1]:7/harbour/3?prefix=p");
        assert_eq!(url, "redis://me:p%40ss@a.example/3?prefix=p");
        assert_eq!(addresses, ["a.example:26379", "::1:7"]);
        assert_eq!(service, "harbour");
        let (url, _, service) = read("rediss+sentinel://a/harbour");
        assert_eq!((url.as_str(), service.as_str()), ("rediss://a/", "harbour"));
    }

    #[test]
    fn other_urls_have_no_sentinels() {
        for url in ["redis://a/1", "redis+unix:///a", "http+sentinel://a/b"] {
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
        ] {
            split(url).expect_err(url);
        }
        let many = vec!["a"; MAX_SENTINELS + 1].join(",");
        split(&format!("redis+sentinel://{many}/harbour")).expect_err("too many");
        let most = vec!["a"; MAX_SENTINELS].join(",");
        split(&format!("redis+sentinel://{most}/harbour")).expect("the most");
    }
}
