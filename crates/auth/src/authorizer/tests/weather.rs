//! Users who decline, and issuers that ask the client to wait.

use super::*;

// hardening: H-42
#[tokio::test]
async fn twenty_requests_whose_sign_in_is_declined_ask_the_user_once() {
    let site = Site::default();
    let counting = site.clone();
    let oauth = OAuth::of(SERVER, ClientConfig::new("test"), site.clone())
        .expect("a URL")
        .redirect("http://127.0.0.1:7/callback")
        .on_sign_in(move |_| {
            counting.0.visits.fetch_add(1, Ordering::SeqCst);
            async { Err(AuthError::SignInUnavailable) }
        })
        .build();
    let all: Vec<_> = (0..20)
        .map(|_| {
            let oauth = oauth.clone();
            tokio::spawn(
                async move { why(oauth.handle_challenge(summary(), unauthorized(0)).await) },
            )
        })
        .collect();
    for one in all {
        let error = one.await.expect("it ran");
        assert!(matches!(error, AuthError::SignInUnavailable), "{error}");
    }
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
    why(oauth.handle_challenge(summary(), unauthorized(0)).await);
    assert_eq!(
        site.0.visits.load(Ordering::SeqCst),
        2,
        "a later request asks again"
    );
}

#[tokio::test]
async fn an_issuer_that_is_busy_leads_to_no_sign_in() {
    let code = |code: &str| format!(r#"{{"error":"{code}"}}"#);
    let busy = [
        FetchResponse::new(429, ""),
        FetchResponse::new(408, ""),
        FetchResponse::new(503, ""),
        FetchResponse::new(400, code("temporarily_unavailable")),
        FetchResponse::new(400, code("server_error")),
    ];
    let site = Site::default();
    let oauth = oauth(&site);
    oauth.sign_in().await.expect("a token");
    for answer in busy {
        site.respond_once("/token", answer);
        let error = why(oauth.handle_challenge(summary(), unauthorized(1)).await);
        assert!(error.is_retryable(), "{error}");
    }
    let after = oauth.handle_challenge(summary(), unauthorized(1)).await;
    assert_eq!(after.expect("a way on"), RetryDecision::Retry);
    assert_eq!(bearer(&oauth).await.0, "Bearer access-secret-2");
    assert_eq!(site.0.visits.load(Ordering::SeqCst), 1);
}

// hardening: H-43
#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_each_token_opens_two_pages_a_minute() {
    let site = Site::default();
    let oauth = oauth(&site);
    let token = |seconds: u64| {
        let body = json!({ "access_token": "t", "token_type": "Bearer", "expires_in": seconds });
        site.respond_once("/token", FetchResponse::new(200, body.to_string()));
    };
    let visits = || site.0.visits.load(Ordering::SeqCst);
    token(3_600);
    oauth.sign_in().await.expect("a token");
    // The server may have moved to another issuer.
    token(3_600);
    assert!(
        oauth
            .handle_challenge(summary(), unauthorized(1))
            .await
            .is_ok()
    );
    assert_eq!(visits(), 2);
    let error = why(oauth.handle_challenge(summary(), unauthorized(2)).await);
    assert!(matches!(error, AuthError::NewTokenRejected(401)), "{error}");
    assert_eq!(visits(), 2, "the user has just signed in twice");
    tokio::time::advance(Duration::from_secs(60)).await;
    token(0);
    assert!(
        oauth
            .handle_challenge(summary(), unauthorized(2))
            .await
            .is_ok()
    );
    assert_eq!(visits(), 3);
    // The rejection of an expired token does not count against the server.
    token(3_600);
    assert!(
        oauth
            .handle_challenge(summary(), unauthorized(3))
            .await
            .is_ok()
    );
    assert_eq!(visits(), 4);
    oauth.sign_in().await.expect("a token");
    assert_eq!(visits(), 5, "a user who asks for it signs in at any time");
}
