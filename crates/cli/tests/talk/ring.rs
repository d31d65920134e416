//! Credentials in the keyring of the system.

use serde_json::Value;

use crate::talk::guarded::Guard;
use crate::talk::home::{Home, free_port};
use crate::talk::sign_in::follow;

// A registered client stores nothing, so that the test leaves nothing in the keyring.
//
// spec: 2025-11-25 AUTH-80
// spec: 2026-07-28 N-AUTH-50
// hardening: H-45
#[tokio::test]
async fn every_command_finds_the_credentials_in_the_keyring() {
    let (guard, home) = (Guard::new().await, Home::new());
    let trial = home.pintle("auth status --keyring").run().await;
    if trial.code != Some(0) {
        // This system has no keyring. The program reports it before the sign-in, with an
        // alternative.
        assert_eq!(trial.code, Some(3), "{trial:?}");
        assert!(trial.notes.contains("keyring"), "{trial:?}");
        assert!(!trial.notes.contains("matching entry"), "{trial:?}");
        let login = home
            .pintle("login --no-browser --keyring")
            .word(guard.url());
        let text = login.fails(3).await;
        assert!(text.contains("keep credentials in files"), "{text}");
        assert_eq!(guard.issuer.count("/authorize"), 0);
        return;
    }
    let port = free_port().to_string();
    let redirect = format!("http://127.0.0.1:{port}/callback");
    guard.issuer.knows("desk", None, &[&redirect]);
    let words = ["login", guard.url(), "--no-browser", "--keyring"];
    let client = ["--client-id", "desk", "--redirect-port", &port];
    let mut typist = home.typist(&[&words[..], &client[..]].concat());
    follow(&mut typist, &guard).await;
    typist.sees("signed in").await;
    assert_eq!(typist.leaves().await.code(), Some(0));
    for place in ["\"access\"", "\"refresh\""] {
        assert!(!home.stored().contains(place), "{:?}", home.files());
    }

    for status in [
        home.pintle("auth status --json"),
        home.pintle("auth status --json").word(guard.url()),
    ] {
        let status = status.json().await;
        assert_eq!(status["servers"][0]["server"], guard.url(), "{status}");
    }
    let call = home.pintle("call").word(guard.url());
    let sum = call.word("add").word("a=1").word("b=2").prints().await;
    assert_eq!(sum, "3\n");

    let text = home.pintle("logout").word(guard.url()).prints().await;
    assert!(text.contains("are revoked"), "{text}");
    let gone = home.pintle("auth status --json").json().await;
    assert_eq!(gone["servers"], Value::Array(Vec::new()));
    home.pintle("list").word(guard.url()).fails(3).await;
}
