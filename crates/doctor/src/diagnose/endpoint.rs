//! Rules for URLs: connection, path, authorization and token.

use super::Findings;
use crate::auth::LinkState;
use crate::facts::{Contact, EndpointFacts, Failure, TokenFacts};
use crate::rule::{self, Rule};

impl Findings<'_> {
    pub(super) fn check_endpoint(&mut self, endpoint: &EndpointFacts) {
        let before = self.all.len();
        self.check_contact(endpoint);
        self.check_token(endpoint);
        if endpoint.token.is_none() {
            self.check_sign_in(endpoint);
        }
        match &endpoint.conversation {
            Some(Ok(conversation)) => self.check_conversation(conversation),
            Some(Err(failure)) if self.is_unexplained(before) => self.check_talk(endpoint, failure),
            _ => {}
        }
    }

    fn check_talk(&mut self, endpoint: &EndpointFacts, failure: &Failure) {
        let (url, key) = (&endpoint.url, self.url_key());
        match failure {
            Failure::Ended => self.add(
                rule::BROKEN,
                key,
                format!("{url} closes the connection during the handshake"),
                "see the log of the server, or of a proxy before it".to_owned(),
            ),
            Failure::Unauthorized(status) => self.add(
                rule::SIGN_IN,
                key,
                format!("{url} requires authorization for the handshake (HTTP status {status})"),
                format!(
                    "sign in in {}, or add a token to its headers",
                    self.facts.place.host
                ),
            ),
            failure => self.check_refusal(failure, key),
        }
    }

    /// Whether no finding since this position explains why there is no conversation.
    fn is_unexplained(&self, before: usize) -> bool {
        let mut since = self.all.iter().skip(before);
        !since.any(|finding| finding.rule.severity == rule::Severity::Error)
    }

    fn check_contact(&mut self, endpoint: &EndpointFacts) {
        let url = &endpoint.url;
        let (rule, message, remedy) = match &endpoint.contact {
            Contact::Status(status) => match self.of_status(endpoint, *status) {
                Some(found) => found,
                None => return,
            },
            Contact::UnusableUrl(reason) => (
                rule::INVALID_URL,
                format!("{url} is not a valid URL: {reason}"),
                "correct the URL".to_owned(),
            ),
            Contact::Refused => (
                rule::REFUSED,
                format!("no server listens at {url}"),
                "start the server, or correct the host and the port".to_owned(),
            ),
            Contact::NoAddress(host) => (
                rule::NO_ADDRESS,
                format!("the host {host} has no address"),
                "correct the host name; a VPN may be missing".to_owned(),
            ),
            Contact::Tls(reason) => (
                rule::TLS,
                format!("there is no secure connection to {url}: {reason}"),
                "the server needs a certificate for this host name from a trusted authority; for an authority of \
                 your own set SSL_CERT_FILE, and NODE_EXTRA_CA_CERTS for hosts on Node"
                    .to_owned(),
            ),
            Contact::Proxy(reason) => (
                rule::PROXY,
                format!("the proxy does not connect to {url}: {reason}"),
                format!("correct {}, or add the host to NO_PROXY", endpoint.proxy.unwrap_or("HTTPS_PROXY")),
            ),
            Contact::TimedOut => (
                rule::HANG,
                format!("{url} does not answer in time{}", behind(endpoint.proxy)),
                "check the URL, the network and the server".to_owned(),
            ),
            Contact::Broken(reason) => (
                rule::BROKEN,
                format!("the connection to {url} breaks: {reason}{}", behind(endpoint.proxy)),
                "check the scheme and the port of the URL: a port for https does not answer http".to_owned(),
            ),
        };
        let key = self.url_key();
        self.add(rule, key, message, remedy);
    }

    fn of_status(
        &self,
        endpoint: &EndpointFacts,
        status: u16,
    ) -> Option<(&'static Rule, String, String)> {
        let url = &endpoint.url;
        if let Some(target) = &endpoint.redirect {
            let is_https = target.starts_with("https://") && url.starts_with("http://");
            let rule = if is_https {
                rule::NEEDS_HTTPS
            } else {
                rule::REDIRECT
            };
            let message =
                format!("{url} redirects to {target}, and clients do not follow with a body");
            return Some((rule, message, format!("change the URL to {target}")));
        }
        // A server may reject the first request, which is of the newest revision.
        if matches!(endpoint.conversation, Some(Ok(_))) {
            return None;
        }
        match status {
            404 | 405 | 410 => {
                let remedy = match &endpoint.better_url {
                    Some(better) => {
                        format!("change the URL to {better}, where an MCP server answers")
                    }
                    None => "correct the path; it is often /mcp".to_owned(),
                };
                Some((
                    rule::WRONG_PATH,
                    format!("{url} answers with HTTP status {status}"),
                    remedy,
                ))
            }
            500.. => {
                let message = format!("{url} answers with HTTP status {status}");
                let remedy = "the server or a proxy before it has failed: see its log".to_owned();
                Some((rule::SERVER_ERROR, message, remedy))
            }
            _ => None,
        }
    }

    fn check_token(&mut self, endpoint: &EndpointFacts) {
        let Some(token) = &endpoint.token else {
            return;
        };
        let key = self.header_key();
        if let Some(age) = token.expired_for {
            let message = format!("the token expired {} ago", rounded(age));
            self.add(rule::EXPIRED_TOKEN, key, message, renewal(self, token));
        } else if let Some(Err(Failure::Unauthorized(status))) = &endpoint.conversation {
            let message = format!("the server rejects the token (HTTP status {status})");
            self.add(rule::REJECTED_TOKEN, key, message, renewal(self, token));
        }
    }

    /// Checks the steps of a sign-in, if the server requires one and there is no token.
    fn check_sign_in(&mut self, endpoint: &EndpointFacts) {
        if !matches!(endpoint.contact, Contact::Status(401 | 403)) {
            return;
        }
        let key = self.url_key();
        let broken = endpoint
            .chain
            .iter()
            .find(|link| link.state == LinkState::Broken);
        if let Some(link) = broken {
            let message = format!(
                "the sign-in breaks at its step \"{}\": {}",
                link.name, link.finding
            );
            let remedy = link.next.clone().unwrap_or_default();
            self.add(rule::SIGN_IN_CHAIN, key, message, remedy);
            return;
        }
        let place = &self.facts.place;
        self.add(
            rule::SIGN_IN,
            key,
            format!("{} requires a sign-in", endpoint.url),
            format!(
                "sign in in {}, and for the diagnosis with `pintle login {}`",
                place.host, place.address
            ),
        );
    }
}

fn renewal(findings: &Findings<'_>, token: &TokenFacts) -> String {
    let place = &findings.facts.place;
    match (token.is_written, token.is_renewable) {
        (true, _) => "write a new token, or a variable that has one".to_owned(),
        (false, true) => format!("`pintle inspect {}` renews it", place.address),
        (false, false) => format!("sign in again: `pintle login {}`", place.address),
    }
}

fn behind(proxy: Option<&str>) -> String {
    let name = proxy.map(|name| format!("; {name} names a proxy for it"));
    name.unwrap_or_default()
}

fn rounded(time: std::time::Duration) -> String {
    match time.as_secs() {
        seconds @ ..120 => format!("{seconds} s"),
        seconds @ ..7_200 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_age_of_a_token_is_rounded() {
        let shown = |seconds| rounded(Duration::from_secs(seconds));
        assert_eq!(
            [shown(5), shown(300), shown(10_000), shown(400_000)],
            ["5 s", "5 min", "2 h", "4 days"]
        );
    }
}
