//! The authorization server of the testkit follows the RFCs.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use pintle_runtime::{Fetch as _, FetchError, FetchRequest, FetchResponse};
use pintle_testkit::issuer::{Issuer, IssuerBehavior};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

const NAME: &str = "https://issuer.test";
const BACK: &str = "http://127.0.0.1:7777/back";
const VERIFIER: &str = "a-verifier-that-is-long-enough-to-be-one-0123456789";

async fn get(issuer: &Issuer, place: &str) -> FetchResponse {
    let request = FetchRequest::get(format!("{NAME}{place}"));
    issuer.fetch(request).await.expect("an answer")
}

async fn post(issuer: &Issuer, path: &str, form: &str) -> (u16, Value) {
    let kind = "application/x-www-form-urlencoded";
    let request = FetchRequest::post(format!("{NAME}{path}"), kind, form.to_owned());
    let answer = issuer.fetch(request).await.expect("an answer");
    (
        answer.status,
        serde_json::from_slice(&answer.body).unwrap_or_default(),
    )
}

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()))
}

/// The URL to which the issuer redirects the user agent.
async fn sent_back(issuer: &Issuer, more: &str) -> String {
    let query = format!(
        "/authorize?response_type=code&client_id=app&redirect_uri={BACK}&state=s%201{more}"
    );
    let answer = get(issuer, &query).await;
    assert_eq!(answer.status, 302);
    answer.single("location").expect("a place").to_owned()
}

async fn code(issuer: &Issuer) -> String {
    let more = format!(
        "&code_challenge={}&code_challenge_method=S256&resource=https%3A%2F%2Fapi.test%2Fmcp&scope=a+b",
        challenge()
    );
    let place = sent_back(issuer, &more).await;
    let rest = place
        .strip_prefix(&format!("{BACK}?code="))
        .expect("a code");
    assert!(
        rest.ends_with("&iss=https%3A%2F%2Fissuer.test&state=s%201"),
        "{rest}"
    );
    rest.split('&').next().expect("a code").to_owned()
}

fn for_code(code: &str, verifier: &str) -> String {
    format!("grant_type=authorization_code&client_id=app&code={code}&code_verifier={verifier}")
}

fn claims(token: &Value) -> Value {
    let payload = token.as_str().and_then(|token| token.split('.').nth(1));
    let payload = URL_SAFE_NO_PAD
        .decode(payload.expect("a token"))
        .expect("base64");
    serde_json::from_slice(&payload).expect("claims")
}

#[tokio::test]
async fn a_code_becomes_a_token_once() {
    let issuer = Issuer::new(NAME);
    issuer.knows("app", None, &[BACK]);
    let code = code(&issuer).await;
    let (status, given) = post(&issuer, "/token", &for_code(&code, VERIFIER)).await;
    assert_eq!((status, &given["scope"]), (200, &json!("a b")));
    let claims = claims(&given["access_token"]);
    assert_eq!(claims["aud"], "https://api.test/mcp");
    assert_eq!(
        (&claims["sub"], &claims["client_id"]),
        (&json!("ada"), &json!("app"))
    );
    let again = post(&issuer, "/token", &for_code(&code, VERIFIER)).await;
    assert_eq!(again, (400, json!({ "error": "invalid_grant" })));
}

#[tokio::test]
async fn a_token_names_the_signed_in_user() {
    let issuer = Issuer::new(NAME);
    issuer.knows("app", None, &[BACK]);
    issuer.signs_in("grace");
    let code = code(&issuer).await;
    let (_, issued) = post(&issuer, "/token", &for_code(&code, VERIFIER)).await;
    assert_eq!(claims(&issued["access_token"])["sub"], "grace");
}

// spec: 2025-11-25 AUTH-94
#[tokio::test]
async fn an_invalid_request_gets_no_code_and_no_token() {
    let issuer = Issuer::new(NAME);
    issuer.knows("app", None, &[BACK]);
    let foreign = get(
        &issuer,
        "/authorize?client_id=app&redirect_uri=https://evil.example",
    )
    .await;
    assert_eq!((foreign.status, foreign.single("location")), (400, None));
    let bare = sent_back(&issuer, "").await;
    assert!(bare.contains("error=invalid_request"), "{bare}");
    let plain = format!(
        "&code_challenge={}&code_challenge_method=plain",
        challenge()
    );
    assert!(
        sent_back(&issuer, &plain)
            .await
            .contains("error=invalid_request")
    );
    issuer.consents(false);
    let asked = format!("&code_challenge={}&code_challenge_method=S256", challenge());
    assert!(
        sent_back(&issuer, &asked)
            .await
            .contains("error=access_denied")
    );
    issuer.consents(true);
    let code = code(&issuer).await;
    let (status, _) = post(&issuer, "/token", &for_code(&code, "another")).await;
    assert_eq!(status, 400);
}

// spec: 2025-11-25 AUTH-82
#[tokio::test]
async fn a_refresh_token_is_good_once_and_its_thief_loses_everything() {
    let issuer = Issuer::new(NAME);
    issuer.knows("app", None, &[BACK]);
    let code = code(&issuer).await;
    let (_, given) = post(&issuer, "/token", &for_code(&code, VERIFIER)).await;
    let refresh = |token: &Value| {
        let token = token.as_str().expect("a refresh token");
        format!("grant_type=refresh_token&client_id=app&refresh_token={token}")
    };
    let (first, second) = (refresh(&given["refresh_token"]), &issuer);
    let (status, renewed) = post(second, "/token", &first).await;
    assert_eq!(status, 200);
    assert_eq!(
        claims(&renewed["access_token"])["aud"],
        "https://api.test/mcp"
    );
    assert_eq!(post(&issuer, "/token", &first).await.0, 400);
    let latest = refresh(&renewed["refresh_token"]);
    assert_eq!(post(&issuer, "/token", &latest).await.0, 400);
}

#[tokio::test]
async fn a_client_registers_and_shows_its_secret() {
    let issuer = Issuer::new(NAME);
    let register = |metadata: Value| {
        let url = format!("{NAME}/register");
        issuer.fetch(FetchRequest::post(
            url,
            "application/json",
            metadata.to_string(),
        ))
    };
    let answer = register(json!({ "redirect_uris": [BACK] }))
        .await
        .expect("an answer");
    assert_eq!(answer.status, 201);
    let registered: Value = serde_json::from_slice(&answer.body).expect("JSON");
    let (id, secret) = (&registered["client_id"], &registered["client_secret"]);
    let (id, secret) = (
        id.as_str().expect("an id"),
        secret.as_str().expect("a secret"),
    );
    let ask = |secret: &str| {
        let form = "grant_type=client_credentials&resource=https%3A%2F%2Fapi.test";
        let kind = "application/x-www-form-urlencoded";
        let basic = format!("Basic {}", STANDARD.encode(format!("{id}:{secret}")));
        let request = FetchRequest::post(format!("{NAME}/token"), kind, form);
        issuer.fetch(request.header("authorization", &basic))
    };
    assert_eq!(ask(secret).await.expect("an answer").status, 200);
    assert_eq!(ask("wrong").await.expect("an answer").status, 401);
    let form = format!("grant_type=client_credentials&client_id={id}");
    assert_eq!(post(&issuer, "/token", &form).await.0, 401);
    let bad = register(json!({ "redirect_uris": ["javascript:alert(1)"] })).await;
    assert_eq!(bad.expect("an answer").status, 400);
}

#[tokio::test]
async fn only_tokens_of_its_own_are_active_until_they_are_taken_back() {
    let issuer = Issuer::new(NAME);
    issuer.knows("api", Some("s"), &[]);
    let good = issuer.token("https://api.test/mcp").sign();
    let ended = issuer.token("https://api.test/mcp").expires(-1).sign();
    let foreign = Issuer::new(NAME).token("https://api.test/mcp").sign();
    let is_active = async |token: &str| {
        let form = format!("client_id=api&client_secret=s&token={token}");
        post(&issuer, "/introspect", &form).await.1["active"] == true
    };
    assert!(is_active(&good).await);
    assert!(!is_active(&ended).await && !is_active(&foreign).await);
    issuer.revoke(&good);
    assert!(!is_active(&good).await);
    let nobody = post(&issuer, "/introspect", "token=x").await;
    assert_eq!(nobody.0, 401);
}

#[tokio::test(start_paused = true)]
async fn it_may_be_unwell() {
    let issuer = Issuer::new(NAME);
    let keys = || issuer.fetch(FetchRequest::get(format!("{NAME}/jwks")));
    issuer.set_behavior(IssuerBehavior::Broken(500));
    assert_eq!(keys().await.expect("an answer").status, 500);
    issuer.set_behavior(IssuerBehavior::Down);
    assert!(matches!(keys().await, Err(FetchError::Unreachable(_))));
    issuer.set_behavior(IssuerBehavior::Silent);
    assert!(matches!(keys().await, Err(FetchError::TimedOut(_))));
    issuer.set_behavior(IssuerBehavior::Well);
    assert_eq!(keys().await.expect("an answer").status, 200);
    assert_eq!(issuer.count("/jwks"), 4);
}
