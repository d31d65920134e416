//! Policy for URLs that metadata of other parties names.
//!
//! A server names its authorization servers, and these name their endpoints. None of them may use
//! this client to reach a network that it cannot reach itself.

use pintle_runtime::{Host, NetworkScope, WebUrl};

/// Names under which clouds keep the credentials of a machine.
const METADATA_NAMES: [&str; 3] = ["metadata.google.internal", "metadata.goog", "instance-data"];

/// Which addresses from metadata are followed.
#[derive(Debug, Clone)]
pub struct FetchPolicy {
    network: NetworkScope,
    trusted: Vec<Box<str>>,
    plain: Vec<Box<str>>,
}

/// Why an address from metadata is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchPolicyError {
    /// The URL is `http` and its host is not a loopback host.
    #[error("it is not https")]
    NotHttps,
    /// The host is a metadata service of a cloud, or its address is not that of a single machine.
    #[error("it leads to an address that nothing is fetched from")]
    ForbiddenAddress,
    /// The URL is on this machine or in a private network, and the server is public.
    #[error("it leads into a private network, and the server that named it is a public one")]
    PrivateNetwork,
}

impl FetchPolicy {
    /// Creates the policy of a server. A server on this machine or in a private network may name
    /// URLs there; a public server may not.
    pub fn of(server: &WebUrl) -> Self {
        // A name under `localhost` counts only with TLS, because a network may answer for the name.
        let is_proved = server.host().address().is_some() || server.is_secure_or_loopback();
        let network = match is_proved && is_private(server.host()) {
            true => NetworkScope::Private,
            false => NetworkScope::Public,
        };
        Self {
            network,
            trusted: Vec::new(),
            plain: Vec::new(),
        }
    }

    /// Follows addresses of this host wherever it is: a name or an address of a private network,
    /// written as in the metadata.
    #[must_use]
    pub fn trust_host(mut self, host: &str) -> Self {
        self.trusted.push(host.to_ascii_lowercase().into());
        self
    }

    /// Permits `http` URLs of this host. An attacker in the network can then read the tokens.
    ///
    /// Only `localhost` and loopback addresses need no permission. A developer permits a name such as
    /// `app.localhost` so; metadata of all servers may lead there then.
    #[must_use]
    pub fn allow_http(mut self, host: &str) -> Self {
        self.plain.push(host.to_ascii_lowercase().into());
        self
    }

    /// Checks the scheme and the host of a URL. It resolves no names.
    ///
    /// # Errors
    ///
    /// [`FetchPolicyError`].
    pub fn check(&self, url: &WebUrl) -> Result<(), FetchPolicyError> {
        let host = url.host();
        if is_never(host) {
            return Err(FetchPolicyError::ForbiddenAddress);
        }
        if is_private(host) && self.network(url) == NetworkScope::Public {
            return Err(FetchPolicyError::PrivateNetwork);
        }
        if !self.allows(url) {
            return Err(FetchPolicyError::NotHttps);
        }
        Ok(())
    }

    /// Returns true if tokens may be sent to a URL: with TLS, on this machine, or by permission.
    pub(crate) fn allows(&self, url: &WebUrl) -> bool {
        url.is_secure_or_loopback() || has(&self.plain, url.host())
    }

    /// Returns the addresses to which the name of a URL may resolve.
    pub fn network(&self, url: &WebUrl) -> NetworkScope {
        let host = url.host();
        match has(&self.trusted, host) || host.is_local() && has(&self.plain, host) {
            true => NetworkScope::Private,
            false => self.network,
        }
    }
}

fn has(hosts: &[Box<str>], host: &Host<'_>) -> bool {
    let text = host.to_string();
    hosts.iter().any(|own| **own == *text)
}

/// Returns true for names of this machine, in the wide sense, and for addresses that are not public.
fn is_private(host: &Host<'_>) -> bool {
    let is_private_address = |address| NetworkScope::of(address) != Some(NetworkScope::Public);
    host.is_local() || host.address().is_some_and(is_private_address)
}

fn is_never(host: &Host<'_>) -> bool {
    let is_metadata_name = |name| METADATA_NAMES.contains(&name);
    host.name().is_some_and(is_metadata_name)
        || host
            .address()
            .is_some_and(|address| NetworkScope::of(address).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(server: &str, named: &str) -> Result<(), FetchPolicyError> {
        let url = |text: &str| WebUrl::parse(text).expect(text);
        FetchPolicy::of(&url(server)).check(&url(named))
    }

    // spec: 2025-11-25 SEC-09, SEC-10, SEC-11, AUTH-83 (client)
    // spec: 2026-07-28 N-AUTH-35 (client), N-SEC-04
    // hardening: H-29, H-31
    #[test]
    fn a_public_server_cannot_redirect_into_a_private_network() {
        use FetchPolicyError::{ForbiddenAddress, NotHttps, PrivateNetwork};
        for (named, expected) in [
            ("https://as.example/", Ok(())),
            ("https://8.8.8.8/", Ok(())),
            ("https://[2606:4700::1]/", Ok(())),
            ("http://as.example/", Err(NotHttps)),
            ("http://8.8.8.8/", Err(NotHttps)),
            ("https://169.254.169.254/latest", Err(ForbiddenAddress)),
            ("https://[fe80::1]/", Err(ForbiddenAddress)),
            ("https://[fd00:ec2::254]/", Err(ForbiddenAddress)),
            ("https://[::ffff:169.254.169.254]/", Err(ForbiddenAddress)),
            ("https://metadata.google.internal/", Err(ForbiddenAddress)),
            ("https://metadata.google.internal./", Err(ForbiddenAddress)),
            ("https://0.0.0.0/", Err(ForbiddenAddress)),
            ("https://[::]/", Err(ForbiddenAddress)),
            ("https://224.0.0.1/", Err(ForbiddenAddress)),
            ("https://100.100.100.200/", Err(ForbiddenAddress)),
            ("https://10.0.0.1/", Err(PrivateNetwork)),
            ("https://172.16.0.1/", Err(PrivateNetwork)),
            ("https://192.168.0.1/", Err(PrivateNetwork)),
            ("https://100.64.0.1/", Err(PrivateNetwork)),
            ("https://[fc00::1]/", Err(PrivateNetwork)),
            ("https://[::ffff:10.0.0.1]/", Err(PrivateNetwork)),
            ("https://[64:ff9b::a00:1]/", Err(PrivateNetwork)),
            ("https://[2002:a00:1::]/", Err(PrivateNetwork)),
            ("https://[::1]/", Err(PrivateNetwork)),
            ("http://127.0.0.1/", Err(PrivateNetwork)),
            ("http://localhost/", Err(PrivateNetwork)),
            ("https://x.localhost/", Err(PrivateNetwork)),
            ("https://x.localhost./", Err(PrivateNetwork)),
            ("https://localhost./", Err(PrivateNetwork)),
            ("http://127.0.0.2/", Err(PrivateNetwork)),
            ("http://[::ffff:127.0.0.1]/", Err(PrivateNetwork)),
        ] {
            assert_eq!(
                checked("https://mcp.example/mcp", named),
                expected,
                "{named}"
            );
        }
    }

    // hardening: H-29, H-31
    #[test]
    fn a_private_server_names_its_neighbours_but_not_cloud_metadata() {
        for server in [
            "http://localhost:3000/mcp",
            "http://127.0.0.1/",
            "https://10.1.2.3/",
        ] {
            assert_eq!(checked(server, "http://127.0.0.1:9/"), Ok(()));
            assert_eq!(checked(server, "https://192.168.0.1/"), Ok(()));
            assert_eq!(
                checked(server, "http://192.168.0.1/"),
                Err(FetchPolicyError::NotHttps)
            );
            assert_eq!(
                checked(server, "http://169.254.169.254/"),
                Err(FetchPolicyError::ForbiddenAddress)
            );
        }
    }

    #[test]
    fn a_host_that_is_allowed_by_name_is_followed() {
        let url = |text: &str| WebUrl::parse(text).expect(text);
        let fetch_policy = FetchPolicy::of(&url("https://mcp.example/"))
            .trust_host("10.0.0.1")
            .allow_http("as.example");
        assert_eq!(fetch_policy.check(&url("https://10.0.0.1/")), Ok(()));
        assert_eq!(
            fetch_policy.network(&url("https://10.0.0.1/")),
            NetworkScope::Private
        );
        assert_eq!(fetch_policy.check(&url("http://AS.example/")), Ok(()));
        assert_eq!(
            fetch_policy.check(&url("https://10.0.0.2/")),
            Err(FetchPolicyError::PrivateNetwork)
        );
        assert_eq!(
            fetch_policy.network(&url("https://as.example/")),
            NetworkScope::Public
        );
    }

    // hardening: H-29, H-31
    #[test]
    fn a_name_under_localhost_needs_tls_or_a_permission() {
        let url = |text: &str| WebUrl::parse(text).expect(text);
        let secure = "https://app.localhost/";
        assert_eq!(checked(secure, "https://as.localhost/"), Ok(()));
        for server in [secure, "http://localhost:3000/"] {
            for named in ["http://as.localhost/", "http://localhost./"] {
                assert_eq!(
                    checked(server, named),
                    Err(FetchPolicyError::NotHttps),
                    "{named}"
                );
            }
        }
        let plain = "http://app.localhost:3000/";
        for named in [plain, "https://app.localhost/", "http://127.0.0.1/"] {
            assert_eq!(
                checked(plain, named),
                Err(FetchPolicyError::PrivateNetwork),
                "{named}"
            );
        }
        let fetch_policy = FetchPolicy::of(&url(plain)).allow_http("app.localhost");
        assert_eq!(fetch_policy.check(&url(plain)), Ok(()));
        assert_eq!(fetch_policy.network(&url(plain)), NetworkScope::Private);
        let other = fetch_policy.check(&url("http://127.0.0.1/"));
        assert_eq!(other, Err(FetchPolicyError::PrivateNetwork));
    }
}
