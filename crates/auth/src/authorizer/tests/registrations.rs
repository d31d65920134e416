//! Tests of registrations that a server does not know any more.

use super::*;

fn directory(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("pintle-auth-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn unknown() -> FetchResponse {
    FetchResponse::new(401, r#"{"error":"invalid_client"}"#)
}

// spec: 2026-07-28 N-AUTH-22
#[tokio::test]
async fn a_client_that_a_server_forgot_is_registered_again_once() {
    let path = directory("forgotten");
    let site = Site::default();
    let oauth = || oauth_with(&site, FileCredentialStore::at(&path).expect("a directory"));
    oauth().sign_in().await.expect("a token");
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 1);
    // It has forgotten the client when its code comes.
    site.respond_once("/token", unknown());
    oauth().sign_in().await.expect("a token");
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 2);
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 3);
    let issued = oauth().issued_tokens().expect("kept").expect("tokens");
    assert_eq!(issued.client.id, "client-1");
    // The server does not know the new registration either, so the sign-in fails.
    site.respond_once("/token", unknown());
    site.respond_once("/token", unknown());
    let error = oauth().sign_in().await.expect_err("refused");
    assert!(matches!(error, AuthError::Refused { .. }), "{error}");
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 3);
    std::fs::remove_dir_all(&path).expect("removed");
}

#[tokio::test]
async fn a_client_that_is_unknown_when_it_refreshes_signs_in_as_a_new_one() {
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    site.respond_once("/token", unknown());
    let after = oauth.handle_challenge(summary(), unauthorized(1)).await;
    assert_eq!(after.expect("a way on"), RetryDecision::Retry);
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 2);
    assert_eq!(
        site.0.visits.load(Ordering::SeqCst),
        2,
        "one visit was enough"
    );
}

#[tokio::test]
async fn a_preregistered_client_is_not_replaced() {
    let site = Site::default();
    let profile =
        ClientConfig::new("test").registered_at(None, ClientRegistration::public("known"));
    let oauth = OAuth::of(SERVER, profile, site.clone())
        .expect("a URL")
        .redirect("http://127.0.0.1:7/callback")
        .on_sign_in(|visit| {
            let state = renew_state(&visit);
            async move {
                Ok(Some(AuthorizationResponse::with_query(&format!(
                    "code=c&state={state}"
                ))))
            }
        })
        .build();
    site.respond_once("/token", unknown());
    let error = oauth.sign_in().await.expect_err("refused");
    assert!(error.to_string().contains("invalid_client"), "{error}");
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 0);
}

// A server may report an unknown client only on its page, and then sends no redirect.
#[tokio::test(start_paused = true)]
async fn a_client_without_a_finished_sign_in_is_registered_again() {
    let path = directory("nobody");
    let site = Site::default();
    let store = || FileCredentialStore::at(&path).expect("a directory");
    oauth_with(&site, store()).sign_in().await.expect("a token");
    let leads_nowhere = OAuth::of(SERVER, ClientConfig::new("test"), site.clone())
        .expect("a URL")
        .store(store())
        .redirect("http://127.0.0.1:7/callback")
        .on_sign_in(|_| async { Ok(None) })
        .build();
    for registrations in [1, 2] {
        let error = leads_nowhere.sign_in().await.expect_err("nobody came");
        assert!(matches!(error, AuthError::SignInTimedOut(_)), "{error}");
        assert_eq!(site.0.registrations.load(Ordering::SeqCst), registrations);
    }
    std::fs::remove_dir_all(&path).expect("removed");
}

// spec: 2025-11-25 AUTH-RFC-11 (client reads)
#[tokio::test]
async fn a_secret_that_has_ended_is_not_used_again() {
    let secret = |end: u64| {
        let body = json!({
            "client_id": "secretive", "client_secret": "s3cret", "client_secret_expires_at": end,
            "token_endpoint_auth_method": "client_secret_post",
        });
        FetchResponse::new(201, body.to_string())
    };
    let far = 4_000_000_000;
    for (end, registrations) in [(1, 1), (0, 0), (far, 0)] {
        let path = directory(&format!("ended-{end}"));
        let site = Site::default();
        let oauth = || oauth_with(&site, FileCredentialStore::at(&path).expect("a directory"));
        site.respond_once("/register", secret(end));
        oauth().sign_in().await.expect("a token");
        oauth().sign_in().await.expect("a token");
        assert_eq!(
            site.0.registrations.load(Ordering::SeqCst),
            registrations,
            "{end}"
        );
        std::fs::remove_dir_all(&path).expect("removed");
    }
}

// A refresh reads no metadata, so it uses the authentication method of the sign-in.
#[tokio::test]
async fn a_refresh_uses_the_same_client_authentication() {
    let metadata = || {
        let body = json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://as.example/authorize",
            "token_endpoint": "https://as.example/token",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        });
        FetchResponse::new(200, body.to_string())
    };
    let path = directory("method");
    let site = Site::default();
    let client = ClientRegistration::with_secret("known", "s3cret");
    let profile = || ClientConfig::new("test").registered_at(None, client.clone());
    let oauth = || {
        OAuth::of(SERVER, profile(), site.clone())
            .expect("a URL")
            .store(FileCredentialStore::at(&path).expect("a directory"))
            .redirect("http://127.0.0.1:7/callback")
            .on_sign_in(|visit| {
                let state = renew_state(&visit);
                async move {
                    Ok(Some(AuthorizationResponse::with_query(&format!(
                        "code=c&state={state}"
                    ))))
                }
            })
            .build()
    };
    site.respond_once("/.well-known/oauth-authorization-server", metadata());
    oauth().sign_in().await.expect("a token");
    let later = oauth();
    assert_eq!(bearer(&later).await.1, 1);
    let after = later.handle_challenge(summary(), unauthorized(1)).await;
    assert_eq!(after.expect("a way on"), RetryDecision::Retry);
    for form in site.sent("/token") {
        let secret = form.iter().find(|(name, _)| name == "client_secret");
        assert_eq!(secret.map(|(_, value)| value.as_str()), Some("s3cret"));
    }
    assert_eq!(site.0.refreshes.load(Ordering::SeqCst), 1);
    std::fs::remove_dir_all(&path).expect("removed");
}

// Stored tokens belong to one client: another client of the same server does not use them.
//
// hardening: H-41
#[tokio::test]
async fn a_client_does_not_use_the_credentials_of_another() {
    let path = directory("other-client");
    let site = Site::default();
    let store = || FileCredentialStore::at(&path).expect("a directory");
    oauth_with(&site, store()).sign_in().await.expect("a token");
    let robot = |id: &str| {
        ClientConfig::new("test")
            .with_grant_flow(crate::GrantFlow::ClientCredentials)
            .registered_at(None, ClientRegistration::public(id))
    };
    let as_client = |profile: ClientConfig| {
        let oauth = OAuth::of(SERVER, profile, site.clone()).expect("a URL");
        oauth.store(store()).build()
    };
    let workload = ClientConfig::new("test").with_grant_flow(crate::GrantFlow::WorkloadIdentity);
    for other in [robot("robot"), workload] {
        assert_eq!(bearer(&as_client(other)).await.0, "");
    }
    as_client(robot("robot")).sign_in().await.expect("a token");
    assert_eq!(
        bearer(&as_client(robot("robot"))).await.0,
        "Bearer access-secret-2"
    );
    assert_eq!(bearer(&as_client(robot("other"))).await.0, "");
    std::fs::remove_dir_all(&path).expect("removed");
}
