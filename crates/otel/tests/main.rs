//! A client and a server in one process, with exporters in memory.

mod client;
mod desk;
mod server;
