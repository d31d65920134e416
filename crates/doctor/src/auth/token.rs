//! The response of the server to the configured or stored token.

use pintle::auth::{Challenge, challenges};
use pintle::runtime::Fetch;

use super::{AuthDiagnosis, Link, probe_with};
use pintle_hosts::{Endpoint, without_query};

const NAME: &str = "token";

impl<F: Fetch> AuthDiagnosis<'_, F> {
    /// Sends the token to the server, and checks whether the server accepts it.
    pub(super) async fn check_token(&mut self, shown: &Endpoint) {
        let server = without_query(&shown.url);
        let link = match probe_with(self.fetch, shown).await {
            Ok(probe) if matches!(probe.status, 400 | 401 | 403) => {
                let lines = probe.challenges.iter().map(String::as_str);
                let found = challenges(lines);
                let ours = found.iter().find(|one| one.parameter("error").is_some());
                match (probe.status, ours) {
                    // The server rejects the request and not the token.
                    (400, None) => Link::whole(NAME, "the server accepts it"),
                    (status, ours) => refused(server, status, ours),
                }
            }
            Ok(probe) if probe.status == 503 => Link::broken(
                NAME,
                "the server cannot check it now (HTTP status 503)",
                "the server must reach the issuer of its tokens: their keys, or where it asks about \
                 them",
            ),
            Ok(_) => Link::whole(NAME, "the server accepts it"),
            Err(fault) => Link::broken(
                NAME,
                format!("the server does not answer to it: {fault}"),
                "try again when the server answers",
            ),
        };
        self.links.push(link);
    }
}

/// Returns the broken link for a rejected token, with advice on how to get another one.
fn refused(server: &str, status: u16, challenge: Option<&Challenge>) -> Link {
    let parameter = |name: &str| challenge.and_then(|one| one.parameter(name));
    let code = parameter("error").unwrap_or("without a reason");
    let description = parameter("error_description").map(|text| format!(": {text}"));
    let scopes = parameter("scope").filter(|_| status == 403);
    let required = scopes.map(|scopes| format!(", and requires the scopes \"{scopes}\""));
    let finding = format!(
        "the server rejects it (HTTP status {status}, {code}){}{}",
        description.unwrap_or_default(),
        required.unwrap_or_default()
    );
    let asked = scopes.unwrap_or_default().split_ascii_whitespace();
    let asked: String = asked.map(|scope| format!(" --scope {scope}")).collect();
    Link::broken(
        NAME,
        finding,
        format!(
            "get one that is for {server}: with `pintle login {server}{asked}`, or another in the \
             variable of --bearer-env"
        ),
    )
}
