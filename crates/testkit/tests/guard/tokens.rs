//! Tokens that are accepted, and the responses to all others.

use pintle_auth::resource::{Algorithm, ResourceLimits};
use pintle_testkit::issuer::{Issuer, Signature};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::guard::ask::{call, initialize, list, verb};
use crate::guard::site::{HERE, METADATA, Site};

// spec: 2025-11-25 AUTH-02, AUTH-05, AUTH-56, AUTH-60, AUTH-107, SEC-15
// spec: 2026-07-28 N-AUTH-01, N-AUTH-44
#[tokio::test]
async fn a_good_token_lets_its_owner_in() {
    let site = Site::new().await;
    for signature in [Signature::Es256, Signature::Rs256, Signature::EdDsa] {
        let token = site.token().signed(signature).sign();
        let came = call("whoami").bearer(&token).of(site.address).await;
        assert_eq!(came.status, 200, "{signature:?}: {came:?}");
        assert_eq!(came.text(), r#"["https://issuer.test","ada","app"]"#);
    }
    let several = site
        .token()
        .claim("aud", json!(["https://other.test", HERE]));
    let plain = site.token().header("typ", json!("JWT"));
    for token in [several.sign(), plain.sign()] {
        let came = call("whoami").bearer(&token).of(site.address).await;
        assert_eq!(came.status, 200, "{came:?}");
    }
    assert_eq!(site.issuer.count("/jwks"), 1, "keys are kept");
}

// Without a token a client learns nothing about the server, and no handler runs.
//
// spec: 2025-11-25 AUTH-15, AUTH-62, AUTH-63, AUTH-67, AUTH-106, AUTH-RFC-05, TRANS-HTTP-06
// spec: 2026-07-28 N-AUTH-06, N-AUTH-47, N-AUTH-49, N-HTTP-04
// hardening: H-66, H-71
#[tokio::test]
async fn a_request_without_a_token_gets_401_and_the_metadata_url() {
    let site = Site::new().await;
    let asks = [
        call("whoami"),
        list(),
        initialize(),
        verb("GET", "/mcp"),
        verb("DELETE", "/mcp"),
        verb("OPTIONS", "/mcp"),
        verb("GET", "/nowhere"),
        call("whoami").with("authorization", "Basic YTpi"),
    ];
    for ask in asks {
        let came = ask.of(site.address).await;
        let text = "a bearer token is required";
        assert_eq!((came.status, came.body.as_str()), (401, text), "{ask:?}");
        assert_eq!(came.header("content-type"), "text/plain; charset=utf-8");
        let challenge = format!(r#"Bearer resource_metadata="{METADATA}""#);
        assert_eq!(came.header("www-authenticate"), challenge, "{ask:?}");
    }
    let garbage = call("whoami").bearer("garbage").of(site.address).await;
    assert_eq!(garbage.status, 401);
    assert_eq!(garbage.says("error").as_deref(), Some("invalid_token"));
    let expired = site.token().expires(-61).sign();
    let expired = call("whoami").bearer(&expired).of(site.address).await;
    assert_eq!(expired.status, 401);
    assert_eq!(
        expired.says("error_description").as_deref(),
        Some("the token has expired (`exp`)")
    );
    assert_eq!(expired.says("resource_metadata").as_deref(), Some(METADATA));
    assert_eq!(site.runs(), 0);
}

// spec: 2025-11-25 AUTH-61, AUTH-65, AUTH-66, AUTH-108, SEC-08
// spec: 2026-07-28 N-AUTH-44, N-AUTH-45, X-WIF-04, X-CC-04
// hardening: H-67, H-68, H-71
#[tokio::test]
async fn a_token_that_is_wrong_in_any_way_is_refused_like_the_others() {
    let site = Site::new().await;
    site.issuer.rotate();
    let good = || site.token();
    let stranger = Issuer::new("https://stranger.test");
    let impostor = Issuer::new("https://issuer.test");
    let tampered = {
        let (other, token) = (good().subject("eve").sign(), good().sign());
        let part = |token: &str, at: usize| token.split('.').nth(at).unwrap_or("").to_owned();
        format!(
            "{}.{}.{}",
            part(&token, 0),
            part(&other, 1),
            part(&token, 2)
        )
    };
    let rows = [
        (
            "other audience",
            site.issuer.token("https://other.test/mcp").sign(),
        ),
        (
            "audience of a parent",
            site.issuer.token("https://api.test").sign(),
        ),
        ("no audience", good().without("aud").sign()),
        ("not signed", good().signed(Signature::None).sign()),
        (
            "signed with the public key",
            good().signed(Signature::Hs256WithPublicKey).sign(),
        ),
        (
            "unknown key",
            good().header("kid", json!("nobody's")).sign(),
        ),
        (
            "key of another kind",
            good().header("kid", json!("rsa-1")).sign(),
        ),
        ("no key, and several would do", good().nameless().sign()),
        ("other issuer", stranger.token(HERE).sign()),
        (
            "issuer that is almost it",
            good().claim("iss", json!("https://issuer.test/")).sign(),
        ),
        ("no issuer", good().without("iss").sign()),
        (
            "signed by somebody else",
            impostor.token(HERE).header("kid", json!("ec-1")).sign(),
        ),
        ("signature of another", tampered),
        (
            "not yet",
            good().claim("nbf", json!(4_000_000_000_u64)).sign(),
        ),
        ("no end", good().without("exp").sign()),
        (
            "end is not a number",
            good().claim("exp", json!("soon")).sign(),
        ),
        (
            "critical header",
            good()
                .header("crit", json!(["x"]))
                .header("x", json!(1))
                .sign(),
        ),
        (
            "not an access token",
            good().header("typ", json!("dpop+jwt")).sign(),
        ),
        (
            "for nobody",
            good().without("sub").without("client_id").sign(),
        ),
        ("bound to a key", good().bound_to("thumbprint").sign()),
        (
            "bound to a certificate",
            good().claim("cnf", json!({ "x5t#S256": "x" })).sign(),
        ),
        ("two parts", "a.b".into()),
        ("four parts", format!("{}.x", good().sign())),
        ("too large", "a".repeat(16 * 1024 + 1)),
    ];
    for (name, token) in rows {
        let came = call("whoami").bearer(&token).of(site.address).await;
        assert_eq!(came.status, 401, "{name}: {came:?}");
        assert_eq!(came.says("error_description"), Some(came.body.clone()));
        assert_eq!(
            came.says("error").as_deref(),
            Some("invalid_token"),
            "{name}"
        );
    }
    assert_eq!(site.runs(), 0);
}

// A developer who debugs the token learns the claim, and its expected value if that is public.
//
// spec: 2025-11-25 AUTH-62, AUTH-107
// hardening: H-67, H-68
#[tokio::test]
async fn the_fault_of_a_token_is_reported_by_its_claim() {
    let site = Site::new().await;
    let good = || site.token();
    let other = site.issuer.token("https://other.test/mcp");
    let rows = [
        (other, "its `aud` does not name https://api.test/mcp"),
        (good().without("aud"), "`aud`"),
        (
            good().claim("iss", json!("https://issuer.test/")),
            "its `iss` is not https://issuer.test",
        ),
        (good().expires(-61), "(`exp`)"),
        (good().without("exp"), "(`exp`)"),
        (good().claim("nbf", json!(4_000_000_000_u64)), "(`nbf`)"),
        (good().without("sub").without("client_id"), "(`sub`)"),
        (good().header("typ", json!("dpop+jwt")), "(`typ`)"),
        (good().header("kid", json!("nobody's")), "(`kid`)"),
        (good().signed(Signature::None), "(`alg`)"),
        (good().header("crit", json!(["x"])), "(`crit`)"),
    ];
    for (token, reason) in rows {
        let came = call("whoami").bearer(&token.sign()).of(site.address).await;
        assert_eq!(came.status, 401, "{reason}: {came:?}");
        let description = came.says("error_description").unwrap_or_default();
        assert!(description.contains(reason), "{reason}: {description}");
    }
}

// spec: 2025-11-25 AUTH-53, AUTH-54
// spec: 2026-07-28 N-AUTH-27
#[tokio::test]
async fn an_audience_may_be_written_as_uris_may() {
    // This server is configured with its address in capitals.
    let loud = Site::requiring(|all| all.audience("HTTPS://Other.TEST:443/mcp")).await;
    for (audience, status) in [
        (HERE, 200),
        ("HTTPS://API.Test/mcp", 200),
        ("https://api.test:443/mcp", 200),
        ("https://other.test/mcp", 200),
        ("https://api.test/mcp/", 401),
        ("https://api.test/MCP", 401),
    ] {
        let token = loud.issuer.token(audience).sign();
        let came = call("whoami").bearer(&token).of(loud.address).await;
        assert_eq!(came.status, status, "{audience}: {came:?}");
    }
}

// spec: 2025-11-25 AUTH-66
#[tokio::test]
async fn tokens_come_in_the_header_alone() {
    let site = Site::new().await;
    let token = site.token().sign();
    let rows = [
        call("whoami").at(&format!("/mcp?access_token={token}")),
        call("whoami")
            .at(&format!("/mcp?access_token={token}"))
            .bearer(&token),
        call("whoami").bearer(&token).bearer(&token),
        call("whoami").with("authorization", "Bearer"),
    ];
    for ask in rows {
        let came = ask.of(site.address).await;
        assert_eq!(came.status, 400, "{came:?}");
        assert_eq!(came.says("error").as_deref(), Some("invalid_request"));
    }
    assert_eq!(site.runs(), 0);
}

#[tokio::test]
async fn only_the_algorithms_on_the_list_are_taken() {
    let site = Site::requiring(|all| all.algorithms([Algorithm::EdDsa])).await;
    for (signature, status) in [(Signature::EdDsa, 200), (Signature::Es256, 401)] {
        let token = site.token().signed(signature).sign();
        let came = call("whoami").bearer(&token).of(site.address).await;
        assert_eq!(came.status, status, "{signature:?}");
    }
}

#[tokio::test]
async fn the_size_of_a_token_is_bounded() {
    let site = Site::new().await;
    let token = site.token().sign();
    for (most, status) in [(token.len(), 200), (token.len() - 1, 401)] {
        let mut limits = ResourceLimits::default();
        limits.max_token_bytes = most;
        let service = crate::guard::site::in_memory(&site.issuer, |all| all.limits(limits));
        let came = call("whoami").bearer(&token).through(&service).await;
        assert_eq!(came.status, status);
    }
}

// hardening: H-66
#[tokio::test]
async fn a_refusal_does_not_wait_for_the_body() {
    let site = Site::new().await;
    let mut stream = TcpStream::connect(site.address).await.expect("it listens");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n",
        site.address
    );
    stream.write_all(head.as_bytes()).await.expect("it reads");
    let mut came = [0; 12];
    stream.read_exact(&mut came).await.expect("an answer");
    assert_eq!(&came, b"HTTP/1.1 401");
}

// A token for the server is only for the server: an upstream service gets its own token.
//
// spec: 2025-11-25 AUTH-66, AUTH-109
// spec: 2026-07-28 N-AUTH-45
// hardening: H-70
#[tokio::test]
async fn handlers_do_not_see_the_token() {
    let site = Site::new().await;
    let token = site.token().claim("team", json!("blue")).sign();
    let came = call("head").bearer(&token).of(site.address).await;
    let seen = came.text();
    assert!(
        seen.contains("mcp-method") && !seen.contains("authorization"),
        "{seen}"
    );
    assert!(seen.contains(r#""team": String("blue")"#), "{seen}");
    assert!(!seen.contains(&token), "{seen}");
}

// spec: 2025-11-25 AUTH-09, AUTH-13, AUTH-15, AUTH-RFC-01
// spec: 2026-07-28 N-AUTH-05, N-AUTH-06, N-AUTH-49
#[tokio::test]
async fn the_resource_metadata_names_the_issuer_without_a_token() {
    let site = Site::requiring(|all| all.supports(["safe"]).resource_name("Bank", None)).await;
    for place in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let came = verb("GET", place).of(site.address).await;
        assert_eq!(came.status, 200, "{place}");
        assert_eq!(came.header("content-type"), "application/json");
        let expected = json!({
            "resource": HERE,
            "authorization_servers": ["https://issuer.test"],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["safe"],
            "resource_name": "Bank",
        });
        assert_eq!(came.json(), expected);
        let head = verb("HEAD", place).of(site.address).await;
        assert_eq!((head.status, head.body.as_str()), (200, ""));
        let written = verb("POST", place).of(site.address).await;
        assert_eq!(
            (written.status, written.header("allow")),
            (405, "GET, HEAD")
        );
    }
    let other = verb("GET", "/.well-known/oauth-protected-resource/x")
        .of(site.address)
        .await;
    assert_eq!(other.status, 401);
}
