//! The client's side of the binding: against this crate's server, and against an origin that says
//! whatever a table tells it to.
//!
//! Nearly everything happens in memory on a paused clock; `network` opens ports.

mod answers;
mod authorized;
mod bounds;
mod ends;
mod kept;
mod network;
mod older;
mod origin;
mod pintle;
mod redirects;
mod sessions;
mod streams;
mod user;
