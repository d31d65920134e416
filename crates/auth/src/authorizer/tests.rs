mod alone;
mod registrations;
mod saves;
mod sign_outs;
mod slow_stores;
mod weather;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_runtime::{Fetch, FetchError, FetchRequest, FetchResponse};
use serde_json::json;

use super::*;
use crate::client::ClientRegistration;
use crate::credentials::{FileCredentialStore, MemoryCredentialStore};
use crate::form;

const SERVER: &str = "https://mcp.example/mcp";
const ISSUER: &str = "https://as.example";

/// An authorization server whose refresh tokens are good once.
#[derive(Default)]
struct Issuer {
    tokens: AtomicUsize,
    refreshes: AtomicUsize,
    registrations: AtomicUsize,
    visits: AtomicUsize,
    current: Mutex<String>,
    moved: std::sync::atomic::AtomicBool,
    /// Responses that replace the normal ones, by the end of the URL.
    instead: Mutex<Vec<(&'static str, FetchResponse)>>,
    asked: Mutex<Vec<FetchRequest>>,
}

#[derive(Clone, Default)]
struct Site(Arc<Issuer>);

impl Site {
    fn token(&self) -> FetchResponse {
        let number = self.0.tokens.fetch_add(1, Ordering::SeqCst) + 1;
        let refresh = format!("refresh-secret-{number}");
        *self.0.current.lock().expect("whole") = refresh.clone();
        let body = json!({
            "access_token": format!("access-secret-{number}"), "token_type": "Bearer",
            "refresh_token": refresh, "expires_in": 3600,
        });
        FetchResponse::new(200, body.to_string())
    }

    /// Sends this response to the next request of a place.
    fn respond_once(&self, place: &'static str, answer: FetchResponse) {
        self.0.instead.lock().expect("whole").push((place, answer));
    }

    fn instead(&self, request: &FetchRequest) -> Option<FetchResponse> {
        self.0.asked.lock().expect("whole").push(request.clone());
        let mut all = self.0.instead.lock().expect("whole");
        let at = all
            .iter()
            .position(|(place, _)| request.url.ends_with(place))?;
        Some(all.remove(at).1)
    }

    /// The forms that were sent to a place.
    fn sent(&self, place: &str) -> Vec<Vec<(String, String)>> {
        let asked = self.0.asked.lock().expect("whole");
        let sent = asked.iter().filter(|request| request.url.ends_with(place));
        sent.map(|request| std::str::from_utf8(&request.body).expect("text"))
            .map(|body| form::read(body).expect("pairs"))
            .collect()
    }

    fn answer(&self, request: &FetchRequest) -> FetchResponse {
        let sent = form::read(std::str::from_utf8(&request.body).expect("text"));
        let sent = sent.unwrap_or_default();
        let value = |name: &str| {
            sent.iter()
                .find(|(own, _)| own == name)
                .map(|(_, v)| v.as_str())
        };
        let issuer = match self.0.moved.load(Ordering::SeqCst) {
            true => "https://as2.example",
            false => ISSUER,
        };
        match request.url.as_str() {
            "https://mcp.example/.well-known/oauth-protected-resource/mcp" => {
                let body = json!({ "resource": SERVER, "authorization_servers": [issuer] });
                FetchResponse::new(200, body.to_string())
            }
            url if url.ends_with("/.well-known/oauth-authorization-server") => {
                let body = json!({
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": format!("{issuer}/token"),
                    "registration_endpoint": format!("{issuer}/register"),
                    "revocation_endpoint": format!("{issuer}/revoke"),
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none"],
                });
                FetchResponse::new(200, body.to_string())
            }
            url if url.ends_with("/register") => {
                let number = self.0.registrations.fetch_add(1, Ordering::SeqCst);
                FetchResponse::new(
                    201,
                    json!({ "client_id": format!("client-{number}") }).to_string(),
                )
            }
            url if url.ends_with("/token") && value("grant_type") == Some("refresh_token") => {
                self.0.refreshes.fetch_add(1, Ordering::SeqCst);
                let is_good =
                    value("refresh_token") == Some(&*self.0.current.lock().expect("whole"));
                match is_good && url.starts_with(issuer) {
                    true => self.token(),
                    false => FetchResponse::new(400, r#"{"error":"invalid_grant"}"#),
                }
            }
            url if url.ends_with("/token") => self.token(),
            url if url.ends_with("/revoke") => FetchResponse::new(200, ""),
            _ => FetchResponse::new(404, ""),
        }
    }
}

impl Fetch for Site {
    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, FetchError> {
        // Others get their turn while this is under way.
        tokio::task::yield_now().await;
        let instead = self.instead(&request);
        Ok(instead.unwrap_or_else(|| self.answer(&request)))
    }
}

fn oauth_with(site: &Site, store: impl CredentialStore) -> OAuth {
    let counting = site.clone();
    OAuth::of(SERVER, ClientConfig::new("test"), site.clone())
        .expect("a URL")
        .store(store)
        .redirect("http://127.0.0.1:7/callback")
        .on_sign_in(move |visit| {
            counting.0.visits.fetch_add(1, Ordering::SeqCst);
            let state = renew_state(&visit);
            async move {
                Ok(Some(AuthorizationResponse::with_query(&format!(
                    "code=c&state={state}"
                ))))
            }
        })
        .build()
}

fn renew_state(visit: &SignInRequest) -> String {
    let query = visit.url.split_once('?').expect("a query").1;
    let pairs = form::read(query).expect("pairs");
    pairs
        .into_iter()
        .find(|(name, _)| name == "state")
        .expect("a state")
        .1
}

fn oauth(site: &Site) -> OAuth {
    oauth_with(site, MemoryCredentialStore::default())
}

fn summary() -> RequestSummary<'static> {
    RequestSummary::new("POST", SERVER, "tools/call x")
}

fn unauthorized(generation: u64) -> AuthChallenge {
    AuthChallenge::new(
        401,
        vec!["Bearer error=\"invalid_token\"".to_owned()],
        generation,
    )
}

fn short(generation: u64, scope: &str) -> AuthChallenge {
    let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"");
    AuthChallenge::new(403, vec![challenge], generation)
}

fn why(outcome: Result<RetryDecision, AuthorizerError>) -> AuthError {
    let error = outcome.expect_err("no way on");
    error.reason::<AuthError>().expect("one of ours").clone()
}

async fn bearer(oauth: &OAuth) -> (String, u64) {
    let headers = oauth.authorize(summary()).await.expect("headers");
    let header = headers.headers.first().map(|(_, value)| value.to_string());
    (header.unwrap_or_default(), headers.generation)
}

// spec: 2025-11-25 AUTH-57, AUTH-58, AUTH-23, AUTH-56
// spec: 2026-07-28 N-AUTH-43, N-AUTH-08
#[tokio::test]
async fn the_first_refusal_leads_to_a_token_and_every_request_has_it() {
    let site = Site::default();
    let oauth = oauth(&site);
    assert_eq!(bearer(&oauth).await, (String::new(), 0));
    let after = oauth
        .handle_challenge(summary(), unauthorized(0))
        .await
        .expect("a way on");
    assert_eq!(after, RetryDecision::Retry);
    for _ in 0..2 {
        assert_eq!(
            bearer(&oauth).await,
            ("Bearer access-secret-1".to_owned(), 1)
        );
    }
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
    assert_eq!(
        oauth.principal().as_deref(),
        Some("https://as.example client-0 1")
    );
}

// hardening: H-42
#[tokio::test]
async fn twenty_refusals_at_once_refresh_once() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    let all: Vec<_> = (0..20)
        .map(|_| {
            let oauth = oauth.clone();
            tokio::spawn(async move { oauth.handle_challenge(summary(), unauthorized(1)).await })
        })
        .collect();
    for one in all {
        let after = one.await.expect("it ran").expect("a way on");
        assert_eq!(after, RetryDecision::Retry);
    }
    assert_eq!(site.0.refreshes.load(Ordering::SeqCst), 1);
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
    assert_eq!(
        bearer(&oauth).await,
        ("Bearer access-secret-2".to_owned(), 2)
    );
}

// spec: 2025-11-25 AUTH-77
// hardening: H-43
#[tokio::test]
async fn a_token_that_is_refused_at_once_is_the_end() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth
        .handle_challenge(summary(), unauthorized(0))
        .await
        .expect("a way on");
    let mut again = unauthorized(1);
    again.before = 1;
    let error = why(oauth.handle_challenge(summary(), again).await);
    assert!(matches!(error, AuthError::NewTokenRejected(401)));
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
}

// spec: 2025-11-25 AUTH-73, AUTH-74, AUTH-76, AUTH-77, AUTH-78
// spec: 2026-07-28 N-AUTH-40, N-AUTH-41
#[tokio::test]
async fn an_operation_allows_two_step_ups_and_keeps_its_scopes() {
    let site = Site::default();
    let oauth = oauth(&site);
    let mut first = unauthorized(0);
    first.challenges = vec!["Bearer scope=\"read\"".to_owned()];
    oauth
        .handle_challenge(summary(), first)
        .await
        .expect("a way on");
    for generation in 1..=2 {
        let after = oauth
            .handle_challenge(summary(), short(generation, "write"))
            .await
            .expect("a way on");
        assert_eq!(after, RetryDecision::Retry);
    }
    let issued = oauth.issued_tokens().expect("kept").expect("tokens");
    assert_eq!(issued.requested.to_string(), "read write");
    let error = why(oauth.handle_challenge(summary(), short(3, "write")).await);
    assert!(
        matches!(error, AuthError::StepUps { after: 2, .. }),
        "{error}"
    );
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 3);
    let other = RequestSummary::new("POST", SERVER, "tools/call y");
    assert!(
        oauth
            .handle_challenge(other, short(3, "more"))
            .await
            .is_ok(),
        "another operation counts anew"
    );
    let plain = AuthChallenge::new(403, Vec::new(), 4);
    let after = oauth
        .handle_challenge(summary(), plain)
        .await
        .expect("an answer");
    assert_eq!(after, RetryDecision::GiveUp, "a plain no stays a no");
}

// hardening: H-25
#[tokio::test]
async fn the_next_sign_in_is_another_principal() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    let first = oauth.principal();
    oauth
        .handle_challenge(summary(), unauthorized(1))
        .await
        .expect("a way on");
    assert_eq!(site.0.refreshes.load(Ordering::SeqCst), 1);
    assert_eq!(oauth.principal(), first, "a fresh token is the same user's");
    oauth.sign_out().await.expect("forgotten");
    assert_eq!(oauth.principal(), None);
    oauth.sign_in().await.expect("a token");
    assert_ne!(oauth.principal(), first);
}

// spec: 2026-07-28 X-DPOP-02
#[tokio::test]
async fn many_requests_that_lack_the_same_nonce_ask_for_no_other_token() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    let lacking = |before: u32| {
        let challenge = "DPoP error=\"use_dpop_nonce\"".to_owned();
        let mut refused = AuthChallenge::new(401, vec![challenge], 1);
        refused.nonce = Some("n".to_owned());
        refused.before = before;
        refused
    };
    for _ in 0..5 {
        let after = oauth
            .handle_challenge(summary(), lacking(0))
            .await
            .expect("a way on");
        assert_eq!(after, RetryDecision::Retry);
    }
    assert_eq!(site.0.refreshes.load(Ordering::SeqCst), 0);
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
    let error = why(oauth.handle_challenge(summary(), lacking(NONCES)).await);
    assert!(
        matches!(error, AuthError::NewTokenRejected(401)),
        "not for ever"
    );
}

#[tokio::test]
async fn no_browser_opens_without_a_terminal() {
    let site = Site::default();
    let oauth = OAuth::of(SERVER, ClientConfig::new("test"), site.clone())
        .expect("a URL")
        .build();
    let error = why(oauth.handle_challenge(summary(), unauthorized(0)).await);
    assert!(matches!(error, AuthError::SignInUnavailable));
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 0);
}

// spec: 2025-11-25 AUTH-64
// spec: 2026-07-28 N-AUTH-09, N-AUTH-22, N-AUTH-46
// hardening: H-40
#[tokio::test]
async fn a_server_that_changes_its_issuer_is_signed_in_to_anew() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    site.0.moved.store(true, Ordering::SeqCst);
    oauth
        .handle_challenge(summary(), unauthorized(1))
        .await
        .expect("a way on");
    let issued = oauth.issued_tokens().expect("kept").expect("tokens");
    assert_eq!(issued.issuer, "https://as2.example");
    assert_eq!(issued.client.id, "client-1", "registered there, too");
    assert_eq!(
        site.0.refreshes.load(Ordering::SeqCst),
        0,
        "the old token went nowhere"
    );
}

#[tokio::test]
async fn a_refresh_token_that_is_used_up_leads_to_a_sign_in() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    *site.0.current.lock().expect("whole") = "revoked".to_owned();
    oauth
        .handle_challenge(summary(), unauthorized(1))
        .await
        .expect("a way on");
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 2);
    assert_eq!(
        site.0.registrations.load(Ordering::SeqCst),
        1,
        "the registration is kept"
    );
}

#[tokio::test]
async fn a_sign_out_removes_the_credentials() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    oauth.sign_out().await.expect("forgotten");
    assert_eq!(bearer(&oauth).await.0, "");
    assert!(oauth.issued_tokens().expect("read").is_none());
}

// hardening: H-46
#[tokio::test]
async fn nothing_of_a_sign_in_is_shown() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    let headers = oauth.authorize(summary()).await.expect("headers");
    let issued = oauth.issued_tokens().expect("kept");
    let shown = format!("{oauth:?} {headers:?} {issued:?} {:#?}", issued);
    assert!(!shown.contains("secret-1"), "{shown}");
    let error = AuthError::StorageFailed("x".into());
    assert_eq!(
        AuthorizerError::new(error).to_string(),
        "the request is not authorized"
    );
    let client = ClientRegistration::with_secret("c", "client-secret");
    assert!(!format!("{client:?}").contains("client-secret"));
}

// A default is part of the public interface: changing one is a deliberate act.
#[test]
fn defaults_match_the_documentation() {
    let options = OAuthOptions::default();
    assert_eq!(
        (
            options.sign_in_timeout.as_secs(),
            options.lock_timeout.as_secs()
        ),
        (300, 360)
    );
    assert_eq!(
        (options.max_step_ups, options.max_step_up_operations),
        (2, 1_024)
    );
    assert_eq!(options.step_up_ttl.as_secs(), 600);
}
