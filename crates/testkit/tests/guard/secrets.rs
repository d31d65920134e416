//! Secrets are never logged.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use pintle_auth::resource::{Dpop, DpopNonce, IntrospectionClient, RequireBearer};
use pintle_http::{HttpServer, ServeHttp as _};
use pintle_server::{Server, Tool};
use pintle_testkit::issuer::{Issuer, IssuerBehavior, ProofKey};
use tracing::Dispatch;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use crate::guard::ask::call;
use crate::guard::site::{HERE, Site};

/// Everything that was logged.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Records everything that this thread logs, while the returned values live. There are two
    /// subscribers, because with a single one a thread without a subscriber disables logging for all.
    pub(crate) fn listen(&self) -> (DefaultGuard, Dispatch) {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(self.clone())
            .finish();
        (
            tracing::subscriber::set_default(subscriber),
            Dispatch::new(tracing_subscriber::registry()),
        )
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no panic")).into_owned()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Log {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

// spec: 2025-11-25 AUTH-79, AUTH-80
// spec: 2026-07-28 N-AUTH-50
// hardening: H-46
#[tokio::test]
async fn no_secret_is_logged_at_the_finest_level() {
    let log = Log::default();
    let _here = log.listen();
    let site = Site::requiring(|all| all.dpop(Dpop::Accepted, DpopNonce::Required)).await;
    let key = ProofKey::new();
    let good = site.token().scopes("books:read").sign();
    let bound = site.token().bound_to(&key.thumbprint()).sign();
    let proof = key.proof("POST", HERE, &bound).sign();
    let secrets = vec![
        good.clone(),
        bound.clone(),
        proof.clone(),
        site.token().expires(-100).sign(),
        site.issuer.token("https://other.test").sign(),
        "a-token-that-is-garbage".to_owned(),
    ];
    for secret in &secrets {
        call("whoami").bearer(secret).of(site.address).await;
    }
    call("open").bearer(&good).of(site.address).await;
    call("head").bearer(&good).of(site.address).await;
    call("whoami")
        .at(&format!("/mcp?access_token={good}"))
        .of(site.address)
        .await;
    let ask = call("whoami").with("authorization", &format!("DPoP {bound}"));
    ask.with("dpop", &proof).of(site.address).await;
    site.issuer.set_behavior(IssuerBehavior::Down);
    introspected(&site.issuer, &good).await;
    let text = log.text();
    assert!(
        text.contains("a token cannot be verified"),
        "it logs at all: {text}"
    );
    for secret in secrets
        .iter()
        .map(String::as_str)
        .chain(["s3cret-of-the-server"])
    {
        assert!(!text.contains(secret), "{text}");
        // The signature alone would identify the token.
        let signature = secret.rsplit('.').next().unwrap_or(secret);
        assert!(!text.contains(signature), "{text}");
    }
}

async fn introspected(issuer: &Issuer, token: &str) {
    let asker = IntrospectionClient::new("api", "s3cret-of-the-server");
    let layer = RequireBearer::introspection(issuer.url(), asker, issuer.clone())
        .audience(HERE)
        .build()
        .expect("good settings");
    assert!(!format!("{layer:?}").contains("s3cret"));
    let server = Server::new("bank", "1").add_tool(Tool::new("whoami").handler(async || "me"));
    let service = server.into_http().expect("starts");
    let server = HttpServer::bind_with_layer(layer, service, "127.0.0.1:0");
    let server = server.await.expect("a port");
    let address = server.address().expect("an address");
    let serving = tokio::spawn(server.run_until(std::future::pending()));
    let came = call("whoami").bearer(token).of(address).await;
    assert_eq!(came.status, 503);
    serving.abort();
}
