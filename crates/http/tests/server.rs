//! The server side of the binding, as its clients see it.
//!
//! `exchange`, `sessions`, `shared`, `resume`, `batches`, `batches_elsewhere`, `accept`, `crowds`, `homes` and `principals` ask the tower service on a paused clock; the others speak raw bytes to
//! a port.

mod accept;
mod batches;
mod batches_elsewhere;
mod bodies;
mod browsers;
mod crowds;
mod elsewhere;
mod exchange;
mod handler_errors;
mod heads;
mod health;
mod homes;
mod hooks;
mod lessons;
mod load;
mod mail;
mod pictures;
mod port;
mod principals;
mod questions;
mod refusals;
mod resume;
mod sessions;
mod settings;
mod shared;
mod threads;

pub(crate) use mail::Replicated;
