//! Servers by name, out of the configuration files of other hosts. Files are read, never written.
//!
//! [`known`] says which hosts there are and where their files lie ([`place`]); [`document`] reads
//! a file of JSON with comments, of TOML or of YAML, [`entry`] one server in it. Nothing is expanded until
//! a server is wanted: then [`expand`] puts in what its variables stand for, in the syntax of its
//! host ([`form`]). [`review`] describes a server before anything is expanded. [`book`] finds a server by
//! what was typed.
//!
//! Not here: anything that starts or connects to a server.

mod book;
mod document;
mod entry;
mod env_file;
mod error;
mod expand;
mod form;
mod jsonc;
mod known;
mod place;
mod review;
mod toml;
mod yaml;

pub(crate) use book::{Book, Listed, Named, Origin};
pub(crate) use entry::Reach;
pub(crate) use error::ConfigError;
pub(crate) use expand::Input;
pub(crate) use place::{Disk, Machine, Platform, World};
pub(crate) use review::{Action, Review};
