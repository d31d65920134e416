//! Clients against servers that send arbitrary messages, on a paused clock. Every call ends in a
//! typed error or in a result, within its limits.

mod answers;
mod approvals;
mod asked;
mod caches;
mod ends;
mod eras;
mod groups;
mod listens;
mod lists;
mod outputs;
mod pings;
mod refused;
mod rounds;
mod tasks;
mod visits;
mod watches;

use std::time::Duration;

use pintle_client::{CallError, Client, Misbehavior};
use pintle_testkit::HostileServer;
use serde_json::{Value, json};

/// Waits at most a day of virtual time; a future that is pending then never ends.
async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(24 * 3_600), future)
        .await
        .expect("in time")
}

async fn connect(server: &HostileServer) -> Client {
    within(Client::connect(server.clone()))
        .await
        .expect("a conversation")
}

/// The misbehavior of the server.
fn misbehavior(error: CallError) -> Misbehavior {
    match error {
        CallError::Misbehaved { source, .. } => source,
        other => panic!("{other}"),
    }
}

/// A valid result of a tool.
fn good() -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": "good" }] })
}
