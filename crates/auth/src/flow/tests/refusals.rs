//! Tests of rejected responses, and of secrets in errors and debug output.

use super::*;

// hardening: H-46
#[test]
fn no_stage_of_a_sign_in_shows_a_secret() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let secret = || ClientRegistration::with_secret("c", "s3cret-of-the-client");
    let (key, _) = SigningKey::generate().expect("a key");
    let itself = |client| {
        ClientConfig::new("t")
            .with_grant_flow(GrantFlow::ClientCredentials)
            .registered_at(None, client)
    };
    let rows = [
        (ClientConfig::new("t"), true),
        (ClientConfig::new("t").registered_at(None, secret()), false),
        (itself(secret()), false),
        (itself(ClientRegistration::with_key("c", key)), true),
        (enterprise(), false),
        (
            ClientConfig::new("t").with_grant_flow(GrantFlow::WorkloadIdentity),
            true,
        ),
    ];
    for (profile, wants_dpop) in rows {
        let mut site = Site::new();
        let methods = json!(["client_secret_post", "private_key_jwt"]);
        site.set(page, "token_endpoint_auth_methods_supported", methods);
        site.set(page, "dpop_signing_alg_values_supported", json!(["ES256"]));
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        site.pages.insert(
            "https://idp.example/token",
            json!({ "access_token": "w0rd-of-the-idp", "issued_token_type": jag }),
        );
        let registered = json!({ "client_id": "dynamic", "client_secret": "registered-s3cret" });
        site.pages.insert("https://as.example/register", registered);
        site.set(TOKEN, "access_token", json!("access-s3cret"));
        site.set(TOKEN, "refresh_token", json!("refresh-s3cret"));
        let mut plan = plan(profile);
        plan.wants_dpop = wants_dpop;
        let issued = site.run(plan).expect("tokens");
        site.shown += &format!("{issued:?} {issued:#?}");
        let forms = site.asked.iter().filter(|request| request.method == "POST");
        let forms: Vec<_> = forms
            .filter_map(|request| form::read(std::str::from_utf8(&request.body).ok()?))
            .flatten()
            .collect();
        let secrets = [
            "code",
            "code_verifier",
            "client_secret",
            "client_assertion",
            "assertion",
            "subject_token",
        ];
        let sent = forms
            .iter()
            .filter(|(name, _)| secrets.contains(&name.as_str()));
        let sent: Vec<&str> = sent.map(|(_, value)| value.as_str()).collect();
        assert!(!sent.is_empty());
        let made = ["s3cret", "w0rd", "eyJ"];
        for secret in sent.into_iter().chain(made) {
            assert!(!site.shown.contains(secret), "{secret}: {}", site.shown);
        }
    }
}

// A response of the token endpoint without a token causes no request elsewhere.
//
// spec: 2025-11-25 AUTH-79
// hardening: H-30
// spec: 2026-07-28 N-AUTH-04
#[test]
fn a_token_endpoint_that_sends_elsewhere_is_not_followed() {
    for place in [TOKEN, "https://as.example/register"] {
        let mut site = Site::new();
        site.pages.insert(place, json!({ "status": 307 }));
        let refused = site.run(person()).expect_err("refused");
        assert!(matches!(refused, AuthError::Refused { .. }), "{refused}");
        assert_eq!(site.places().last(), Some(&place));
    }
}

// spec: 2025-11-25 AUTH-16, AUTH-27
// spec: 2026-07-28 N-AUTH-07, N-AUTH-11
#[test]
fn metadata_that_cannot_be_read_now_is_an_error_that_may_be_repeated() {
    let pages = [
        "https://mcp.example/.well-known/oauth-protected-resource/mcp",
        "https://as.example/.well-known/oauth-authorization-server",
    ];
    for page in pages {
        let mut site = Site::new();
        site.pages.insert(page, json!({ "status": 503 }));
        let error = site.run(person()).expect_err("refused");
        assert!(matches!(error, AuthError::Unavailable { .. }), "{error}");
        assert!(error.is_retryable());
        assert_eq!(site.places().last(), Some(&page), "no other place counts");
    }
    for (status, is_retryable) in [(503, true), (429, true), (400, false), (403, false)] {
        let mut site = Site::new();
        site.pages.insert(TOKEN, json!({ "status": status }));
        let error = site.run(person()).expect_err("refused");
        assert_eq!(error.is_retryable(), is_retryable, "{error}");
    }
}

// hardening: H-44
#[test]
fn a_document_that_is_nested_too_deep_is_rejected() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let at = Site::new().flow_context();
    for levels in [200, 100_000] {
        let token = format!(
            r#"{{"access_token":"t","token_type":"Bearer","x":{}}}"#,
            deep(levels)
        );
        let issued = Site::new().run(person()).expect("tokens");
        let mut refresh =
            TokenRefresh::of(&issued, None, pintle_runtime::NetworkScope::Public).expect("one");
        let refused = refresh.take(Ok(FetchResponse::new(200, token)), &at);
        assert!(
            matches!(refused, Err(AuthError::InvalidResponse { .. })),
            "{levels}"
        );
        let document = format!(r#"{{"issuer":"{ISSUER}","x":{}}}"#, deep(levels));
        let read = crate::metadata::ServerMetadata::read(document.as_bytes(), ISSUER);
        assert!(read.is_err(), "{levels}");
    }
}

// hardening: H-44
#[test]
fn tokens_and_clients_that_are_too_large_are_refused() {
    let kib = |number: usize| "x".repeat(number << 10);
    for member in ["access_token", "refresh_token"] {
        for (size, is_fine) in [(kib(64), true), (kib(64) + "x", false)] {
            let mut site = Site::new();
            site.set(TOKEN, member, json!(size));
            let came = site.run(person());
            assert_eq!(came.is_ok(), is_fine, "{member}");
        }
    }
    for member in ["client_id", "client_secret"] {
        for (size, is_fine) in [(kib(8), true), (kib(8) + "x", false)] {
            let mut site = Site::new();
            site.set("https://as.example/register", member, json!(size));
            let came = site.run(person());
            assert_eq!(came.is_ok(), is_fine, "{member}");
        }
    }
}

// hardening: H-35
#[test]
fn a_code_of_another_issuer_goes_nowhere() {
    let mut site = Site::new();
    site.back = "iss=https%3A%2F%2Fevil.example".to_owned();
    assert!(matches!(
        site.run(person()),
        Err(AuthError::Redirect { .. })
    ));
    assert!(!site.places().contains(&TOKEN));
}

// spec: 2026-07-28 N-AUTH-21
// hardening: H-46
#[test]
fn an_error_names_the_place_and_repeats_no_secret() {
    let mut site = Site::new();
    let echo = json!({
        "status": 400, "error": "invalid_grant", "error_description": "bad code c0de-of-somebody",
    });
    site.pages.insert(TOKEN, echo);
    let refused = site.run(person()).expect_err("refused").to_string();
    let expected = "the request for a token at https://as.example/token was refused: \
                invalid_grant (bad code c0de-of-somebody)";
    assert_eq!(refused, expected);

    site.pages.insert(
        "https://as.example/register",
        json!({ "status": 400, "error": "invalid_redirect_uri" }),
    );
    let refused = site.run(person()).expect_err("refused").to_string();
    let expected = "the registration of the client at https://as.example/register was refused: \
                invalid_redirect_uri";
    assert_eq!(refused, expected);

    // A server that repeats the verifier is not quoted.
    let issued = Site::new().run(person()).expect("tokens");
    let mut issued = issued;
    issued.tokens.refresh = Some("a-long-refresh-token".into());
    let at = site.flow_context();
    let mut refresh =
        TokenRefresh::of(&issued, None, pintle_runtime::NetworkScope::Public).expect("one");
    let body = r#"{"error":"invalid_grant","error_description":"a-long-refresh-token is bad"}"#;
    let refused = refresh
        .take(Ok(FetchResponse::new(400, body)), &at)
        .expect_err("refused");
    let shown = format!("{refused} {refused:?} {issued:?}");
    assert!(!shown.contains("a-long-refresh-token"), "{shown}");
}

// hardening: H-44
#[test]
fn invalid_responses_of_a_token_endpoint_are_rejected() {
    for (answer, fault) in [
        (json!([]), "access_token"),
        (json!({ "token_type": "Bearer" }), "access_token"),
        (
            json!({ "access_token": "a b", "token_type": "Bearer" }),
            "access_token",
        ),
        (
            json!({ "access_token": "a\r\nX: y", "token_type": "Bearer" }),
            "access_token",
        ),
        (
            json!({ "access_token": 1, "token_type": "Bearer" }),
            "access_token",
        ),
        (json!({ "access_token": "t" }), "token_type"),
        (
            json!({ "access_token": "t", "token_type": "mac" }),
            "token_type",
        ),
        (
            json!({ "access_token": "t", "token_type": "N_A" }),
            "token_type",
        ),
        (
            json!({ "access_token": "t", "token_type": "Bearer", "scope": "\"" }),
            "scope",
        ),
    ] {
        let mut site = Site::new();
        site.pages.insert(TOKEN, answer.clone());
        let refused = site.run(person()).expect_err("refused").to_string();
        assert!(
            refused.contains(fault) && !refused.contains("a b"),
            "{refused}"
        );
    }
    for (seconds, expected) in [
        (json!("60"), Some(60)),
        (json!(1e300), Some(365 * 24 * 3600)),
        (json!(-1), None),
        (json!("x"), None),
        (json!(null), None),
    ] {
        let mut site = Site::new();
        site.set(TOKEN, "expires_in", seconds);
        let issued = site.run(person()).expect("tokens");
        let expected = expected.map(|time| SystemTime::UNIX_EPOCH + Duration::from_secs(time));
        assert_eq!(issued.tokens.expires, expected);
    }
}
