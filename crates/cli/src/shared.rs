//! Servers that hosts share (`pintle serve --share`): their folder, their sockets, and the connections to them.

mod connect;
mod files;
mod folder;
mod key;

pub(crate) use connect::SharedOrOwn;
pub(crate) use files::Files;
pub(crate) use folder::Folder;
pub(crate) use key::{depends_on, digest, of_target, parts_of};
