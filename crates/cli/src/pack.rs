//! Packages of a user's server: `server.json` for registries, an MCPB bundle for each target, and a card of a hosted server.
//!
//! [`Project`] reads the files of the project, [`Facts`] joins them with the answers of the running server, and
//! [`Package`] is the result in memory.

mod bundle;
mod error;
mod facts;
mod manifest;
mod place;
mod project;
mod server_card;
mod server_json;
mod target;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

pub(crate) use bundle::{Binary, sha256};
pub(crate) use error::PackError;
pub(crate) use facts::{Facts, Offered, OfferedPrompt};
pub(crate) use project::{Kind, Project};

/// Options of a package that the project's files do not have.
#[derive(Debug, Clone, Default)]
pub(crate) struct PackOptions {
    /// The directory of the project.
    pub(crate) project: PathBuf,
    /// The name of the server in a registry.
    pub(crate) name: Option<String>,
    /// The description, in place of the project's.
    pub(crate) description: Option<String>,
    /// The name of the author, in place of the project's.
    pub(crate) author: Option<String>,
    /// The programs, by their targets.
    pub(crate) binaries: Vec<(String, PathBuf)>,
    /// The URL of the directory from which bundles are downloaded.
    pub(crate) download: Option<String>,
    /// URLs at which the server is hosted.
    pub(crate) remotes: Vec<String>,
    /// Variables that each user sets.
    pub(crate) settings: Vec<String>,
    /// Arguments of the program.
    pub(crate) arguments: Vec<String>,
}

/// The files of a package, by name.
pub(crate) struct Package {
    /// The content of each file.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl Package {
    /// Creates the files of a package.
    ///
    /// # Errors
    ///
    /// [`PackError`] if a value is missing or invalid, or a program cannot be read.
    pub(crate) fn new(facts: &Facts, options: &PackOptions) -> Result<Self, PackError> {
        let mut files = BTreeMap::new();
        for (target, file) in &options.binaries {
            let target = target::Target::parse(target)?;
            let binary = Binary::read(file)?;
            let manifest = manifest::manifest(facts, options, &target)?;
            let entry = target.entry_point(&facts.program);
            let bytes = bundle::archive(&manifest, &entry, &binary)?;
            let name = format!("{}-{}-{}.mcpb", facts.program, facts.version, target.name);
            files.insert(name, bytes);
        }
        let server_json = server_json::server_json(facts, options, &files)?;
        if let Some(card) = server_card::server_card(facts, &server_json) {
            files.insert("server-card.json".to_owned(), card);
        }
        let json = format!("{:#}\n", Value::Object(server_json));
        files.insert("server.json".to_owned(), json.into_bytes());
        Ok(Self { files })
    }
}

/// Whether the name of a variable or a header is usual for a secret.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = [
        "TOKEN",
        "KEY",
        "SECRET",
        "PASSW",
        "PASSPHRASE",
        "CREDENTIAL",
        "AUTH",
        "COOKIE",
    ];
    parts.iter().any(|part| name.contains(part))
}
