//! Tests of tokens: secrets, keys, nonces, refresh, expiry.

use super::*;

// spec: 2025-11-25 AUTH-RFC-08, AUTH-RFC-11 (client reads)
#[test]
fn a_secret_travels_in_the_way_that_was_agreed_on() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let supported = "token_endpoint_auth_methods_supported";
    for (methods, basic, posted) in [
        (json!(["client_secret_basic"]), true, false),
        (json!(["client_secret_post"]), false, true),
        (
            json!(["client_secret_post", "client_secret_basic"]),
            true,
            false,
        ),
        (json!(["none"]), false, false),
        (Value::Null, true, false),
    ] {
        let mut site = Site::new();
        site.set(page, supported, methods.clone());
        let client = ClientRegistration::with_secret("i d", "s:e");
        site.run(plan(ClientConfig::new("t").registered_at(None, client)))
            .expect("tokens");
        let expected = basic.then(|| "Basic aSUyMGQ6cyUzQWU=".to_owned());
        assert_eq!(site.header(TOKEN, "authorization"), expected, "{methods}");
        let sent = site.sent(TOKEN);
        assert_eq!(
            of(&sent, "client_secret"),
            posted.then_some("s:e"),
            "{methods}"
        );
        assert_eq!(of(&sent, "client_id").is_some(), !basic, "{methods}");
    }
    let mut site = Site::new();
    site.set(page, supported, json!(["private_key_jwt"]));
    let client = ClientRegistration::with_secret("c", "s");
    let refused = site.run(plan(ClientConfig::new("t").registered_at(None, client)));
    assert!(matches!(
        refused,
        Err(AuthError::Server {
            reason: AuthServerError::Method,
            ..
        })
    ));
}

// spec: 2026-07-28 X-DPOP-01
#[test]
fn a_token_is_bound_to_a_key_if_the_server_requires_it() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let mut plan = person();
    plan.wants_dpop = true;
    let refused = Site::new().run(plan.clone());
    assert!(matches!(
        refused,
        Err(AuthError::Server {
            reason: AuthServerError::Dpop,
            ..
        })
    ));

    let mut site = Site::new();
    site.set(page, "dpop_signing_alg_values_supported", json!(["ES256"]));
    site.set(TOKEN, "token_type", json!("DPoP"));
    let issued = site.run(plan).expect("tokens");
    assert!(issued.tokens.is_bound && issued.dpop.is_some());
    assert!(site.header(TOKEN, "dpop").is_some());

    let mut site = Site::new();
    site.set(TOKEN, "token_type", json!("DPoP"));
    let unasked = site.run(person());
    assert!(
        matches!(unasked, Err(AuthError::InvalidResponse { .. })),
        "nobody holds its key"
    );
}

// spec: 2026-07-28 X-DPOP-02
#[test]
fn a_nonce_is_taken_once() {
    let issued = IssuedTokens {
        issuer: ISSUER.into(),
        resource: SERVER.into(),
        token_endpoint: TOKEN.into(),
        client: ClientRegistration::public("c"),
        requested: Scopes::none(),
        dpop: Some(DpopKey::generate().expect("a key")),
        tokens: TokenResponse {
            access: "old".into(),
            refresh: Some("r1".into()),
            scopes: None,
            expires: None,
            expires_in: None,
            is_bound: true,
        },
    };
    let at = FlowContext::new(SystemTime::UNIX_EPOCH, [1; 96]);
    let mut refresh =
        TokenRefresh::of(&issued, None, pintle_runtime::NetworkScope::Public).expect("a token");
    let body = r#"{"error":"use_dpop_nonce"}"#;
    let nonce = |value: &str| Ok(FetchResponse::new(400, body).header("DPoP-Nonce", value));
    let again = refresh.take(nonce("n1"), &at).expect("another try");
    assert!(again.is_err(), "it is asked once more");
    let refused = refresh.take(nonce("n2"), &at);
    assert!(
        matches!(refused, Err(AuthError::Refused { .. })),
        "and not for ever"
    );
}

// spec: 2025-11-25 AUTH-82, AUTH-RFC-07
#[test]
fn a_refresh_token_is_replaced_or_stays() {
    let mut site = Site::new();
    let issued = site.run(person()).expect("tokens");
    let at = site.flow_context();
    for (answer, expected) in [
        (
            json!({ "access_token": "t2", "token_type": "bearer" }),
            "r1",
        ),
        (
            json!({ "access_token": "t2", "token_type": "bearer", "refresh_token": "r2" }),
            "r2",
        ),
    ] {
        let mut refresh =
            TokenRefresh::of(&issued, None, pintle_runtime::NetworkScope::Public).expect("one");
        let request = refresh.begin(&at).expect("a request");
        assert_eq!(request.url, TOKEN);
        let body = std::str::from_utf8(&request.body).expect("text").to_owned();
        let sent = form::read(&body).expect("pairs");
        assert_eq!(of(&sent, "refresh_token"), Some("r1"));
        assert_eq!(
            (of(&sent, "resource"), of(&sent, "client_id")),
            (Some(SERVER), Some("dynamic"))
        );
        let refreshed = refresh
            .take(Ok(FetchResponse::new(200, answer.to_string())), &at)
            .expect("read");
        let tokens = refreshed.expect("tokens").tokens;
        assert_eq!(
            tokens
                .refresh
                .as_ref()
                .map(Secret::reveal)
                .map(String::as_str),
            Some(expected)
        );
    }
}

// A token that lived for half a minute was renewed before every request.
#[test]
fn a_token_that_does_not_live_long_is_used_for_most_of_its_life() {
    for (life, early) in [(3_600, 30), (120, 30), (60, 15), (20, 5), (4, 1)] {
        let mut site = Site::new();
        site.set(TOKEN, "expires_in", json!(life));
        let issued = site.run(person()).expect("tokens");
        let kept = TokensRecord::write(&issued);
        let read = TokensRecord::read(&kept, &ClientConfig::new("t")).expect("the same");
        for tokens in [issued.tokens, read.tokens] {
            let end = tokens.expires.expect("an end") - Duration::from_secs(early);
            assert!(tokens.is_stale(end), "{life}");
            assert!(!tokens.is_stale(end - Duration::from_millis(1)), "{life}");
        }
    }
}
