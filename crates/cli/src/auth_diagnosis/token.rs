//! What the server says to the token that it is shown.

use pintle::auth::{Challenge, challenges};
use pintle::runtime::Fetch;

use super::{Link, Walk};
use crate::access::probe_with;
use pintle_hosts::{Endpoint, without_query};

const NAME: &str = "token";

impl<F: Fetch> Walk<'_, F> {
    /// Shows a token to the server, and hears whether it takes it.
    pub(super) async fn token(&mut self, shown: &Endpoint) {
        let server = without_query(&shown.url);
        let link = match probe_with(self.fetch, shown).await {
            Ok(probe) if matches!(probe.status, 400 | 401 | 403) => {
                let lines = probe.challenges.iter().map(String::as_str);
                let found = challenges(lines);
                let ours = found.iter().find(|one| one.parameter("error").is_some());
                match (probe.status, ours) {
                    // It has something against the request, and not against the token.
                    (400, None) => Link::whole(NAME, "the server takes it"),
                    (status, ours) => refused(server, status, ours),
                }
            }
            Ok(probe) if probe.status == 503 => Link::broken(
                NAME,
                "nobody can say whether it is good (HTTP status 503)",
                "the server has to reach the issuer of its tokens: their keys, or where it asks about \
                 them",
            ),
            Ok(_) => Link::whole(NAME, "the server takes it"),
            Err(fault) => Link::broken(
                NAME,
                format!("the server does not answer to it: {fault}"),
                "try again when the server answers",
            ),
        };
        self.links.push(link);
    }
}

/// What a server has against a token, and how to come by a better one.
fn refused(server: &str, status: u16, challenge: Option<&Challenge>) -> Link {
    let says = |name: &str| challenge.and_then(|one| one.parameter(name));
    let code = says("error").unwrap_or("without a reason");
    let description = says("error_description").map(|text| format!(": {text}"));
    let scopes = says("scope").filter(|_| status == 403);
    let wanted = scopes.map(|scopes| format!(", and wants the scopes \"{scopes}\""));
    let said = format!(
        "the server refuses it (HTTP status {status}, {code}){}{}",
        description.unwrap_or_default(),
        wanted.unwrap_or_default()
    );
    let asked = scopes.unwrap_or_default().split_ascii_whitespace();
    let asked: String = asked.map(|scope| format!(" --scope {scope}")).collect();
    Link::broken(
        NAME,
        said,
        format!(
            "get one that is for {server}: with `pintle login {server}{asked}`, or another in the \
             variable of --bearer-env"
        ),
    )
}
