//! Judges a client: a scripted server is visited, and the messages of the client are judged afterwards.
//!
//! A [`Visitor`] causes the visits. Each visit has a scene: a plain server of one revision, or a server that does
//! one unusual thing. [`check_client`] makes all visits, and judges the record.

mod check;
mod checks;
mod judge;
mod record;
mod run;
mod scene;
mod script;
mod seen;
mod stage;
mod transport;
mod visitor;

pub use check::ClientCheck;
pub use checks::client_checks;
pub use run::{ClientServer, check_client};
pub use transport::StdioServer;
pub use visitor::{ScriptedServer, Visitor};
