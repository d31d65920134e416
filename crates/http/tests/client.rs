//! The client's side of the binding: against this crate's server, and against an origin that says
//! whatever a table tells it to.
//!
//! Nearly everything happens in memory on a paused clock; `network` opens ports.

#[path = "server/common.rs"]
#[allow(dead_code, reason = "the server's tests use more of it")]
mod common;

#[path = "client/answers.rs"]
mod answers;
#[path = "client/authorized.rs"]
mod authorized;
#[path = "client/bounds.rs"]
mod bounds;
#[path = "client/ends.rs"]
mod ends;
#[path = "client/kept.rs"]
mod kept;
#[path = "client/network.rs"]
mod network;
#[path = "client/older.rs"]
mod older;
#[path = "client/origin.rs"]
mod origin;
#[path = "client/pintle.rs"]
mod pintle;
#[path = "client/redirects.rs"]
mod redirects;
#[path = "client/sessions.rs"]
mod sessions;
#[path = "client/streams.rs"]
mod streams;
#[path = "client/user.rs"]
mod user;
