//! Handlers of rmcp, called by clients of every revision.

mod desk;
#[path = "../../pintle/tests/server/peer.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod peer;
mod tools;
