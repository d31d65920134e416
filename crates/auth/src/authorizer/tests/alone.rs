//! Tokens that are renewed without a person and without a refresh token.

use super::*;
use crate::client::{EnterpriseManaged, GrantFlow};

const IDP: &str = "https://idp.example/token";
const TOKEN: &str = "https://as.example/token";

/// Serves one token that ends at once and cannot be refreshed.
fn serve_token(site: &Site, access: &str) {
    let jag = "urn:ietf:params:oauth:token-type:id-jag";
    let word = json!({ "access_token": "w0rd", "issued_token_type": jag, "token_type": "N_A" });
    site.respond_once(IDP, FetchResponse::new(200, word.to_string()));
    let token = json!({ "access_token": access, "token_type": "Bearer", "expires_in": 0 });
    site.respond_once(TOKEN, FetchResponse::new(200, token.to_string()));
}

fn oauth_by(site: &Site, profile: ClientConfig) -> OAuth {
    OAuth::of(SERVER, profile, site.clone())
        .expect("a URL")
        .on_assertion(|_| async { Ok(Secret::from("assertion")) })
        .build()
}

// spec: 2026-07-28 X-EMA-09
#[tokio::test]
async fn an_enterprise_grant_that_ended_is_exchanged_and_redeemed_again() {
    let idp = EnterpriseManaged::new(
        "https://idp.example",
        IDP,
        ClientRegistration::public("at-idp"),
    );
    let profile = ClientConfig::new("test")
        .with_grant_flow(GrantFlow::Enterprise(idp))
        .registered_at(Some(ISSUER), ClientRegistration::public("at-as"));
    let site = Site::default();
    let oauth = oauth_by(&site, profile);
    serve_token(&site, "one");
    oauth.sign_in().await.expect("a token");
    let issued = oauth.issued_tokens().expect("read").expect("tokens");
    assert!(issued.tokens.refresh.is_none());
    serve_token(&site, "two");
    assert_eq!(bearer(&oauth).await.0, "Bearer two");
    let (exchanged, redeemed) = (site.sent(IDP), site.sent(TOKEN));
    assert_eq!((exchanged.len(), redeemed.len()), (2, 2));
    assert_eq!(exchanged[0], exchanged[1]);
    assert_eq!(redeemed[0], redeemed[1]);
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 0);
}

// The platform brings a new assertion each time: such assertions live for a short time.
#[tokio::test]
async fn a_workload_grant_that_ended_is_asked_for_again() {
    let site = Site::default();
    let oauth = oauth_by(
        &site,
        ClientConfig::new("test").with_grant_flow(GrantFlow::WorkloadIdentity),
    );
    serve_token(&site, "one");
    oauth.sign_in().await.expect("a token");
    serve_token(&site, "two");
    assert_eq!(bearer(&oauth).await.0, "Bearer two");
    assert_eq!(site.sent(TOKEN).len(), 2);
}
