//! Bytes in, and the expected bytes out: one real server behind a socket of lines and behind an HTTP
//! port, in both eras. A rejected row has no effect, and the next request is served.

mod handlers;
mod heads;
mod messages;
mod peer;
mod server;
