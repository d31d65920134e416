//! Tests of sign-ins without a user, or with an assertion about a user.

use super::*;

// spec: 2025-11-25 AUTH-34, AUTH-RFC-08
// spec: 2026-07-28 X-CC-01, X-CC-02, X-CC-04
#[test]
fn a_client_asks_for_itself_with_a_secret_or_a_key() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let profile = |client| {
        ClientConfig::new("t")
            .with_grant_flow(GrantFlow::ClientCredentials)
            .registered_at(None, client)
    };
    let mut site = Site::new();
    site.set(
        page,
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_basic"]),
    );
    site.run(plan(profile(ClientRegistration::with_secret("c", "s"))))
        .expect("tokens");
    let sent = site.sent(TOKEN);
    assert_eq!(of(&sent, "grant_type"), Some("client_credentials"));
    assert_eq!(of(&sent, "resource"), Some(SERVER));
    assert!(site.header(TOKEN, "authorization").is_some() && site.visits.is_empty());

    let mut site = Site::new();
    site.set(
        page,
        "token_endpoint_auth_methods_supported",
        json!(["private_key_jwt"]),
    );
    let (key, _) = SigningKey::generate().expect("a key");
    site.run(plan(profile(ClientRegistration::with_key("c", key))))
        .expect("tokens");
    let sent = site.sent(TOKEN);
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    assert_eq!(of(&sent, "client_assertion_type"), Some(kind));
    assert_eq!(of(&sent, "client_id"), None);
    assert_eq!(
        of(&sent, "client_assertion").map(|token| token.split('.').count()),
        Some(3)
    );
    assert_eq!(site.header(TOKEN, "authorization"), None);
    assert_eq!(Algorithm::Es256.name(), "ES256");

    let nobody = Site::new().run(plan(
        ClientConfig::new("t").with_grant_flow(GrantFlow::ClientCredentials),
    ));
    assert!(matches!(
        nobody,
        Err(AuthError::Server {
            reason: AuthServerError::Registration,
            ..
        })
    ));
}

// spec: 2026-07-28 X-EMA-01, X-EMA-02 (client reads), X-EMA-03
#[test]
fn an_enterprise_vouches_for_its_user() {
    let mut site = Site::new();
    let page = "https://as.example/.well-known/oauth-authorization-server";
    site.set(
        page,
        "token_endpoint_auth_methods_supported",
        json!(["client_secret_basic"]),
    );
    let jag = "urn:ietf:params:oauth:token-type:id-jag";
    site.pages.insert(
        "https://idp.example/token",
        json!({ "access_token": "w0rd", "issued_token_type": jag, "token_type": "N_A" }),
    );
    site.run(plan(enterprise())).expect("tokens");
    let sent = site.sent("https://idp.example/token");
    for (name, value) in [
        (
            "grant_type",
            "urn:ietf:params:oauth:grant-type:token-exchange",
        ),
        ("requested_token_type", jag),
        ("subject_token", "id-token-of-user"),
        (
            "subject_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
        ("audience", ISSUER),
        ("resource", SERVER),
    ] {
        assert_eq!(of(&sent, name), Some(value), "{name}");
    }
    let sent = site.sent(TOKEN);
    assert_eq!(
        of(&sent, "grant_type"),
        Some("urn:ietf:params:oauth:grant-type:jwt-bearer")
    );
    assert_eq!(of(&sent, "assertion"), Some("w0rd"));
    let own = site.header(TOKEN, "authorization");
    assert_ne!(
        own,
        site.header("https://idp.example/token", "authorization")
    );

    site.set(
        "https://idp.example/token",
        "issued_token_type",
        json!("access_token"),
    );
    let refused = site.run(plan(enterprise()));
    assert!(matches!(refused, Err(AuthError::InvalidResponse { .. })));
}

// spec: 2026-07-28 X-EMA-06
#[test]
fn a_server_without_the_id_jag_profile_receives_no_id_jag() {
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let profile = "urn:ietf:params:oauth:grant-profile:id-jag";
    for (profiles, is_taken) in [
        (json!([profile, "urn:other"]), true),
        (json!(["urn:other"]), false),
        (json!([]), false),
    ] {
        let mut site = Site::new();
        let methods = json!(["client_secret_basic"]);
        site.set(page, "token_endpoint_auth_methods_supported", methods);
        site.set(page, "authorization_grant_profiles_supported", profiles);
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        site.pages.insert(
            "https://idp.example/token",
            json!({ "access_token": "w0rd", "issued_token_type": jag, "token_type": "N_A" }),
        );
        let came = site.run(plan(enterprise()));
        assert_eq!(came.is_ok(), is_taken, "{came:?}");
        if let Err(error) = came {
            let text = error.to_string();
            for word in [ISSUER, profile, "authorization_grant_profiles_supported"] {
                assert!(text.contains(word), "{text}");
            }
            let asked = site.asked.iter();
            assert_eq!(asked.filter(|asked| asked.method == "POST").count(), 0);
        }
    }
}

// spec: 2026-07-28 X-EMA-07
#[test]
fn an_identity_token_is_sent_only_to_the_configured_https_endpoint() {
    let at = |endpoint: &str| {
        let idp = EnterpriseManaged::new(
            "https://idp.example",
            endpoint,
            ClientRegistration::public("c"),
        );
        let own = ClientRegistration::public("at-as");
        plan(
            ClientConfig::new("t")
                .with_grant_flow(GrantFlow::Enterprise(idp))
                .registered_at(Some(ISSUER), own),
        )
    };
    for endpoint in ["http://idp.example/token", "ftp://idp.example/", "idp"] {
        let mut site = Site::new();
        let refused = site.run(at(endpoint));
        assert!(
            matches!(refused, Err(AuthError::Address(..))),
            "{endpoint}: {refused:?}"
        );
        assert!(!site.places().contains(&endpoint));
    }
    let mut site = Site::new();
    let _ = site.run(at("https://idp.internal.example/token"));
    let asked = site.asked.last().expect("a request");
    assert_eq!(asked.url, "https://idp.internal.example/token");
    assert_eq!(
        asked.network,
        pintle_runtime::NetworkScope::Private,
        "the endpoint is configured"
    );
}

// spec: 2026-07-28 X-WIF-01, X-WIF-02 (client audience)
#[test]
fn a_platform_vouches_for_a_workload_once() {
    let mut site = Site::new();
    site.run(plan(
        ClientConfig::new("t").with_grant_flow(GrantFlow::WorkloadIdentity),
    ))
    .expect("tokens");
    let sent = site.sent(TOKEN);
    for (name, value) in [
        (
            "grant_type",
            Some("urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ),
        ("assertion", Some("platform-jwt")),
        ("resource", Some(SERVER)),
        ("client_id", None),
        ("client_assertion", None),
        ("client_secret", None),
    ] {
        assert_eq!(of(&sent, name), value, "{name}");
    }
    assert_eq!(site.header(TOKEN, "authorization"), None);
    assert!(!site.places().contains(&"https://as.example/register"));
    assert!(site.visits.is_empty());

    site.pages
        .insert(TOKEN, json!({ "status": 400, "error": "invalid_grant" }));
    site.asked.clear();
    assert!(
        site.run(plan(
            ClientConfig::new("t").with_grant_flow(GrantFlow::WorkloadIdentity)
        ))
        .is_err()
    );
    let asked = site
        .places()
        .into_iter()
        .filter(|place| *place == TOKEN)
        .count();
    assert_eq!(asked, 1, "what was refused is not asked for again");
}

// spec: 2026-07-28 X-WIF-02 (client TLS)
#[test]
fn a_workload_presents_nothing_without_tls() {
    let mut site = Site::new();
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let plain = "http://as.example/token";
    site.set(page, "token_endpoint", json!(plain));
    let refused = site.run(plan(
        ClientConfig::new("t").with_grant_flow(GrantFlow::WorkloadIdentity),
    ));
    assert!(
        matches!(refused, Err(AuthError::Document { .. })),
        "{refused:?}"
    );
    assert!(!site.places().contains(&plain));
}

// A token that cannot be refreshed is requested again with its grant flow, without a user.
//
// spec: 2025-11-25 AUTH-75
// spec: 2026-07-28 N-AUTH-40
#[test]
fn more_is_asked_for_in_the_same_way_without_a_person() {
    let scopes = |list: &str| Scopes::parse(list).expect("scopes");
    let (key, _) = SigningKey::generate().expect("a key");
    let itself = ClientConfig::new("t")
        .with_grant_flow(GrantFlow::ClientCredentials)
        .registered_at(None, ClientRegistration::with_key("c", key));
    for profile in [
        itself,
        enterprise(),
        ClientConfig::new("t").with_grant_flow(GrantFlow::WorkloadIdentity),
    ] {
        let mut site = Site::new();
        let page = "https://as.example/.well-known/oauth-authorization-server";
        let methods = json!(["client_secret_basic", "private_key_jwt"]);
        site.set(page, "token_endpoint_auth_methods_supported", methods);
        let jag = "urn:ietf:params:oauth:token-type:id-jag";
        site.pages.insert(
            "https://idp.example/token",
            json!({ "access_token": "w0rd", "issued_token_type": jag }),
        );
        let mut plan = plan(profile);
        plan.challenged = Some(scopes("write"));
        plan.held = Some((ISSUER.to_owned(), scopes("read")));
        let issued = site.run(plan).expect("tokens");
        assert_eq!(issued.requested.to_string(), "read write");
        assert_eq!(of(&site.sent(TOKEN), "scope"), Some("read write"));
        assert!(site.visits.is_empty());
    }
}
