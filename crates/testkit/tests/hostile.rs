//! Clients against servers that break every rule, over real bytes: on a pipe, where messages are
//! lines, and over HTTP, where they are bodies and events. Every call ends in a typed error or in a
//! result, within its limits.
//!
//! `tests/client` tests the same servers above the transports.

mod answers;
mod eras;
mod events;
mod lists;
mod network;
mod questions;
mod silence;

use std::time::Duration;

use pintle_client::{CallError, Client, ClientBuilder, ConnectError, Misbehavior};
use pintle_http::client::HttpClientOptions;
use pintle_model::Revision;
use pintle_proto::TransportErrorKind;
use pintle_testkit::fake_http::FakeServer;
use pintle_testkit::{HostileReply, HostileServer};
use serde_json::{Value, json};

/// The transport between a client and a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ground {
    Pipe,
    Http,
}

const GROUNDS: [Ground; 2] = [Ground::Pipe, Ground::Http];

/// Both eras of a server that answers calls like this.
fn both(
    script: impl Fn(&mut HostileReply, &Value) + Send + Sync + Copy + 'static,
) -> [HostileServer; 2] {
    [HostileServer::modern(script), HostileServer::legacy(script)]
}

/// Waits at most a day of virtual time; a future that is pending then never ends.
async fn within<T>(future: impl IntoFuture<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(24 * 3_600), future)
        .await
        .expect("in time")
}

async fn meet(server: &HostileServer, ground: Ground) -> Client {
    meet_as(Client::builder(), server, ground).await
}

async fn meet_as(client: ClientBuilder, server: &HostileServer, ground: Ground) -> Client {
    match ground {
        Ground::Pipe => within(client.connect(server.over_pipe())).await,
        Ground::Http => visit_as(client, &server.origin()).await,
    }
    .expect("a conversation")
}

async fn visit(origin: &FakeServer) -> Result<Client, ConnectError> {
    visit_as(Client::builder(), origin).await
}

async fn visit_as(client: ClientBuilder, origin: &FakeServer) -> Result<Client, ConnectError> {
    let target = origin.target(&HttpClientOptions::default());
    within(client.connect(target.expect("no headers"))).await
}

/// The misbehavior of the server.
fn misbehavior(error: CallError) -> Misbehavior {
    match error {
        CallError::Misbehaved { source, .. } => source,
        other => panic!("{other}"),
    }
}

/// The kind of the lost connection.
fn loss(error: &CallError) -> TransportErrorKind {
    match error {
        CallError::Disconnected { source, .. } => source.kind(),
        other => panic!("{other}"),
    }
}

/// A valid result of a tool.
fn good() -> Value {
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": "good" }] })
}

fn revision(client: &Client) -> Revision {
    client.server().expect("a server").revision
}
