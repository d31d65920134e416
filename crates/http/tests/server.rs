//! The server side of the binding, as its clients see it.
//!
//! `exchange`, `sessions`, `resume`, `batches`, `accept` and `principals` ask the tower service on a paused clock; the others speak raw bytes to
//! a port.

#[path = "server/accept.rs"]
mod accept;
#[path = "server/batches.rs"]
mod batches;
#[path = "server/bodies.rs"]
mod bodies;
#[path = "server/browsers.rs"]
mod browsers;
#[path = "server/common.rs"]
mod common;
#[path = "server/exchange.rs"]
mod exchange;
#[path = "server/faults.rs"]
mod faults;
#[path = "server/heads.rs"]
mod heads;
#[path = "server/lessons.rs"]
mod lessons;
#[path = "server/load.rs"]
mod load;
#[path = "server/port.rs"]
mod port;
#[path = "server/principals.rs"]
mod principals;
#[path = "server/questions.rs"]
mod questions;
#[path = "server/resume.rs"]
mod resume;
#[path = "server/sessions.rs"]
mod sessions;
