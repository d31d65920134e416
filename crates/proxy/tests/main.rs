//! A proxy between clients and servers of every revision.

mod changes;
mod limits;
mod pairings;
mod parked;
mod passing;
mod server;
mod sockets;
