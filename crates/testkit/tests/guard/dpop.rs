//! Tokens that are bound to keys.

use pintle_auth::resource::{Dpop, DpopNonce, RequireBearerBuilder, ResourceLimits};
use pintle_testkit::issuer::{Issuer, Proof, ProofKey};
use serde_json::json;

use crate::guard::ask::{Came, call, verb};
use crate::guard::site::{HERE, Site, in_memory};

fn accepted(requirements: RequireBearerBuilder) -> RequireBearerBuilder {
    requirements.dpop(Dpop::Accepted, DpopNonce::Off)
}

async fn sent(site: &Site, token: &str, proof: &str) -> Came {
    let ask = call("whoami")
        .with("authorization", &format!("DPoP {token}"))
        .with("dpop", proof);
    ask.of(site.address).await
}

// spec: 2026-07-28 X-DPOP-02, X-DPOP-03
#[tokio::test]
async fn a_bound_token_is_good_with_a_proof_once() {
    let site = Site::requiring(accepted).await;
    let key = ProofKey::new();
    let token = site.token().bound_to(&key.thumbprint()).sign();
    let proof = key.proof("POST", HERE, &token).sign();
    assert_eq!(sent(&site, &token, &proof).await.status, 200);
    let again = sent(&site, &token, &proof).await;
    assert_eq!(again.status, 401);
    assert_eq!(again.says("error").as_deref(), Some("invalid_dpop_proof"));
    let query = key
        .proof("POST", "HTTPS://API.test:443/mcp?x#y", &token)
        .sign();
    assert_eq!(sent(&site, &token, &query).await.status, 200);
    let free = site.token().sign();
    assert_eq!(
        call("whoami").bearer(&free).of(site.address).await.status,
        200
    );
}

// spec: 2026-07-28 X-DPOP-02, X-DPOP-06
#[tokio::test]
async fn a_proof_that_is_wrong_in_any_way_is_refused() {
    let site = Site::requiring(accepted).await;
    let key = ProofKey::new();
    let token = site.token().bound_to(&key.thumbprint()).sign();
    let good = || key.proof("POST", HERE, &token);
    let another = ProofKey::new();
    let rows: [(&str, Proof); 16] = [
        ("method", key.proof("GET", HERE, &token)),
        (
            "address",
            key.proof("POST", "https://other.test/mcp", &token),
        ),
        ("path", key.proof("POST", "https://api.test/other", &token)),
        ("no address", good().claim("htu", json!("mcp"))),
        ("token", key.proof("POST", HERE, "another")),
        ("no token", good().claim("ath", json!(null))),
        ("old", good().aged(302)),
        ("to come", good().aged(-305)),
        ("no time", good().claim("iat", json!(null))),
        ("no name", good().claim("jti", json!(null))),
        ("empty name", good().claim("jti", json!(""))),
        ("type", good().header("typ", json!("JWT"))),
        ("algorithm", good().header("alg", json!("HS256"))),
        ("no key", good().header("jwk", json!(null))),
        ("key of somebody else", another.proof("POST", HERE, &token)),
        (
            "private key",
            good().header("jwk", json!({ "kty": "EC", "crv": "P-256", "d": "AA" })),
        ),
    ];
    for (name, proof) in rows {
        let came = sent(&site, &token, &proof.sign()).await;
        assert_eq!(came.status, 401, "{name}");
        assert_eq!(came.says("error_description"), Some(came.body.clone()));
        assert_eq!(
            came.says("error").as_deref(),
            Some("invalid_dpop_proof"),
            "{name}"
        );
        assert!(
            came.header("www-authenticate").starts_with("DPoP "),
            "{name}"
        );
    }
    let twice = call("whoami")
        .with("authorization", &format!("DPoP {token}"))
        .with("dpop", &good().sign())
        .with("dpop", &good().sign());
    assert_eq!(twice.of(site.address).await.status, 401);
    let none = call("whoami").with("authorization", &format!("DPoP {token}"));
    assert_eq!(none.of(site.address).await.status, 401);
    assert_eq!(
        sent(&site, &token, &good().aged(298).sign()).await.status,
        200
    );
}

#[tokio::test]
async fn a_token_is_sent_in_the_way_that_it_is_bound() {
    let site = Site::requiring(accepted).await;
    let key = ProofKey::new();
    let bound = site.token().bound_to(&key.thumbprint()).sign();
    let stolen = call("whoami").bearer(&bound).of(site.address).await;
    assert_eq!(stolen.status, 401);
    let free = site.token().sign();
    let proof = key.proof("POST", HERE, &free).sign();
    assert_eq!(sent(&site, &free, &proof).await.status, 401);
    // The audience is checked as without a proof.
    let foreign = site
        .issuer
        .token("https://other.test")
        .bound_to(&key.thumbprint())
        .sign();
    let proof = key.proof("POST", HERE, &foreign).sign();
    assert_eq!(sent(&site, &foreign, &proof).await.status, 401);
    assert_eq!(site.runs(), 0);
}

#[tokio::test]
async fn where_every_token_is_bound_others_are_refused() {
    let site = Site::requiring(|all| all.dpop(Dpop::Required, DpopNonce::Off)).await;
    let nobody = call("whoami").of(site.address).await;
    assert!(
        nobody.header("www-authenticate").starts_with("DPoP algs="),
        "{nobody:?}"
    );
    let free = site.token().sign();
    assert_eq!(
        call("whoami").bearer(&free).of(site.address).await.status,
        401
    );
    let document = verb("GET", "/.well-known/oauth-protected-resource")
        .of(site.address)
        .await;
    assert_eq!(document.json()["dpop_bound_access_tokens_required"], true);
}

#[tokio::test]
async fn where_no_proof_is_looked_at_no_bound_token_is_good() {
    let site = Site::new().await;
    let key = ProofKey::new();
    let token = site.token().bound_to(&key.thumbprint()).sign();
    let proof = key.proof("POST", HERE, &token).sign();
    let came = sent(&site, &token, &proof).await;
    assert_eq!(came.status, 401);
    assert!(
        came.header("www-authenticate").starts_with("Bearer "),
        "{came:?}"
    );
}

// spec: 2026-07-28 X-DPOP-02
#[tokio::test]
async fn a_proof_may_need_a_nonce_of_the_server() {
    let site = Site::requiring(|all| all.dpop(Dpop::Accepted, DpopNonce::Required)).await;
    let key = ProofKey::new();
    let token = site.token().bound_to(&key.thumbprint()).sign();
    let good = || key.proof("POST", HERE, &token);
    let first = sent(&site, &token, &good().sign()).await;
    assert_eq!(
        (first.status, first.says("error").as_deref()),
        (401, Some("use_dpop_nonce"))
    );
    let nonce = first.header("dpop-nonce").to_owned();
    let proof = good().claim("nonce", json!(nonce)).sign();
    assert_eq!(sent(&site, &token, &proof).await.status, 200);
    let made_up = good().claim("nonce", json!("made up")).sign();
    let came = sent(&site, &token, &made_up).await;
    assert_eq!(
        (came.status, came.says("error").as_deref()),
        (401, Some("use_dpop_nonce"))
    );
}

#[tokio::test]
async fn when_no_more_proofs_can_be_remembered_the_newcomer_waits() {
    let issuer = Issuer::new("https://issuer.test");
    let mut limits = ResourceLimits::default();
    limits.max_proofs = 2;
    let service = in_memory(&issuer, |all| accepted(all).limits(limits));
    let key = ProofKey::new();
    let token = issuer.token(HERE).bound_to(&key.thumbprint()).sign();
    for status in [200, 200, 503] {
        let proof = key.proof("POST", HERE, &token).sign();
        let ask = call("whoami")
            .with("authorization", &format!("DPoP {token}"))
            .with("dpop", &proof);
        assert_eq!(ask.through(&service).await.status, status);
    }
}
