//! Sessions while several threads open, use and close them.
//!
//! Threads differ from run to run, so that every run is another test; none depends on how fast they are.

use std::future::Future;
use std::time::Duration;

use http_body_util::BodyExt as _;
use pintle_http::HttpOptions;
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::common::{Ask, Endpoint, ask, endpoint_with, legacy, listen, open};

const THREADS: usize = 4;
const CLIENTS: usize = 8;
/// How many sessions each client has, one after the other.
const ROUNDS: usize = 25;
/// A run takes a fraction of a second. This long means that it hangs.
const HANGS: Duration = Duration::from_secs(300);

fn on_threads(test: impl Future<Output = ()> + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()
        .expect("a runtime");
    let test = runtime.spawn(test);
    let ended = runtime.block_on(async { timeout(HANGS, test).await });
    ended.expect("it ends").expect("it holds");
}

/// The status of the answer to each, asked at the same time.
async fn statuses<const N: usize>(endpoint: &Endpoint, asks: [Ask; N]) -> Vec<u16> {
    let asked = asks.map(|ask| {
        let endpoint = endpoint.clone();
        tokio::spawn(async move { ask.json(&endpoint).await.0 })
    });
    let mut statuses = Vec::new();
    for asked in asked {
        statuses.push(asked.await.expect("no panic"));
    }
    statuses
}

/// Opens a session, and closes it while it is used.
async fn opens_and_closes(endpoint: Endpoint) {
    for _ in 0..ROUNDS {
        // There is room for one session of each client: one that is left behind is one too many.
        let id = open(&endpoint).await;
        let stream = listen(&endpoint, &id).await;
        let stream = tokio::spawn(async move { stream.collect().await.is_ok() });
        let list = || legacy(9, "tools/list", json!({})).in_session(&id);
        let delete = || ask("DELETE").in_session(&id);

        let seen = statuses(&endpoint, [list(), delete(), list(), delete()]).await;
        assert!(
            seen.iter().all(|seen| matches!(seen, 200 | 404)),
            "{seen:?}"
        );
        assert!(
            (seen[1] == 200) != (seen[3] == 200),
            "one of two closes it: {seen:?}"
        );
        assert!(stream.await.expect("no panic"), "its stream ends");
        assert_eq!(statuses(&endpoint, [list(), delete()]).await, [404, 404]);
    }
}

// spec: 2025-11-25 TRANS-SESS-08
#[test]
fn sessions_that_are_closed_while_they_are_used_leave_nothing_behind() {
    on_threads(async {
        let mut options = HttpOptions::default();
        options.limits.max_sessions = CLIENTS;
        let (endpoint, _) = endpoint_with(options);
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            clients.spawn(opens_and_closes(endpoint.clone()));
        }
        clients.join_all().await;
    });
}
