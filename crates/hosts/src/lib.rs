//! Servers by name, from the configuration files of hosts such as editors.
//!
//! [`ServerRegistry`] finds a server by its name. The files of each [`Host`] are JSON with comments, TOML or
//! YAML, and each server in them is a [`Server`]. Variables of a server are expanded only when the caller
//! requires its [`Target`]. [`Review`] describes a server before that expansion. [`ConfigEdit`] adds a server to the
//! file of a host, or removes it.
//!
//! Not here: anything that starts or connects to a server.

mod config_file;
mod config_owner;
mod config_path;
mod dialect;
mod document;
mod edit;
mod entry;
mod env_file;
mod error;
mod expand;
mod host;
mod host_rules;
mod jsonc;
mod raw_entry;
mod review;
mod server_registry;
mod suggestion;
mod target;
mod toml;
#[cfg(feature = "trial")]
#[doc(hidden)]
pub mod trial;
mod variable_syntax;
mod yaml;

pub use config_file::{ConfigFile, FileFault, FileFaultKind};
pub use config_owner::ConfigOwner;
pub use config_path::{Environment, FileSource, LocalFiles, Platform};
pub use edit::{BACKUPS, ConfigEdit, EditError, NewServer, Placement};
pub use entry::{EntryError, Server, Text, UnexpandedTarget};
pub use error::ConfigError;
pub use expand::{Input, InputHandler};
pub use host::Host;
pub use host_rules::{ChildEnvironment, HostRules, JsonForm, PathSource};
pub use review::{Action, Review};
pub use server_registry::{Listed, Named, ServerRegistry};
pub use suggestion::suggestion;
pub use target::{Endpoint, Program, Target, without_query};
