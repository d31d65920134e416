//! The choice of the revision, and its failures.

use pintle::client::{Client, ConnectError, Era, EraCache, EraMode};
use pintle::model::{Feature, Revision};

use crate::client::help_desk::{client, modes, target, within};

// spec: 2025-11-25 LIFE-02, LIFE-04, LIFE-07, LIFE-08, LIFE-16, GEN-02 (client), GEN-07
// spec: 2026-07-28 N-VER-01, N-DISC-04, N-ERA-03, N-ERA-04
#[tokio::test(start_paused = true)]
async fn a_client_speaks_the_configured_or_the_newest_revision() {
    for mode in modes() {
        let client = client(mode).await;
        let server = client.server().expect("a server");
        let expected = match mode {
            EraMode::Pinned(revision) => revision,
            _ => Revision::LATEST,
        };
        assert_eq!(server.revision, expected);
        let identity = server.identity.expect("it says who it is");
        assert_eq!((&*identity.name, &*identity.version), ("desk", "1.0.0"));
        assert_eq!(server.instructions.as_deref(), Some("Knock."));
        assert!(server.capabilities.tools.is_some());
        within(client.ping()).await.expect("it is there");
    }
}

#[tokio::test(start_paused = true)]
async fn a_mode_that_needs_no_probe_makes_none() {
    let client = client(EraMode::Legacy).await;
    let revision = client.server().expect("a server").revision;
    assert_eq!(revision, Revision::LATEST_LEGACY);
    assert!(revision.has(Feature::Handshake));
}

#[tokio::test(start_paused = true)]
async fn an_era_is_remembered_where_the_server_has_a_name() {
    let eras = EraCache::new();
    let builder = Client::builder().eras(eras.clone());
    let client = within(builder.connect(target())).await.expect("a server");
    assert_eq!(
        client.server().expect("a server").revision,
        Revision::LATEST
    );
    assert_eq!(eras.entries(), [], "a server in process has no name");
    eras.put("x", Era::Legacy, std::time::SystemTime::now());
    assert_eq!(eras.entries().len(), 1);
}

// spec: 2025-11-25 ROOT-04, ROOT-07
#[tokio::test(start_paused = true)]
async fn a_client_that_cannot_be_does_not_connect() {
    let builder = Client::builder().roots(["https://example.org"]);
    let error = within(builder.connect(target())).await.unwrap_err();
    assert!(matches!(error, ConnectError::InvalidConfig(_)), "{error}");
}

// hardening: H-172
#[tokio::test(start_paused = true)]
async fn a_closed_client_is_closed() {
    let client = client(EraMode::Auto).await;
    assert!(client.is_connected());
    within(client.close()).await;
    within(client.close()).await;
    assert!(!client.is_connected());
    let error = within(client.ping()).await.unwrap_err();
    assert!(
        matches!(error, pintle::client::CallError::Closed { .. }),
        "{error}"
    );
}
