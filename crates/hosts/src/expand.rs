//! Replaces variables by their values when a server is requested.
//!
//! A variable without a value is an error that names the variable. Some hosts would continue with
//! an empty text or with the text as written. Here a missing key is found before a server receives
//! the text `${TOKEN}`.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::config_path::{Environment, FILE_BYTES, Platform};
use super::entry::{EntryError, Server, Text, UnexpandedTarget};
use super::env_file;
use super::error::ConfigError;
use super::review::{Review, Reviewer, named_file, secret_files};
use super::target::{Endpoint, Program, Target};
use super::variable_syntax::{Piece, Variable, VariableSyntax, pieces};

/// Answers a question that a file asks its user. An error states why there is no answer.
pub type InputHandler<'a> = dyn FnMut(&Input) -> Result<String, String> + 'a;

/// A question that a file asks its user (`inputs` of VS Code).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// How variables call it.
    pub id: String,
    /// The question to show.
    pub description: String,
    /// Whether the answer is not to be shown.
    pub is_secret: bool,
    /// The answer if the user enters none.
    pub default: Option<String>,
    /// The answers there are; any, if none is given.
    pub options: Vec<String>,
}

/// A server in its place, ready to be expanded.
pub(super) struct Expansion<'a> {
    pub(super) server: &'a Server,
    pub(super) file: &'a Path,
    /// The root of the project that the file belongs to, or the working directory.
    pub(super) root: &'a Path,
    pub(super) inputs: &'a [Value],
    pub(super) syntaxes: &'a [VariableSyntax],
    pub(super) environment: &'a Environment<'a>,
}

impl Expansion<'_> {
    /// The definition itself, if it has no error.
    pub(super) fn unexpanded(&self) -> Result<UnexpandedTarget, ConfigError> {
        let target = self.server.target.clone();
        target.map_err(|error| self.wrong(&error))
    }

    /// The server as it is to be reached.
    pub(super) fn run(&self, ask: &mut InputHandler<'_>) -> Result<Target, ConfigError> {
        match &self.server.target {
            Err(error) => Err(self.wrong(error)),
            Ok(UnexpandedTarget::Url {
                url,
                headers,
                is_sse,
            }) => Ok(Target::Url(Endpoint {
                url: self.text("url", url, ask)?,
                headers: self.pairs("headers", headers, ask)?,
                is_sse: *is_sse,
            })),
            Ok(UnexpandedTarget::Program {
                command,
                arguments,
                environment,
                env_file,
                directory,
            }) => {
                let mut all = Vec::new();
                if let Some(path) = env_file {
                    all = self.env_file(path, ask)?;
                }
                all.extend(self.pairs("env", environment, ask)?);
                let mut words = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    words.push(self.text("args", argument, ask)?);
                }
                let directory = match directory {
                    Some(path) => self.root.join(self.text("cwd", path, ask)?),
                    None => self.root.to_owned(),
                };
                Ok(Target::Program(Program {
                    command: self.text("command", command, ask)?,
                    arguments: words,
                    environment: all,
                    directory: Some(directory),
                }))
            }
        }
    }

    /// Describes the effects of using the server, without expanding variables or reading files.
    pub(super) fn review(&self) -> Result<Review, ConfigError> {
        let target = self.server.target.as_ref();
        let target = target.map_err(|error| self.wrong(error))?;
        let reviewer = Reviewer {
            root: self.root,
            syntaxes: self.syntaxes,
            environment: self.environment,
        };
        Ok(reviewer.review(&self.server.name, self.file, target))
    }

    fn wrong(&self, error: &EntryError) -> ConfigError {
        let (file, server) = (self.file.to_owned(), self.server.name.clone());
        match error {
            EntryError::Wrong { key, expected } => ConfigError::Wrong {
                line: self.line(key),
                file,
                server,
                key: (*key).to_owned(),
                expected,
            },
            EntryError::NoTarget { hint } => ConfigError::NoTarget {
                line: self.server.line,
                file,
                server,
                hint,
            },
        }
    }

    fn line(&self, key: &str) -> usize {
        *self.server.lines.get(key).unwrap_or(&self.server.line)
    }

    fn env_file(
        &self,
        path: &str,
        ask: &mut InputHandler<'_>,
    ) -> Result<Vec<(String, String)>, ConfigError> {
        let file = self.root.join(self.text("envFile", path, ask)?);
        match self.environment.disk.read(&file, FILE_BYTES) {
            Ok(Some(text)) => Ok(env_file::read(&text)),
            Ok(None) => Err(ConfigError::Useless {
                file,
                reason: "is not there",
            }),
            Err(source) => Err(ConfigError::Unreadable { file, source }),
        }
    }

    fn pairs(
        &self,
        key: &str,
        pairs: &[(String, Text)],
        ask: &mut InputHandler<'_>,
    ) -> Result<Vec<(String, String)>, ConfigError> {
        let mut values = Vec::with_capacity(pairs.len());
        for (name, text) in pairs {
            let value = match text {
                Text::Written(text) => self.text(key, text, ask)?,
                Text::Env(variable) => self.env(key, variable)?,
                Text::Bearer(variable) => format!("Bearer {}", self.env(key, variable)?),
            };
            values.push((name.clone(), value));
        }
        Ok(values)
    }

    fn text(
        &self,
        key: &str,
        text: &str,
        ask: &mut InputHandler<'_>,
    ) -> Result<String, ConfigError> {
        let mut whole = String::with_capacity(text.len());
        for piece in pieces(text, self.syntaxes) {
            match piece {
                Piece::Text(text) => whole.push_str(text),
                Piece::Variable(variable) => whole.push_str(&self.value(key, variable, ask)?),
            }
        }
        Ok(whole)
    }

    fn value(
        &self,
        key: &str,
        variable: Variable<'_>,
        ask: &mut InputHandler<'_>,
    ) -> Result<String, ConfigError> {
        match variable {
            Variable::Env { name, default } => match ((self.environment.env)(name), default) {
                (Some(value), None) => Ok(value),
                // As in a shell, `:-` stands in for nothing as well.
                (Some(value), Some(_)) if !value.is_empty() => Ok(value),
                (_, Some(default)) => Ok(default.to_owned()),
                (None, None) => self.env(key, name),
            },
            Variable::Secret(name) => self.secret(key, name),
            Variable::File(path) => self.file(key, path),
            Variable::Input(id) => self.input(key, id, ask),
            Variable::Folder => Ok(shown(self.root)),
            Variable::FolderName => Ok(self.root.file_name().map(shown_name).unwrap_or_default()),
            Variable::Home => match self.environment.home() {
                Some(home) => Ok(shown(&home)),
                None => Err(self.no_value(key, "the home directory", "which nothing names")),
            },
            Variable::Separator => Ok(match self.environment.platform {
                Platform::Windows => "\\".to_owned(),
                Platform::Linux | Platform::Mac => "/".to_owned(),
            }),
            Variable::OfTheEditor(name) => {
                let what = format!("`${{{name}}}`");
                Err(self.no_value(key, &what, "which only the editor knows"))
            }
        }
    }

    fn env(&self, key: &str, name: &str) -> Result<String, ConfigError> {
        (self.environment.env)(name).ok_or_else(|| {
            let what = format!("the environment variable {name}");
            self.no_value(key, &what, "which is not set")
        })
    }

    /// Returns the value of a secret. The environment has priority over files, and the user's file
    /// over a file of the project.
    fn secret(&self, key: &str, name: &str) -> Result<String, ConfigError> {
        if let Some(value) = (self.environment.env)(name) {
            return Ok(value);
        }
        for file in secret_files(self.root, self.environment) {
            let Ok(Some(text)) = self.environment.disk.read(&file, FILE_BYTES) else {
                continue;
            };
            let found = env_file::read(&text).into_iter().rev();
            if let Some((_, value)) = found.into_iter().find(|(found, _)| found == name) {
                return Ok(value);
            }
        }
        let what = format!("the secret {name}");
        let reason = "which is neither in the environment nor in a file `.env`";
        Err(self.no_value(key, &what, reason))
    }

    fn file(&self, key: &str, path: &str) -> Result<String, ConfigError> {
        let file = named_file(path, self.root, self.environment);
        let what = format!("the file {}", file.display());
        match self.environment.disk.read(&file, FILE_BYTES) {
            Ok(Some(text)) => Ok(text.trim().to_owned()),
            Ok(None) => Err(self.no_value(key, &what, "which is not there")),
            Err(error) => Err(self.no_value(key, &what, &error.to_string())),
        }
    }

    fn input(
        &self,
        key: &str,
        id: &str,
        ask: &mut InputHandler<'_>,
    ) -> Result<String, ConfigError> {
        let what = format!("an answer to `{id}`");
        let described = self.inputs.iter().find(|input| input["id"] == id);
        let Some(input) = described.map(|input| Input::read(id, input)) else {
            return Err(self.no_value(key, &what, "a question that the file does not ask"));
        };
        ask(&input).map_err(|reason| self.no_value(key, &what, &reason))
    }

    fn no_value(&self, key: &str, what: &str, reason: &str) -> ConfigError {
        ConfigError::NoValue {
            file: self.file.to_owned(),
            line: self.line(key),
            server: self.server.name.as_str().into(),
            key: key.into(),
            what: what.into(),
            reason: reason.into(),
        }
    }
}

impl Input {
    fn read(id: &str, members: &Value) -> Self {
        let text = |key: &str| members[key].as_str().map(str::to_owned);
        let options = members["options"].as_array().into_iter().flatten();
        let option = |option: &Value| {
            let value = option.as_str().or_else(|| option["value"].as_str());
            value.map(str::to_owned)
        };
        Self {
            id: id.to_owned(),
            description: text("description").unwrap_or_else(|| id.to_owned()),
            is_secret: members["password"] == true,
            default: text("default"),
            options: options.filter_map(option).collect(),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn shown_name(name: &std::ffi::OsStr) -> String {
    PathBuf::from(name).display().to_string()
}
