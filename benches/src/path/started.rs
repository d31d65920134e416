//! The start of a server with a hundred tools, until its first list has left.

use pintle::model::Revision;
use pintle::prelude::*;
use pintle::runtime::IntoService;
use pintle::server::App;

use super::served::{Ask, PipePeer};

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "the derived schema reads the fields")]
struct Lookup {
    /// Key of the record.
    key: String,
    /// Maximum number of results.
    limit: i64,
    /// Whether to return all fields.
    verbose: bool,
}

/// Starts a server, lists its tools as a client of `revision` does, and ends it.
pub(super) async fn list_once(revision: Revision, request: &str) {
    let mut peer = PipePeer::of(server(), revision).await;
    peer.round_trip(request, Ask::LIST.least).await;
    peer.close().await;
}

fn server() -> App {
    let mut server = Server::new("small", "1.0.0");
    for at in 0..100 {
        let tool = Tool::new(format!("tool_{at:03}"))
            .description("Looks up a record by its key and returns a short text.")
            .handler(async |lookup: Lookup| lookup.key);
        server = server.add_tool(tool);
    }
    server.into_service().expect("a good server")
}
