//! A server with an audit log, and a client in the same process.

mod desk;
mod lines;
mod room;
