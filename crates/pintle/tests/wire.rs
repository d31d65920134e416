//! Bytes in, and what must come out: one real server behind a socket of lines and behind a port of
//! HTTP, in both eras. A row that is refused has no effect, and the next request is served.

mod handlers;
mod heads;
mod messages;
mod peer;
mod server;
