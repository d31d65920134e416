//! Faults of servers at URLs.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pintle::model::Base64;
use pintle_doctor::gather::{SignIns, StoredToken};
use pintle_hosts::Endpoint;
use pintle_testkit::fake_http::{
    FakeResponse, FakeServer, SeenRequest, courtesy, empty, json, result, with,
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;

use crate::planted::{Found, Planted};

const FILE: &str = ".cursor/mcp.json";

/// Serves a script on a port, and returns the origin.
async fn origin(script: impl Fn(&SeenRequest) -> FakeResponse + Send + Sync + 'static) -> String {
    let server = FakeServer::new(move |seen, _| script(seen));
    format!("http://{}", server.listen().await.expect("a port"))
}

/// Plants a URL on line 4, and headers on line 5.
fn planted(url: &str, headers: &str) -> Planted {
    let text = format!(
        "{{\n \"mcpServers\": {{\n  \"a\": {{\n   \"url\": \"{url}\",\n   \"headers\": {{{headers}}}\n  }}\n }}\n}}\n"
    );
    Planted::new().with(FILE, &text)
}

async fn found(url: &str, headers: &str) -> Found {
    planted(url, headers).found().await
}

fn served(seen: &SeenRequest) -> FakeResponse {
    match seen.is("tools/list") {
        true => json(200, &result(seen)),
        false => courtesy(seen).unwrap_or_else(|| empty(404)),
    }
}

#[tokio::test]
async fn a_url_without_a_fault_has_no_finding() {
    let origin = origin(served).await;
    let found = found(&format!("{origin}/mcp"), "").await;
    assert_eq!(
        found.rules(),
        [""; 0],
        "{:#?}\n{:#?}",
        found.findings,
        found.facts
    );
}

#[tokio::test]
async fn a_wrong_path_is_found_with_the_right_one() {
    let origin = origin(|seen| match seen.target.as_str() {
        "/mcp" => empty(400),
        _ => empty(404),
    });
    let origin = origin.await;
    let found = found(&format!("{origin}/api"), "").await;
    let finding = found.at("wrong-path", FILE, 4);
    assert!(
        finding.remedy.contains(&format!("{origin}/mcp")),
        "{finding:?}"
    );
}

#[tokio::test]
async fn a_redirect_to_https_is_found() {
    let target = "https://a.example/mcp?key=s3cret";
    let origin = origin(move |_| with(308, &[("location", target)], "")).await;
    let found = found(&format!("{origin}/mcp"), "").await;
    let finding = found.at("needs-https", FILE, 4);
    assert!(
        finding.remedy.contains("https://a.example/mcp"),
        "{finding:?}"
    );
    assert!(!format!("{finding:?}").contains("s3cret"));
}

#[tokio::test]
async fn an_error_of_the_server_is_found() {
    let origin = origin(|_| empty(502)).await;
    found(&format!("{origin}/mcp"), "")
        .await
        .at("server-error", FILE, 4);
}

#[tokio::test]
async fn a_refused_connection_is_found() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    found(&format!("http://{address}/mcp"), "")
        .await
        .at("refused", FILE, 4);
}

#[tokio::test]
async fn a_url_of_another_scheme_is_found() {
    found("ftp://a.example/mcp", "")
        .await
        .at("invalid-url", FILE, 4);
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_found() {
    let url = secure().await;
    let found = found(&url, "").await;
    let finding = found.at("tls", FILE, 4);
    assert!(
        finding.message.to_lowercase().contains("certificate"),
        "{finding:?}"
    );
}

/// Serves TLS with a certificate of no authority.
async fn secure() -> String {
    let names = vec!["localhost".to_owned()];
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names).expect("a certificate");
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key.into())
        .expect("a key that fits");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = acceptor.accept(stream).await;
        }
    });
    format!("https://localhost:{port}/mcp")
}

#[tokio::test]
async fn a_broken_step_of_the_authorization_is_found() {
    let origin = origin(|seen| match seen.target.as_str() {
        "/mcp" => empty(401),
        _ => empty(404),
    });
    let url = format!("{}/mcp", origin.await);
    let found = found(&url, "").await;
    let finding = found.at("sign-in-chain", FILE, 4);
    assert!(finding.remedy.contains("WWW-Authenticate"), "{finding:?}");
}

#[tokio::test]
async fn a_missing_sign_in_is_found() {
    let place = Arc::new(OnceLock::<String>::new());
    let own = Arc::clone(&place);
    let origin = origin(move |seen| {
        let origin = own.get().cloned().unwrap_or_default();
        guarded(seen, &origin)
    });
    let origin = origin.await;
    place.set(origin.clone()).expect("once");
    let found = found(&format!("{origin}/mcp"), "").await;
    let finding = found.at("sign-in", FILE, 4);
    assert!(
        finding.remedy.contains("pintle login @cursor/a"),
        "{finding:?}"
    );
}

/// A server and its own authorization server.
fn guarded(seen: &SeenRequest, origin: &str) -> FakeResponse {
    match seen.target.as_str() {
        "/mcp" => {
            let place = format!("{origin}/.well-known/oauth-protected-resource/mcp");
            let challenge = format!("Bearer resource_metadata=\"{place}\"");
            with(401, &[("www-authenticate", challenge.as_str())], "")
        }
        "/.well-known/oauth-protected-resource/mcp" => {
            let resource = format!("{origin}/mcp");
            json(
                200,
                &serde_json::json!({ "resource": resource, "authorization_servers": [origin] }),
            )
        }
        "/.well-known/oauth-authorization-server" => {
            let at = |path: &str| format!("{origin}/{path}");
            json(
                200,
                &serde_json::json!({ "issuer": origin, "authorization_endpoint": at("authorize"),
                    "token_endpoint": at("token"), "registration_endpoint": at("register"),
                    "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"] }),
            )
        }
        _ => empty(404),
    }
}

#[tokio::test]
async fn an_expired_token_of_a_file_is_found() {
    let claims = Base64::encode(br#"{"exp": 1000}"#);
    let token = format!("e30.{}.c2ln", claims.as_str().trim_end_matches('='));
    let origin = origin(|_| empty(401)).await;
    let header = format!("\"Authorization\": \"Bearer {token}\"");
    let found = found(&format!("{origin}/mcp"), &header).await;
    let finding = found.at("expired-token", FILE, 5);
    assert!(finding.message.contains("days ago"), "{finding:?}");
    assert!(!format!("{:?}", found.findings).contains(&token));
}

#[tokio::test]
async fn a_rejected_token_of_a_file_is_found() {
    let origin = origin(|_| empty(401)).await;
    let found = found(
        &format!("{origin}/mcp"),
        "\"Authorization\": \"Bearer opaque-token\"",
    )
    .await;
    found.at("rejected-token", FILE, 5);
    assert!(!format!("{:?}", found.findings).contains("opaque-token"));
}

/// A user whose sign-in has expired.
struct Expired;

impl SignIns for Expired {
    fn token(&self, _: &Endpoint) -> Option<StoredToken> {
        Some(StoredToken {
            access: "stored-token".into(),
            expires: Some(UNIX_EPOCH + Duration::from_secs(9)),
            is_renewable: false,
        })
    }
}

#[tokio::test]
async fn an_expired_sign_in_is_found() {
    assert!(SystemTime::now() > UNIX_EPOCH + Duration::from_secs(9));
    let origin = origin(|_| empty(401)).await;
    let found = planted(&format!("{origin}/mcp"), "")
        .signed_in(Expired)
        .found()
        .await;
    let finding = found.at("expired-token", FILE, 5);
    assert!(
        finding.remedy.contains("pintle login @cursor/a"),
        "{finding:?}"
    );
}
