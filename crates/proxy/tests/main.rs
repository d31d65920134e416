//! A proxy between clients and servers of every revision.

mod ages;
mod changes;
mod filters;
mod limits;
mod mounted;
mod mounted_tasks;
mod narrowed;
mod pairings;
mod parked;
mod passing;
mod replacement;
mod server;
mod sockets;
mod tasks;
