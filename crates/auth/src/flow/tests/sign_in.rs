//! A person signs in, for servers of several kinds.

use super::*;

// spec: 2025-11-25 AUTH-10, AUTH-12, AUTH-14, AUTH-45, AUTH-49, AUTH-50, AUTH-93, AUTH-RFC-07, AUTH-RFC-10
// spec: 2026-07-28 N-AUTH-10 (client RFC 8414), N-AUTH-14, N-AUTH-19, N-AUTH-20, N-AUTH-26, N-AUTH-48
#[test]
fn a_user_signs_in_at_an_unknown_server() {
    let mut site = Site::new();
    let issued = site.run(person()).expect("tokens");
    assert_eq!(
        site.places(),
        [
            "https://mcp.example/.well-known/oauth-protected-resource/mcp",
            "https://as.example/.well-known/oauth-authorization-server",
            "https://as.example/register",
            TOKEN,
        ]
    );
    let registered: Value = serde_json::from_slice(&site.asked[2].body).expect("JSON");
    assert_eq!(registered["application_type"], "native");
    assert_eq!(registered["redirect_uris"], json!([REDIRECT]));
    assert_eq!(
        registered["grant_types"],
        json!(["authorization_code", "refresh_token"])
    );
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    let sent = site.sent(TOKEN);
    for (name, value) in [
        ("grant_type", "authorization_code"),
        ("code", "c0de"),
        ("client_id", "dynamic"),
        ("redirect_uri", REDIRECT),
        ("resource", SERVER),
    ] {
        assert_eq!(of(&sent, name), Some(value), "{name}");
    }
    assert_eq!(of(&sent, "code_verifier").map(str::len), Some(43));
    assert_eq!(of(&site.visits[0], "resource"), Some(SERVER));
    assert_eq!(of(&site.visits[0], "scope"), None);
    assert_eq!(issued.tokens.access.reveal(), "t0k");
    let hour = SystemTime::UNIX_EPOCH + Duration::from_secs(3600);
    assert_eq!(issued.tokens.expires, Some(hour));
    assert!(issued.tokens.is_stale(hour - Duration::from_secs(30)));
    assert!(!issued.tokens.is_stale(hour - Duration::from_secs(31)));
}

// spec: 2026-07-28 N-AUTH-10 (client OIDC)
#[test]
fn an_issuer_with_a_document_of_openid_alone_is_found() {
    let mut site = Site::new();
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let document = site.pages.remove(page).expect("a page");
    let openid = "https://as.example/.well-known/openid-configuration";
    site.pages.insert(openid, document);
    let issued = site.run(person()).expect("tokens");
    assert_eq!((&*issued.issuer, &*issued.token_endpoint), (ISSUER, TOKEN));
    assert_eq!(site.places()[1..3], [page, openid]);
}

// spec: 2025-11-25 AUTH-07, AUTH-28, AUTH-31, AUTH-42, AUTH-43, AUTH-44
// spec: 2026-07-28 N-AUTH-15, N-AUTH-18, N-AUTH-14
#[test]
fn a_known_id_precedes_a_document_which_precedes_a_registration() {
    let document = "https://app.example/client.json";
    let takes = "client_id_metadata_document_supported";
    let page = "https://as.example/.well-known/oauth-authorization-server";
    let registration = ClientRegistration::public("known");
    for (profile, takes_documents, expected) in [
        (
            ClientConfig::new("t").with_document(document),
            true,
            document,
        ),
        (
            ClientConfig::new("t").with_document(document),
            false,
            "dynamic",
        ),
        (
            ClientConfig::new("t")
                .with_document(document)
                .registered_at(Some(ISSUER), registration.clone()),
            true,
            "known",
        ),
        (
            ClientConfig::new("t").registered_at(None, registration.clone()),
            true,
            "known",
        ),
        (
            ClientConfig::new("t")
                .with_document(document)
                .registered_at(Some("https://b"), registration),
            true,
            document,
        ),
    ] {
        let mut site = Site::new();
        site.set(page, takes, json!(takes_documents));
        site.run(plan(profile)).expect("tokens");
        assert_eq!(of(&site.visits[0], "client_id"), Some(expected));
        assert_eq!(of(&site.sent(TOKEN), "client_id"), Some(expected));
    }
}

// spec: 2026-07-28 N-AUTH-22, N-AUTH-23, N-AUTH-09
// hardening: H-40, H-41
#[test]
fn credentials_of_one_server_are_never_sent_to_another() {
    let mut site = Site::new();
    let other = ClientRegistration::with_secret("theirs", "their secret");
    let refused = site.run(plan(
        ClientConfig::new("t").registered_at(Some("https://b"), other),
    ));
    let reason = AuthServerError::OtherIssuer("https://b".into());
    assert!(matches!(refused, Err(AuthError::Server { reason: own, .. }) if own == reason));
    assert_eq!(site.places().len(), 2, "nothing but metadata was asked for");

    let mut plan = person();
    let mut kept = ClientRegistration::public("theirs");
    kept.redirect = Some(REDIRECT.to_owned());
    plan.kept.push(("https://b".to_owned(), kept.clone()));
    let mut site = Site::new();
    site.run(plan).expect("tokens");
    assert_eq!(of(&site.sent(TOKEN), "client_id"), Some("dynamic"));

    let mut plan = person();
    plan.kept.push((ISSUER.to_owned(), kept));
    let mut site = Site::new();
    site.run(plan).expect("tokens");
    assert_eq!(
        of(&site.sent(TOKEN), "client_id"),
        Some("theirs"),
        "its own is used again"
    );
}

// spec: 2025-11-25 AUTH-21, AUTH-24, AUTH-46, AUTH-47, AUTH-70, AMB-101
// spec: 2026-07-28 N-AUTH-37, N-AUTH-38, N-AUTH-40, N-AUTH-48
#[test]
fn scopes_come_from_the_challenge_or_else_from_the_metadata() {
    let scopes = |list: &str| Scopes::parse(list).expect("scopes");
    let held = |issuer: &str| Some((issuer.to_owned(), scopes("old")));
    for (challenged, advertised, offline, held, expected) in [
        (Some("a b"), Some(json!(["x"])), false, None, Some("a b")),
        (None, Some(json!(["x", "y"])), false, None, Some("x y")),
        (None, None, false, None, None),
        (None, None, true, None, None),
        (Some("a"), None, true, None, Some("a offline_access")),
        (Some("a old"), None, false, held(ISSUER), Some("old a")),
        (Some("a"), None, false, held("https://b"), Some("a")),
    ] {
        let mut site = Site::new();
        if let Some(advertised) = advertised {
            let page = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
            site.set(page, "scopes_supported", advertised);
        }
        if offline {
            let page = "https://as.example/.well-known/oauth-authorization-server";
            site.set(page, "scopes_supported", json!(["offline_access"]));
        }
        let mut plan = person();
        plan.challenged = challenged.map(scopes);
        plan.held = held;
        let issued = site.run(plan).expect("tokens");
        assert_eq!(of(&site.visits[0], "scope"), expected);
        assert_eq!(issued.requested.to_string(), expected.unwrap_or_default());
    }
}

// spec: 2025-11-25 AUTH-52
#[test]
fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    let own = "https://mcp.example/.well-known/oauth-authorization-server";
    let mut site = Site::new();
    site.pages.clear();
    site.back = String::new();
    site.pages.insert(
        "https://mcp.example/register",
        json!({ "client_id": "old" }),
    );
    let token = json!({ "access_token": "t", "token_type": "Bearer" });
    site.pages
        .insert("https://mcp.example/token", token.clone());
    let issued = site.run(person()).expect("tokens");
    assert_eq!(issued.token_endpoint, "https://mcp.example/token");
    assert_eq!(
        (issued.issuer.as_str(), issued.resource.as_str()),
        ("https://mcp.example", SERVER)
    );

    for issuer in ["https://mcp.example", "https://mcp.example/"] {
        let metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": "https://mcp.example/a",
            "token_endpoint": "https://mcp.example/t",
            "registration_endpoint": "https://mcp.example/register",
        });
        site.pages.insert(own, metadata);
        site.pages.insert("https://mcp.example/t", token.clone());
        let issued = site.run(person()).expect("tokens");
        assert_eq!(issued.issuer, issuer);
        assert_eq!(issued.token_endpoint, "https://mcp.example/t");
    }

    let mut profile = ClientConfig::new("t");
    profile.assume_legacy_metadata = false;
    let refused = site.run(plan(profile));
    assert!(matches!(
        refused,
        Err(AuthError::DocumentNotFound {
            document: MetadataDocument::Resource,
            ..
        })
    ));
    // A server that fails to answer is not one that has no such document.
    let page = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
    site.pages.insert(page, json!({ "status": 500 }));
    let refused = site.run(person());
    assert!(matches!(refused, Err(AuthError::Unavailable { .. })));
}
