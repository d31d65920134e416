//! Finds out why a server rejects a client without a valid token.
//!
//! A sign-in follows a chain: the challenge of the server, its metadata, and its authorization servers. Each
//! step is a link. The diagnosis uses the same requests and rules as a sign-in. Behind a broken link it
//! continues if later ones can be checked.

mod issuer;
mod link;
mod probe;
mod resource;
#[cfg(test)]
mod tests;
mod token;

use pintle::auth::metadata::{DiscoveryError, DiscoveryStep, MetadataError};
use pintle::auth::{FetchPolicy, WebUrl, challenges};
use pintle::runtime::{Fetch, FetchError, FetchRequest, FetchResponse};

use pintle_hosts::{Endpoint, without_query};

use link::AuthDiagnosis;
pub use link::{Link, LinkState};
pub(crate) use probe::request;
pub use probe::{AuthProbe, probe, probe_with};

/// Maximum number of authorization servers of one resource to check.
const ISSUERS: usize = 4;

/// Checks the links of the chain of a server. A configured or stored token is the last link.
///
/// # Errors
///
/// [`FetchError`] if the server itself does not answer.
pub async fn diagnose_auth(
    fetch: &impl Fetch,
    endpoint: &Endpoint,
    server: WebUrl,
    has_client: bool,
) -> Result<Vec<Link>, FetchError> {
    let probe = probe_with(fetch, &endpoint.clone().unauthorized()).await?;
    let mut diagnosis = AuthDiagnosis {
        fetch,
        fetch_policy: FetchPolicy::of(&server),
        server,
        has_client,
        links: Vec::new(),
    };
    let named = diagnosis.check_challenge(probe.status, &probe.challenges);
    let issuers = diagnosis.check_resource(named.as_deref()).await;
    for issuer in issuers.iter().take(ISSUERS) {
        diagnosis.check_issuer(issuer).await;
    }
    if endpoint.is_authorized() {
        diagnosis.check_token(endpoint).await;
    }
    Ok(diagnosis.links)
}

impl<F: Fetch> AuthDiagnosis<'_, F> {
    /// Checks the challenge to a request without a token. Returns the URL of the metadata in it, if any.
    fn check_challenge(&mut self, status: u16, lines: &[String]) -> Option<String> {
        const NAME: &str = "challenge";
        let place = resource::place(&self.server);
        let advice = format!(
            "the server must answer 401 with `WWW-Authenticate: Bearer resource_metadata=\"{place}\"`"
        );
        let found = challenges(lines.iter().map(String::as_str));
        let supported = found.iter().find(|one| one.is("Bearer") || one.is("DPoP"));
        let named = supported.and_then(|one| one.parameter("resource_metadata"));
        let schemes: Vec<&str> = found.iter().map(|one| one.scheme()).collect();
        self.links.push(match (status, supported, named) {
            (401, Some(_), Some(named)) => Link::whole(
                NAME,
                format!("status 401, metadata at {}", without_query(named)),
            ),
            (401, Some(_), None) => Link::weak(
                NAME,
                "status 401, and WWW-Authenticate has no \"resource_metadata\"",
                advice,
            ),
            (401, None, _) if schemes.is_empty() => {
                Link::broken(NAME, "status 401, and no valid WWW-Authenticate", advice)
            }
            (401, None, _) => {
                let schemes = schemes.join(", ");
                Link::broken(
                    NAME,
                    format!("WWW-Authenticate requires {schemes} instead of Bearer"),
                    advice,
                )
            }
            _ => Link::broken(
                NAME,
                format!("status {status} without a token, and not 401"),
                advice,
            ),
        });
        named.map(str::to_owned)
    }

    /// Follows a discovery to its end. Returns the requested URLs with their results, and the last step.
    async fn search<T>(
        &self,
        first: DiscoveryStep<T>,
        mut take: impl FnMut(Result<FetchResponse, FetchError>) -> DiscoveryStep<T>,
    ) -> (Vec<String>, DiscoveryStep<T>) {
        let (mut attempts, mut step) = (Vec::new(), first);
        while let DiscoveryStep::Fetch(request) = step {
            let place = FetchRequest::url_without_query(&request).to_owned();
            let answer = self.fetch.fetch(request).await;
            attempts.push(match &answer {
                Ok(answer) => format!("{place} (HTTP status {})", answer.status),
                Err(fault) => format!("{place} ({fault})"),
            });
            step = take(answer);
        }
        (attempts, step)
    }
}

/// Returns the URLs without a document, each with the reason.
fn places(tried: &[(String, DiscoveryError)]) -> String {
    let places = tried.iter().map(|(place, why)| format!("{place} ({why})"));
    places.collect::<Vec<_>>().join(", ")
}

/// Returns the URL and the fault of the first document that exists but is not valid.
fn unusable(tried: &[(String, DiscoveryError)]) -> Option<(&str, &MetadataError)> {
    tried.iter().find_map(|(place, why)| match why {
        DiscoveryError::InvalidDocument(fault) => Some((place.as_str(), fault)),
        _ => None,
    })
}
