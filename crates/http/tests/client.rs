//! The client side of the binding: against the server of this crate, and against a fake server whose
//! responses are in tables.
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
