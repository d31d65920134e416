//! Several processes that share the credentials of one sign-in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use pintle_auth::{ClientConfig, FileCredentialStore, OAuth};
use pintle_runtime::{
    AuthChallenge, Authorizer as _, Fetch as _, FetchRequest, FetchResponse, NetworkScope,
    RequestSummary,
};
use pintle_testkit::fake_http::{FakeResponse, FakeServer, SeenRequest, empty, json};
use pintle_testkit::issuer::Issuer;
use serde_json::json;

use crate::sign_in::site::{consent, web};

/// The name of the test below; a child process runs this test only.
const TEST: &str = "sign_in::processes::three_processes_renew_one_at_a_time_and_lose_nothing";
const STORE: &str = "PINTLE_TEST_STORE";
const SERVER: &str = "PINTLE_TEST_SERVER";
/// Requests of one process.
const REQUESTS: usize = 24;
/// The requests after which a token expires.
const USES: usize = 5;

/// A server whose tokens expire after a few requests.
fn server(issuer: &Issuer) -> FakeServer {
    let issuer = issuer.url().to_owned();
    let uses: Mutex<BTreeMap<String, usize>> = Mutex::default();
    FakeServer::new(move |seen, _| {
        let host = seen.header("host").unwrap_or_default();
        match seen.target.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => {
                let resource = format!("http://{host}/mcp");
                json(
                    200,
                    &json!({ "resource": resource, "authorization_servers": [issuer] }),
                )
            }
            "/mcp" => protected(seen, &mut uses.lock().expect("whole")),
            _ => empty(404),
        }
    })
}

fn protected(seen: &SeenRequest, uses: &mut BTreeMap<String, usize>) -> FakeResponse {
    let Some(token) = seen.header("authorization") else {
        return empty(401);
    };
    let count = uses.entry(token.to_owned()).or_default();
    *count += 1;
    match *count <= USES {
        true => empty(200),
        false => empty(401),
    }
}

async fn send(mut request: FetchRequest) -> FetchResponse {
    request.network = NetworkScope::Private;
    web().fetch(request).await.expect("an answer")
}

fn oauth(server: &str, store: &Path) -> pintle_auth::OAuthBuilder {
    let store = FileCredentialStore::at(store).expect("a directory");
    let oauth = OAuth::of(server, ClientConfig::new("test"), web());
    oauth.expect("a URL").store(store)
}

/// One process: it makes its requests, and never starts a sign-in.
async fn work(server: &str, store: &Path) {
    let oauth = oauth(server, store).build();
    let summary = RequestSummary::new("GET", server, "work");
    for _ in 0..REQUESTS {
        let mut before = 0;
        loop {
            let auth = oauth.authorize(summary).await.expect("headers");
            let headers = auth.headers.iter();
            let request = headers.fold(FetchRequest::get(server), |request, (name, value)| {
                request.header(name, value)
            });
            if send(request).await.status == 200 {
                break;
            }
            let refused = AuthChallenge::new(401, vec!["Bearer".to_owned()], auth.generation);
            oauth
                .handle_challenge(summary, refused)
                .await
                .expect("another token");
            // Other processes may use up the next token before this request, so the retries are bounded.
            before += 1;
            assert!(before < 50, "every token is worn out");
        }
    }
}

// A refresh token is valid once here, and its second use revokes all tokens of the sign-in. So the
// processes must store every new token.
//
// spec: 2025-11-25 AUTH-82
// spec: 2026-07-28 N-AUTH-48
// hardening: H-42, H-45
#[tokio::test]
async fn three_processes_renew_one_at_a_time_and_lose_nothing() {
    if let (Ok(server), Some(store)) = (std::env::var(SERVER), std::env::var_os(STORE)) {
        return work(&server, &PathBuf::from(store)).await;
    }
    let store = std::env::temp_dir().join(format!("pintle-three-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&store);
    let issuer = Issuer::listen().await.expect("a port");
    let origin = server(&issuer);
    let address = origin.listen().await.expect("a port");
    let server = format!("http://{address}/mcp");
    let visitor = oauth(&server, &store)
        .on_sign_in(|visit| async move { Ok(Some(consent(&visit.url).await)) });
    visitor.build().sign_in().await.expect("a token");
    let begin = || {
        Command::new(std::env::current_exe().expect("this program"))
            .args([TEST, "--exact", "--nocapture"])
            .env(SERVER, &server)
            .env(STORE, &store)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a process")
    };
    let all: Vec<_> = (0..3)
        .map(|_| begin())
        .map(|child| tokio::task::spawn_blocking(move || child.wait_with_output()))
        .collect();
    for one in all {
        let ended = one.await.expect("it ran").expect("its end");
        let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(ended.status.success(), "{stderr}");
        assert!(String::from_utf8_lossy(&ended.stdout).contains("1 passed"));
    }
    let asked = issuer.seen();
    let refreshed: Vec<&str> = asked
        .iter()
        .filter(|asked| asked.parameter("grant_type") == Some("refresh_token"))
        .filter_map(|asked| asked.parameter("refresh_token"))
        .collect();
    let different: BTreeSet<&str> = refreshed.iter().copied().collect();
    assert_eq!(refreshed.len(), different.len(), "each was used once");
    assert_eq!(issuer.reuses(), 0, "nothing was taken back");
    let least = 3 * REQUESTS / USES - 1;
    assert!(refreshed.len() >= least, "{} renewals", refreshed.len());
    assert_eq!(
        (issuer.count("/authorize"), issuer.count("/register")),
        (1, 1)
    );
    std::fs::remove_dir_all(&store).expect("removed");
}
