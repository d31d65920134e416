//! Whole sign-ins: secrets occur in no log, no error text and no `Debug` output.

use std::error::Error;
use std::fmt::{Debug, Write as _};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pintle_auth::{
    Algorithm, AuthorizationResponse, ClientConfig, ClientRegistration, CredentialStore,
    EnterpriseManaged, FileCredentialStore, FlowContext, GrantFlow, KeyGuard,
    MemoryCredentialStore, OAuth, Scopes, Secret, SigningKey,
};
use pintle_client::Client;
use pintle_http::client::{EndpointUrl, HttpClientOptions, HttpConnect};
use pintle_runtime::{Authorizer as _, RequestSummary};
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use crate::sign_in::site::{MARK, Site, consent, web};

const IDENTITY: &str = "s3cret-identity-of-the-user";
const PLATFORM: &str = "s3cret-word-of-the-platform";
const OWN: &str = "s3cret-of-the-client";

/// More than the members of a token request that can be repeated.
const MEMBERS: usize = 10;

/// Everything that was logged, stated in errors, and shown.
#[derive(Clone, Default)]
struct CapturedText(Arc<Mutex<Vec<u8>>>);

impl CapturedText {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("whole")).into_owned()
    }

    fn shows(&self, what: &dyn Debug) {
        let mut text = String::new();
        write!(text, "\n{what:?}\n{what:#?}\n").expect("memory");
        self.0.lock().expect("whole").extend(text.into_bytes());
    }

    /// The text of an error with all its sources.
    fn adds(&self, error: &(dyn Error + 'static)) {
        self.shows(&error);
        let mut cause = Some(error);
        while let Some(error) = cause {
            self.0
                .lock()
                .expect("whole")
                .extend(format!("\n{error}\n").into_bytes());
            cause = error.source();
        }
    }
}

impl Write for CapturedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("whole").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for CapturedText {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// A new key, and its text.
fn key() -> (SigningKey, String) {
    let (_, kept) = SigningKey::generate().expect("a key");
    let body = STANDARD.encode(kept.reveal());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let key = SigningKey::from_pem(&pem, Algorithm::Es256).expect("its text");
    (key.with_id("k1"), body)
}

/// Every grant flow, with its path.
fn ways(at: &str, key: SigningKey) -> Vec<(&'static str, ClientConfig)> {
    let own = || ClientRegistration::with_secret("known", OWN);
    let idp = EnterpriseManaged::new("https://idp.test", format!("{at}/idp"), own());
    let itself = || ClientConfig::new("test").with_grant_flow(GrantFlow::ClientCredentials);
    vec![
        ("/mcp", ClientConfig::new("test")),
        ("/dpop", ClientConfig::new("test")),
        ("/mcp", itself().registered_at(None, own())),
        (
            "/mcp",
            itself().registered_at(None, ClientRegistration::with_key("known", key)),
        ),
        (
            "/mcp",
            ClientConfig::new("test")
                .with_grant_flow(GrantFlow::Enterprise(idp))
                .registered_at(None, own()),
        ),
        (
            "/mcp",
            ClientConfig::new("test").with_grant_flow(GrantFlow::WorkloadIdentity),
        ),
        (
            "/dpop",
            ClientConfig::new("test").with_grant_flow(GrantFlow::WorkloadIdentity),
        ),
    ]
}

/// Stores credentials, and records every stored value, keys of proofs included.
#[derive(Clone, Default)]
struct Ledger {
    kept: MemoryCredentialStore,
    all: Arc<Mutex<Vec<Value>>>,
}

impl Ledger {
    /// Another store with the same record.
    fn anew(&self) -> Self {
        Self {
            kept: MemoryCredentialStore::default(),
            all: Arc::clone(&self.all),
        }
    }

    /// The values stored under a name, in all records.
    fn held(&self, name: &str) -> Vec<String> {
        let all = self.all.lock().expect("whole");
        let held = all.iter().filter_map(|record| record[name].as_str());
        held.map(str::to_owned).collect()
    }
}

impl CredentialStore for Ledger {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        self.kept.load(key)
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        if let Some(record) = text.and_then(|text| serde_json::from_str(text.reveal()).ok()) {
            self.all.lock().expect("whole").push(record);
        }
        self.kept.save(key, text)
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        self.kept.try_lock(key)
    }
}

fn oauth(url: &str, profile: ClientConfig, ledger: &Ledger, captured: &CapturedText) -> OAuth {
    let is_enterprise = matches!(profile.grant_flow, GrantFlow::Enterprise(_));
    let shown = captured.clone();
    let builder = OAuth::of(url, profile, web())
        .expect("a URL")
        .store(ledger.anew())
        .on_sign_in(move |visit| {
            shown.shows(&visit);
            let shown = shown.clone();
            async move {
                let response = consent(&visit.url).await;
                shown.shows(&response);
                Ok(Some(response))
            }
        })
        .on_assertion(move |_| async move {
            Ok(Secret::from(if is_enterprise {
                IDENTITY
            } else {
                PLATFORM
            }))
        });
    captured.shows(&builder);
    builder.build()
}

/// Calls, calls with an expired token, signs out, and signs in at an endpoint that refuses.
async fn live(
    site: &Site,
    url: &str,
    profile: &ClientConfig,
    ledger: &Ledger,
    captured: &CapturedText,
) {
    let oauth = oauth(url, profile.clone(), ledger, captured);
    let options = HttpClientOptions::default().authorizer(oauth.clone());
    captured.shows(&options);
    let endpoint = EndpointUrl::parse(url).expect("a URL");
    let connect = HttpConnect::new(endpoint, &options).expect("no header of ours");
    let client = Client::connect(connect).await.expect("a server");
    client.list_tools().await.expect("a list");
    site.wears_out();
    let summary = RequestSummary::new("POST", url, "tools/list");
    let before = oauth.issued_tokens().expect("read").expect("tokens");
    client
        .list_tools()
        .await
        .expect("a list with another token");
    let issued = oauth.issued_tokens().expect("read").expect("tokens");
    assert!(!issued.tokens.access.is(before.tokens.access.reveal()));
    let auth = oauth.authorize(summary).await.expect("headers");
    captured.shows(&(&oauth, &issued, &before, &auth, profile, &client));
    client.close().await;
    captured.shows(&oauth.sign_out().await.expect("forgotten"));
    for nth in 1..=MEMBERS {
        site.repeats(nth);
        let error = oauth.sign_in().await.expect_err("refused");
        assert!(error.to_string().contains("invalid_grant"), "{error}");
        captured.adds(&error);
    }
    site.repeats(0);
}

// spec: 2025-11-25 AUTH-59, AUTH-79, AUTH-80
// spec: 2026-07-28 N-AUTH-48, N-AUTH-50, X-EMA-07, X-DPOP-05, N-AUTH-04
// hardening: H-46
#[tokio::test]
async fn nothing_secret_of_any_sign_in_is_ever_seen() {
    let captured = CapturedText::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .finish();
    let _here = tracing::subscriber::set_default(subscriber);
    // A second subscriber, because with a single one a thread without a subscriber disables logging.
    let _other = tracing::Dispatch::new(tracing_subscriber::registry());
    let site = Site::default();
    let at = format!("http://{}", site.listen().await);
    let (key, body) = key();
    let ledger = Ledger::default();
    for (path, profile) in ways(&at, key) {
        live(&site, &format!("{at}{path}"), &profile, &ledger, &captured).await;
    }
    captured.shows(&(
        FlowContext::draw().expect("randomness"),
        AuthorizationResponse::with_query(&format!("code={MARK}")),
        Scopes::parse("a b").expect("scopes"),
        FileCredentialStore::at(std::env::temp_dir()).expect("a directory"),
    ));
    let text = captured.text();
    assert!(text.contains("a token is renewed"), "it logs at all");
    let mut secrets = site.secrets();
    let least = ["code", "access", "refresh", "word", "client"];
    for made in least.map(|what| format!("{MARK}-{what}")) {
        assert!(secrets.iter().any(|one| one.starts_with(&made)), "{made}");
    }
    for own in [IDENTITY, PLATFORM] {
        assert!(secrets.iter().any(|one| one == own), "{own} was sent");
    }
    assert!(secrets.iter().filter(|one| one.starts_with("eyJ")).count() > 4);
    secrets.extend([MARK.to_owned(), OWN.to_owned(), body]);
    let keys = ledger.held("dpop");
    assert!(keys.len() >= 2, "proofs have keys of their own");
    secrets.extend(keys);
    for secret in &secrets {
        for part in secret.split('.').filter(|part| part.len() >= 6) {
            let place = text.find(part).map(|at| &text[at.saturating_sub(300)..at]);
            assert_eq!(place, None, "{part}");
        }
    }
}
