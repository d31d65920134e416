//! All servers that the files of this machine know, and finding one of them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use pintle_model::JsonObject;
use serde_json::{Value, json};

use super::config_file::{ConfigFile, FileFault};
use super::config_owner::ConfigOwner;
use super::config_path::{Environment, FILE_BYTES, Platform, YAML_BYTES};
use super::document::{self, Document, Kind, PROJECT};
use super::entry::{Server, UnexpandedTarget};
use super::error::ConfigError;
use super::expand::{Expansion, InputHandler};
use super::host::{FILE, HOSTS, Host, YAML_FILE};
use super::review::Review;
use super::suggestion::suggestion;
use super::target::Target;
use super::variable_syntax::unknown_variable;

/// The servers of this machine, and the errors of files that could not be read.
#[derive(Debug, Default)]
pub struct ServerRegistry {
    /// The servers, host by host; those of a project before those of the user.
    pub servers: Vec<Listed>,
    /// Files that could not be read. They do not hide the others.
    pub errors: Vec<ConfigError>,
    /// The files that exist.
    pub files: Vec<ConfigFile>,
}

/// A server and where it is written.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The host to which the file belongs.
    pub host: &'static Host,
    /// The owner of the file.
    pub origin: ConfigOwner,
    /// The path of the file.
    pub file: PathBuf,
    /// The server as the file defines it.
    pub server: Server,
    root: PathBuf,
    inputs: Rc<[Value]>,
}

/// The reference to a server that was typed after `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named<'n> {
    /// The host, if one was named.
    pub host: Option<&'n str>,
    /// The name of the server.
    pub name: &'n str,
}

impl<'n> From<&'n str> for Named<'n> {
    fn from(text: &'n str) -> Self {
        match text.split_once('/') {
            Some((host, name)) if HOSTS.iter().any(|known| known.id == host) => Self {
                host: Some(host),
                name,
            },
            _ => Self {
                host: None,
                name: text,
            },
        }
    }
}

impl ServerRegistry {
    /// Reads every file there is.
    pub fn open(environment: &Environment<'_>) -> Self {
        let mut registry = Self::default();
        let projects = environment.projects();
        for host in HOSTS {
            let own = host.own_files(environment);
            for root in &projects {
                let paths = host.project.iter().map(|path| root.join(path));
                let files = paths.flat_map(|path| environment.files(path));
                // In the home directory the user's own file looks like one of a project.
                for file in files.filter(|file| !own.contains(file)) {
                    registry.read(environment, host, ConfigOwner::Project, file, root);
                }
            }
            for file in own {
                registry.read(environment, host, ConfigOwner::User, file, environment.here);
            }
        }
        registry
    }

    /// Reads one file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or has no servers.
    pub fn of_file(environment: &Environment<'_>, file: &Path) -> Result<Self, ConfigError> {
        let mut registry = Self::default();
        let file = environment.here.join(file);
        let root = file.parent().unwrap_or(environment.here).to_owned();
        if !environment.disk.is_there(&file) {
            return Err(ConfigError::Useless {
                file,
                reason: "is not there",
            });
        }
        let host = match Kind::of(&file) {
            Kind::Yaml => &YAML_FILE,
            Kind::Json | Kind::Toml => &FILE,
        };
        let origin = match HOSTS
            .iter()
            .any(|host| host.own_files(environment).contains(&file))
        {
            true => ConfigOwner::User,
            false => ConfigOwner::Named,
        };
        registry.read(environment, host, origin, file.clone(), &root);
        match registry.errors.pop() {
            Some(error) => Err(error),
            None if registry.servers.is_empty() => Err(ConfigError::Useless {
                file,
                reason: "has no servers under a key that a host uses",
            }),
            None => Ok(registry),
        }
    }

    /// Finds a server. Nothing is expanded.
    ///
    /// # Errors
    ///
    /// If no file knows the name, or several do and mean different servers: which of them is meant
    /// is never guessed, so that the file of a project cannot take the place of the user's.
    pub fn find(&self, named: Named<'_>) -> Result<&Listed, ConfigError> {
        let is_meant = |listed: &&Listed| {
            let is_of_host = named.host.is_none_or(|host| listed.host.id == host);
            is_of_host && listed.server.name == named.name
        };
        let mut candidates: Vec<&Listed> = self.servers.iter().filter(is_meant).collect();
        // A disabled server is found only if no enabled server matches.
        if candidates.iter().any(|listed| listed.server.is_enabled) {
            candidates.retain(|listed| listed.server.is_enabled);
        }
        let Some(first) = candidates.first() else {
            return Err(self.unknown(named.name));
        };
        if candidates
            .iter()
            .any(|other| other.server.target != first.server.target)
        {
            return Err(ambiguous(named.name, &candidates));
        }
        Ok(first)
    }

    /// Reads the files again, and returns those with faults. A file of several hosts is not a fault of the hosts that
    /// find no server in it.
    pub fn file_faults(&self, environment: &Environment<'_>) -> Vec<(ConfigFile, Vec<FileFault>)> {
        let files = self.files.iter().map(|file| {
            let has_servers = self.servers.iter().any(|listed| listed.file == file.path);
            let mut faults = file.faults(environment);
            faults.retain(|fault| !has_servers || !fault.is_about_key());
            (file.clone(), faults)
        });
        files.filter(|(_, faults)| !faults.is_empty()).collect()
    }

    fn unknown(&self, name: &str) -> ConfigError {
        if let Some((host, _)) = name.split_once('/')
            && !self.servers.iter().any(|listed| listed.server.name == name)
        {
            let hosts: Vec<_> = HOSTS.iter().map(|host| host.id).collect();
            return ConfigError::UnknownHost {
                host: host.to_owned(),
                known: hosts.join(", "),
            };
        }
        let names = self
            .servers
            .iter()
            .map(|listed| listed.server.name.as_str());
        ConfigError::Unknown {
            suggestion: suggestion(name, names),
            name: name.to_owned(),
        }
    }

    fn read(
        &mut self,
        environment: &Environment<'_>,
        host: &'static Host,
        origin: ConfigOwner,
        file: PathBuf,
        root: &Path,
    ) {
        if environment.disk.is_there(&file) {
            let path = file.clone();
            self.files.push(ConfigFile { host, origin, path });
        }
        let document = match document(environment, host, &file, root) {
            Ok(document) => document,
            Err(error) => return self.errors.push(error),
        };
        let inputs: Rc<[Value]> = document.inputs.into();
        for entry in document.servers {
            self.servers.push(Listed {
                host,
                origin,
                file: file.clone(),
                server: Server::from(entry),
                root: root.to_owned(),
                inputs: Rc::clone(&inputs),
            });
        }
    }
}

impl Listed {
    /// Describes the effects of using the server, without reading variables or files.
    ///
    /// # Errors
    ///
    /// If its definition is wrong.
    pub fn review(&self, environment: &Environment<'_>) -> Result<Review, ConfigError> {
        self.expansion(environment).review()
    }

    /// Returns how the server is reached, with its variables as the file has them.
    ///
    /// # Errors
    ///
    /// If its definition is wrong.
    pub fn unexpanded(
        &self,
        environment: &Environment<'_>,
    ) -> Result<UnexpandedTarget, ConfigError> {
        self.expansion(environment).unexpanded()
    }

    /// The server with its variables replaced. This reads variables and files, and asks questions.
    ///
    /// # Errors
    ///
    /// If its definition is wrong, or a variable has no value.
    pub fn target(
        &self,
        environment: &Environment<'_>,
        ask: &mut InputHandler<'_>,
    ) -> Result<Target, ConfigError> {
        self.expansion(environment).run(ask)
    }

    /// Everything that decides what using the server does, as its file has it.
    pub fn definition(&self) -> Value {
        json!({
            "host": self.host.id,
            "server": self.server.members,
            "inputs": *self.inputs,
        })
    }

    fn expansion<'a>(&'a self, environment: &'a Environment<'a>) -> Expansion<'a> {
        Expansion {
            server: &self.server,
            file: &self.file,
            root: &self.root,
            inputs: &self.inputs,
            syntaxes: self.host.syntaxes,
            environment,
        }
    }

    /// Returns the line on which the server begins; from 1.
    pub fn line(&self) -> usize {
        self.server.line
    }

    /// Returns the line of a member; the line of the server if it has no such member.
    pub fn line_of(&self, key: &str) -> usize {
        let line = self.server.lines.get(key).copied();
        line.unwrap_or(self.server.line)
    }

    /// Returns the members of the server as the file has them, if it is an object.
    pub fn members(&self) -> Option<&JsonObject> {
        self.server.members.as_ref()
    }

    /// Returns the directory to which relative paths of the server refer.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the time that the server has to start: the one of its entry, or that of its host.
    pub fn start_timeout(&self) -> Duration {
        let of_entry = self
            .members()
            .and_then(|members| self.host.start_time(members));
        of_entry.unwrap_or(self.host.rules().start_timeout)
    }

    /// Returns the first text in the form of a variable that the host does not expand, with the key of its member.
    pub fn unknown_variable(&self) -> Option<(&str, &str)> {
        let members = self.server.members.iter().flatten();
        let mut found = members.filter_map(|(key, value)| {
            let text = unknown_variable(value, self.host.syntaxes)?;
            Some((key.as_str(), text))
        });
        found.next()
    }

    /// Returns the reference `@host/name` of this server.
    pub fn address(&self) -> String {
        format!("@{}/{}", self.host.id, self.server.name)
    }
}

fn document(
    environment: &Environment<'_>,
    host: &Host,
    file: &Path,
    root: &Path,
) -> Result<Document, ConfigError> {
    let kind = Kind::of(file);
    let limit = match kind {
        Kind::Yaml => YAML_BYTES,
        Kind::Json | Kind::Toml => FILE_BYTES,
    };
    let text = match environment.disk.read(file, limit) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Document::default()),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(ConfigError::TooLarge {
                file: file.to_owned(),
                limit,
            });
        }
        Err(source) => {
            return Err(ConfigError::Unreadable {
                file: file.to_owned(),
                source,
            });
        }
    };
    let roots = spellings(environment, root);
    let paths = host.servers.iter().flat_map(|path| {
        let times = match path.contains(&PROJECT) {
            true => roots.len(),
            false => 1,
        };
        roots.iter().take(times).map(|root| {
            let keys = path.iter().map(|key| match *key {
                PROJECT => root.as_str(),
                key => key,
            });
            keys.collect()
        })
    });
    let paths: Vec<Vec<&str>> = paths.collect();
    let read = match kind {
        Kind::Json => document::json(&text, &paths),
        Kind::Toml => document::toml(&text, &paths),
        Kind::Yaml => document::yaml(&text, &paths),
    };
    read.map_err(|error| ConfigError::Syntax {
        file: file.to_owned(),
        line: error.line,
        reason: error.reason,
    })
}

/// How a file calls the root of a project: on Windows with either separator.
fn spellings(environment: &Environment<'_>, root: &Path) -> Vec<String> {
    let root = root.display().to_string();
    match environment.platform {
        Platform::Windows if root.contains('\\') => vec![root.replace('\\', "/"), root],
        _ => vec![root],
    }
}

fn ambiguous(name: &str, candidates: &[&Listed]) -> ConfigError {
    let mut choices: Vec<String> = Vec::new();
    for listed in candidates {
        let address = listed.address();
        // Two files of one host can be distinguished only by their paths.
        let is_alone = candidates
            .iter()
            .filter(|other| other.host.id == listed.host.id)
            .count()
            == 1;
        choices.push(match is_alone {
            true => address,
            false => format!("--config {} @{name}", listed.file.display()),
        });
    }
    ConfigError::Ambiguous {
        name: name.to_owned(),
        choices,
    }
}

#[cfg(test)]
mod tests;
