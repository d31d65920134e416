//! Servers by name, from the configuration files of hosts such as editors. Files are read, never written.
//!
//! [`known`] says which hosts there are and where their files lie ([`place`]); [`document`] reads
//! a file of JSON with comments, of TOML or of YAML, [`entry`] one server in it. Nothing is expanded until
//! a server is wanted: then [`expand`] puts in what its variables stand for, in the syntax of its
//! host ([`form`]). [`review`] describes a server before anything is expanded. [`book`] finds a server by
//! what was typed.
//!
//! Not here: anything that starts or connects to a server.

mod config_path;
mod document;
mod entry;
mod env_file;
mod error;
mod expand;
mod form;
mod jsonc;
mod known;
mod review;
mod server_registry;
mod suggestion;
mod target;
mod toml;
mod written;
mod yaml;

pub use config_path::{Environment, FileSource, LocalFiles, Platform};
pub use entry::{EntryError, Reach, Server, Text};
pub use error::ConfigError;
pub use expand::{Asked, Input};
pub use known::Host;
pub use review::{Action, Review};
pub use server_registry::{ConfigOwner, Listed, Named, ServerRegistry};
pub use suggestion::suggestion;
pub use target::{Endpoint, Program, Target, without_query};
