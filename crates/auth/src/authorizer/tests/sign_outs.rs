//! Tests of sign-outs and of the revocation of tokens.

use super::*;
use crate::authorizer::{Revocation, SignedOut};

fn value<'f>(form: &'f [(String, String)], name: &str) -> Option<&'f str> {
    let found = form.iter().find(|(own, _)| own == name);
    found.map(|(_, value)| value.as_str())
}

// RFC 7009, 2.1.
#[tokio::test]
async fn removed_credentials_are_revoked() {
    let site = Site::default();
    let oauth = oauth(&site);
    let nothing = oauth.sign_out().await.expect("nothing to forget");
    assert!(matches!(nothing, SignedOut::Nothing));
    oauth.sign_in().await.expect("a token");
    let gone = oauth.sign_out().await.expect("forgotten");
    assert!(
        matches!(gone, SignedOut::Forgotten(Revocation::Done)),
        "{gone:?}"
    );
    let sent = site.sent("https://as.example/revoke");
    let tokens: Vec<_> = sent
        .iter()
        .map(|form| (value(form, "token"), value(form, "token_type_hint")))
        .collect();
    assert_eq!(
        tokens,
        [
            (Some("refresh-secret-1"), Some("refresh_token")),
            (Some("access-secret-1"), Some("access_token")),
        ]
    );
    assert!(
        sent.iter()
            .all(|form| value(form, "client_id") == Some("client-0"))
    );
    assert!(oauth.issued_tokens().expect("read").is_none());
    assert_eq!(bearer(&oauth).await.0, "");
}

#[tokio::test]
async fn credentials_are_removed_even_if_the_revocation_fails() {
    let document = "/.well-known/oauth-authorization-server";
    let metadata = |endpoint: Option<&str>| {
        let body = json!({ "issuer": ISSUER, "revocation_endpoint": endpoint });
        FetchResponse::new(200, body.to_string())
    };
    let none =
        |signed_out: &SignedOut| matches!(signed_out, SignedOut::Forgotten(Revocation::NotOffered));
    let failed =
        |signed_out: &SignedOut| matches!(signed_out, SignedOut::Forgotten(Revocation::Failed(_)));
    let done =
        |signed_out: &SignedOut| matches!(signed_out, SignedOut::Forgotten(Revocation::Done));
    type Expected<'a> = &'a dyn Fn(&SignedOut) -> bool;
    let kind = r#"{"error":"unsupported_token_type"}"#;
    let refusal = r#"{"error":"invalid_client","error_description":"refresh-secret-1"}"#;
    let rows: [(&str, FetchResponse, Expected<'_>); 6] = [
        (document, metadata(None), &none),
        (
            document,
            metadata(Some("http://as.example/revoke")),
            &failed,
        ),
        (document, metadata(Some("https://10.0.0.1/revoke")), &failed),
        ("/revoke", FetchResponse::new(503, ""), &failed),
        ("/revoke", FetchResponse::new(401, refusal), &failed),
        ("/revoke", FetchResponse::new(400, kind), &done),
    ];
    for (place, answer, expected) in rows {
        let site = Site::default();
        let oauth = oauth(&site);
        oauth.sign_in().await.expect("a token");
        site.respond_once(place, answer);
        let gone = oauth.sign_out().await.expect("forgotten");
        assert!(expected(&gone), "{place}: {gone:?}");
        assert!(!format!("{gone:?}").contains("secret-1"), "{gone:?}");
        assert!(oauth.issued_tokens().expect("read").is_none());
        let asked = site.0.asked.lock().expect("whole");
        assert!(
            asked
                .iter()
                .all(|request| !request.url.contains("10.0.0.1"))
        );
    }
}

// A process with a token in memory does not store it again after a sign-out of another process.
#[tokio::test]
async fn a_sign_out_holds_in_every_process() {
    let path = std::env::temp_dir().join(format!("pintle-auth-out-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    let site = Site::default();
    let store = || FileCredentialStore::at(&path).expect("a directory");
    oauth_with(&site, store()).sign_in().await.expect("a token");
    let other = OAuth::of(SERVER, ClientConfig::new("test"), site.clone())
        .expect("a URL")
        .store(store())
        .build();
    assert_eq!(bearer(&other).await.0, "Bearer access-secret-1");
    oauth_with(&site, store())
        .sign_out()
        .await
        .expect("forgotten");
    let error = why(other.handle_challenge(summary(), unauthorized(1)).await);
    assert!(matches!(error, AuthError::SignInUnavailable), "{error}");
    assert_eq!(site.0.refreshes.load(Ordering::SeqCst), 0);
    assert!(store().load(&other.0.key()).expect("read").is_none());
    std::fs::remove_dir_all(&path).expect("removed");
}

// spec: 2025-11-25 AUTH-46, AUTH-76, SEC-34 (client scopes)
#[tokio::test]
async fn a_client_that_is_to_ask_for_little_signs_in_for_no_more() {
    let site = Site::default();
    let scopes = crate::Scopes::parse("read").expect("scopes");
    let oauth = OAuth::of(
        SERVER,
        ClientConfig::new("test").with_scopes(scopes),
        site.clone(),
    )
    .expect("a URL")
    .on_sign_in(|_| async { Ok(None) })
    .build();
    let error = why(oauth
        .handle_challenge(summary(), short(0, "read write"))
        .await);
    let expected = "the server requires the scopes \"read write\" for tools/call x, but this client is configured \
                to request only \"read\"";
    assert_eq!(error.to_string(), expected);
    assert_eq!(site.0.registrations.load(Ordering::SeqCst), 0);
}
