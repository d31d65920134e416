//! Tasks, in both revisions that have them.

mod bounds;
mod core;
mod core_questions;
mod engine;
mod extension;
mod faults;
mod guest;
mod lifetime;
mod listening;
mod peer;
mod remote;
mod replicas;
mod restart;
mod sockets;
mod stuck;
mod threads;
mod tools;
mod uneven;
