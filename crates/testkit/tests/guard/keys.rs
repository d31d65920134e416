//! Keys that the operator gives: of an issuer, and of callers.

use pintle_auth::resource::{ApiKey, RequireBearer, RequireBearerError};
use pintle_runtime::{Fetch as _, FetchRequest};
use pintle_testkit::issuer::Issuer;

use crate::guard::ask::call;
use crate::guard::site::{HERE, Site};

#[tokio::test]
async fn given_keys_of_an_issuer_verify_tokens_without_a_fetch() {
    let issuer = Issuer::new("https://issuer.test");
    let set = issuer.fetch(FetchRequest::get("https://issuer.test/jwks"));
    let set = set.await.expect("the keys").body;
    let before = issuer.seen().len();
    let requirements = RequireBearer::fixed_keys(issuer.url(), set).audience(HERE);
    let site = Site::behind(issuer, requirements).await;
    let token = site.token().sign();
    let came = call("whoami").bearer(&token).of(site.address).await;
    assert_eq!(came.text(), r#"["https://issuer.test","ada","app"]"#);
    site.issuer.rotate();
    let token = site.token().sign();
    let came = call("whoami").bearer(&token).of(site.address).await;
    assert_eq!(came.status, 401, "a new key is not known");
    assert_eq!(site.issuer.seen().len(), before);
}

#[test]
fn keys_that_verify_nothing_are_an_error_at_the_start() {
    for set in [
        "",
        "{}",
        r#"{"keys":[]}"#,
        r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#,
    ] {
        let guard = RequireBearer::fixed_keys("https://issuer.test", set).audience(HERE);
        assert_eq!(guard.build().map(drop), Err(RequireBearerError::KeySet));
    }
}

#[tokio::test]
async fn an_api_key_has_its_owner_and_its_scopes() {
    let keys = [
        ApiKey::new("key-of-ada".to_owned(), "ada").scopes("safe"),
        ApiKey::new("key-of-bob".to_owned(), "bob"),
    ];
    let requirements = RequireBearer::api_keys("https://api.test/keys", keys).audience(HERE);
    let site = Site::behind(Issuer::new("https://issuer.test"), requirements).await;
    let came = call("whoami").bearer("key-of-ada").of(site.address).await;
    assert_eq!(came.text(), r#"["https://api.test/keys","ada",""]"#);
    let came = call("open").bearer("key-of-ada").of(site.address).await;
    assert_eq!(came.status, 200, "{came:?}");
    let came = call("open").bearer("key-of-bob").of(site.address).await;
    assert_eq!(came.status, 403, "{came:?}");
    for other in ["key-of-eve", "key-of-ad", "key-of-ada2"] {
        let came = call("whoami").bearer(other).of(site.address).await;
        assert_eq!(came.status, 401, "{other}");
    }
}
