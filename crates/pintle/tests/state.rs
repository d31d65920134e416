//! State that replicas share: two servers over one store.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle::keys::{Keys, RootKey};
use pintle::prelude::*;
use pintle::server::{StartError, StateBackend};
use pintle::store::{MemoryStore, Store};
use pintle::{StateErrorKind, StateUrl};
use serde_json::{Value, json};

use crate::over_http::guest::{Guest, MODERN, REVISIONS, service};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// Asks for a name, and returns it with the size of a text from before the question.
#[tool]
async fn greet(ctx: Context, bytes: usize) -> Result<String, pintle::runtime::AskError> {
    let text = ctx
        .once("text", async { Ok::<_, String>("x".repeat(bytes)) })
        .await;
    let name = ctx.elicit::<Name>("Your name?").named("who").await?;
    let name = name.accepted().map(|name| name.name).unwrap_or_default();
    Ok(format!("{name}, {}", text.expect("a text").len()))
}

fn server() -> Server {
    Server::new("harbour", "1.0.0").tool::<greet>()
}

async fn replica(state: &StateBackend, is_single_use: bool) -> Guest {
    let server = server().state_backend(state.clone());
    let server = if is_single_use {
        server.single_use_states()
    } else {
        server
    };
    Guest::of(server, MODERN).await
}

fn call(bytes: usize) -> Value {
    let abilities = json!({ "elicitation": { "form": {} } });
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": abilities });
    json!({ "name": "greet", "arguments": { "bytes": bytes }, "_meta": meta })
}

/// Returns the retry that answers the question of the first replica.
async fn asked(first: &mut Guest, bytes: usize) -> Value {
    let answer = last(first.ask("tools/call", call(bytes)).await);
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    let mut retry = call(bytes);
    retry["requestState"] = answer["result"]["requestState"].clone();
    let accepted = json!({ "action": "accept", "content": { "name": "Ada" } });
    retry["inputResponses"] = json!({ "who": accepted });
    retry
}

fn last(mut messages: Vec<Value>) -> Value {
    messages.pop().expect("an answer")
}

/// Asks at one replica and answers at the other: states that travel, and states that are stored.
async fn retries_elsewhere(one: &StateBackend, other: &StateBackend) {
    for bytes in [10, 20_000] {
        let (mut first, mut second) = (replica(one, true).await, replica(other, true).await);
        let retry = asked(&mut first, bytes).await;
        let answer = last(second.ask("tools/call", retry.clone()).await);
        assert_eq!(
            answer["result"]["content"][0]["text"],
            format!("Ada, {bytes}"),
            "{answer}"
        );
        let again = last(first.ask("tools/call", retry).await);
        assert_eq!(
            again["error"]["code"], -32602,
            "a state is valid for one retry: {again}"
        );
    }
}

/// A folder that is removed with the value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-state-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn url(&self, scheme: &str, name: &str) -> String {
        format!("{scheme}:{}", self.0.join(name).display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

// spec: 2026-07-28 N-MRTR-12, N-MRTR-15
#[tokio::test]
async fn a_retry_is_served_by_another_replica_on_one_store() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let open = || StateBackend::open(Arc::clone(&store), None);
    let (one, other) = (open().await.expect("opens"), open().await.expect("opens"));
    retries_elsewhere(&one, &other).await;
}

// spec: 2026-07-28 N-MRTR-12, N-MRTR-15
#[tokio::test]
async fn a_retry_is_served_by_another_replica_on_sealed_values() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let open = || {
        let root = Keys::new(RootKey::new([7; 32]));
        StateBackend::open(Arc::clone(&store), Some(root))
    };
    let (one, other) = (open().await.expect("opens"), open().await.expect("opens"));
    retries_elsewhere(&one, &other).await;
}

// spec: 2026-07-28 N-MRTR-12, N-MRTR-15
#[tokio::test]
async fn a_retry_is_served_by_another_replica_on_one_database() {
    let folder = Folder::new();
    let url = folder.url("sqlite", "state.sqlite");
    let one = pintle::state(&url).await.expect("opens");
    let other = pintle::state(&url).await.expect("opens");
    retries_elsewhere(&one, &other).await;
}

#[tokio::test]
async fn a_retry_is_rejected_by_a_replica_with_another_state() {
    let one = pintle::state("memory:").await.expect("opens");
    let other = pintle::state("memory:").await.expect("opens");
    let (mut first, mut second) = (replica(&one, false).await, replica(&other, false).await);
    let retry = asked(&mut first, 10).await;
    let answer = last(second.ask("tools/call", retry).await);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn a_store_beside_the_state_is_found_at_the_start() {
    let state = pintle::state("memory:").await.expect("opens");
    let store = Arc::new(MemoryStore::default());
    let keys = Keys::new(RootKey::new([1; 32]));
    for (server, expected) in [
        (server().store(store), "store"),
        (server().request_state(keys), "request_state"),
    ] {
        let error = server
            .state_backend(state.clone())
            .build()
            .expect_err("does not start");
        assert!(matches!(error, StartError::TwoStates { setting } if setting == expected));
        assert!(
            error
                .to_string()
                .contains(&format!("remove .{expected}(…)")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_directory_belongs_to_one_process() {
    let folder = Folder::new();
    let url = folder.url("file", "state");
    let state = pintle::state(&url).await.expect("opens");
    let error = pintle::state(&url).await.expect_err("it is open already");
    assert!(matches!(error.kind(), StateErrorKind::Engine(_)), "{error}");
    assert!(error.to_string().contains(&url), "{error}");
    drop(state);
}

#[tokio::test]
async fn an_unknown_url_names_the_known_forms_and_no_password() {
    for url in ["mysql://user:s3cret@db", "", "s3cret"] {
        let error = pintle::state(url).await.expect_err("an unknown URL");
        let shown = format!("{error} {error:?}");
        assert!(
            matches!(error.kind(), StateErrorKind::UnknownScheme),
            "{shown}"
        );
        assert!(
            shown.contains("sqlite:FILE") && !shown.contains("s3cret"),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn an_error_of_an_engine_has_no_password() {
    // Nothing listens on port 1.
    let url = StateUrl::from("postgres://user:s3cret@127.0.0.1:1/db?connect_timeout=1");
    let error = url.open().await.expect_err("no server");
    let shown = format!("{error} {error:?} {:?} {url:?}", error.kind());
    assert!(matches!(error.kind(), StateErrorKind::Engine(_)), "{shown}");
    assert!(
        shown.contains("127.0.0.1:1") && !shown.contains("s3cret"),
        "{shown}"
    );
}

// spec: 2025-11-25 TRANS-SESS-02
#[tokio::test]
async fn a_session_is_served_by_another_replica_on_one_store() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let open = || {
        let root = Keys::new(RootKey::new([7; 32]));
        StateBackend::open(Arc::clone(&store), Some(root))
    };
    let (one, other) = (open().await.expect("opens"), open().await.expect("opens"));
    let [one, other] = [one, other].map(|state| service(server().state_backend(state)));
    for revision in REVISIONS.into_iter().filter(|it| *it != MODERN) {
        let mut guest = Guest::on(one.clone(), revision).await;
        for replica in [&other, &one] {
            guest.moves(replica.clone());
            let answer = last(guest.ask("tools/list", json!({})).await);
            assert_eq!(answer["result"]["tools"][0]["name"], "greet", "{answer}");
        }
    }
}
