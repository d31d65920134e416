//! The chain from a server that wants a token to where tokens come from, link by link: which one is
//! broken, what its document says, and what to do about it.
//!
//! It is walked as a sign-in walks it, with the same searches and the same rules, but it does not end
//! at the first fault if there is more to be said.

mod link;
mod resource;
mod server;
#[cfg(test)]
mod tests;
mod token;

use pintle::auth::metadata::{DiscoveryError, DiscoveryStep, MetadataError};
use pintle::auth::{FetchPolicy, WebUrl, challenges};
use pintle::runtime::{Fetch, FetchError, FetchRequest, FetchResponse};

use crate::access::probe_with;
use pintle_hosts::{Endpoint, without_query};

use link::Walk;
pub(crate) use link::{Link, LinkState};

/// How many authorization servers of one resource are looked at.
const ISSUERS: usize = 4;

/// Walks the chain of a server, as far as it goes; to its end is a token, if one is shown.
///
/// # Errors
///
/// [`FetchError`] when the server itself does not answer.
pub(crate) async fn walk(
    fetch: &impl Fetch,
    endpoint: &Endpoint,
    server: WebUrl,
    has_client: bool,
) -> Result<Vec<Link>, FetchError> {
    let probe = probe_with(fetch, &endpoint.clone().unauthorized()).await?;
    let mut walk = Walk {
        fetch,
        bounds: FetchPolicy::of(&server),
        server,
        has_client,
        links: Vec::new(),
    };
    let named = walk.challenge(probe.status, &probe.challenges);
    let issuers = walk.resource(named.as_deref()).await;
    for issuer in issuers.iter().take(ISSUERS) {
        walk.server(issuer).await;
    }
    if endpoint.is_authorized() {
        walk.token(endpoint).await;
    }
    Ok(walk.links)
}

impl<F: Fetch> Walk<'_, F> {
    /// What the server says to whoever shows no token; gives where it says its metadata is.
    fn challenge(&mut self, status: u16, lines: &[String]) -> Option<String> {
        const NAME: &str = "challenge";
        let place = resource::place(&self.server);
        let wanted = format!(
            "the server has to answer 401 with `WWW-Authenticate: Bearer resource_metadata=\"{place}\"`"
        );
        let found = challenges(lines.iter().map(String::as_str));
        let ours = found.iter().find(|one| one.is("Bearer") || one.is("DPoP"));
        let named = ours.and_then(|one| one.parameter("resource_metadata"));
        let schemes: Vec<&str> = found.iter().map(|one| one.scheme()).collect();
        self.links.push(match (status, ours, named) {
            (401, Some(_), Some(named)) => Link::whole(
                NAME,
                format!("status 401, metadata at {}", without_query(named)),
            ),
            (401, Some(_), None) => Link::weak(
                NAME,
                "status 401, and WWW-Authenticate has no \"resource_metadata\"",
                wanted,
            ),
            (401, None, _) if schemes.is_empty() => Link::broken(
                NAME,
                "status 401, and no WWW-Authenticate that can be read",
                wanted,
            ),
            (401, None, _) => {
                let schemes = schemes.join(", ");
                Link::broken(
                    NAME,
                    format!("WWW-Authenticate wants {schemes}, and no Bearer"),
                    wanted,
                )
            }
            _ => Link::broken(
                NAME,
                format!("status {status} without a token, and not 401"),
                wanted,
            ),
        });
        named.map(str::to_owned)
    }

    /// Makes a search to its end; gives what was asked for and how it was answered, and the end.
    async fn search<T>(
        &self,
        first: DiscoveryStep<T>,
        mut take: impl FnMut(Result<FetchResponse, FetchError>) -> DiscoveryStep<T>,
    ) -> (Vec<String>, DiscoveryStep<T>) {
        let (mut asked, mut step) = (Vec::new(), first);
        while let DiscoveryStep::Fetch(request) = step {
            let place = FetchRequest::url_without_query(&request).to_owned();
            let answer = self.fetch.fetch(request).await;
            asked.push(match &answer {
                Ok(answer) => format!("{place} (HTTP status {})", answer.status),
                Err(fault) => format!("{place} ({fault})"),
            });
            step = take(answer);
        }
        (asked, step)
    }
}

/// Places where a document is not, and why.
fn places(tried: &[(String, DiscoveryError)]) -> String {
    let places = tried.iter().map(|(place, why)| format!("{place} ({why})"));
    places.collect::<Vec<_>>().join(", ")
}

/// A document that is there and must not be used, if there is one.
fn unusable(tried: &[(String, DiscoveryError)]) -> Option<(&str, &MetadataError)> {
    tried.iter().find_map(|(place, why)| match why {
        DiscoveryError::Fault(fault) => Some((place.as_str(), fault)),
        _ => None,
    })
}
