//! What a server's definition would do, described without doing any of it: no variable is read here,
//! and no file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::config_path::Environment;
use super::entry::{Text, UnexpandedTarget};
use super::variable_syntax::{Piece, Variable, VariableSyntax, pieces};

/// The effects of using a server. Every text is as written in the file, with its variables.
#[derive(Debug, PartialEq, Eq)]
pub struct Review {
    /// The server's name.
    pub name: String,
    /// The file that defines it.
    pub file: PathBuf,
    /// The program to start or the URL to contact.
    pub action: Action,
    /// The variables of the environment whose values are used.
    pub variables: BTreeSet<String>,
    /// The files whose content is used.
    pub files: BTreeSet<String>,
}

/// The program that a review would start, or the URL that it would contact.
#[derive(Debug, PartialEq, Eq)]
pub enum Action {
    /// A program is started.
    Start {
        /// The program and its arguments.
        words: Vec<String>,
        /// Its environment: names and values.
        environment: Vec<(String, String)>,
        /// The directory that it is started in.
        directory: String,
    },
    /// A URL is contacted.
    Connect {
        /// The URL as the file states it.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// Where a definition stands, and how its variables are written.
pub(super) struct Reviewer<'a> {
    pub(super) root: &'a Path,
    pub(super) syntaxes: &'a [VariableSyntax],
    pub(super) environment: &'a Environment<'a>,
}

impl Reviewer<'_> {
    /// Describes a definition.
    pub(super) fn review(&self, name: &str, file: &Path, target: &UnexpandedTarget) -> Review {
        let mut review = Review {
            name: name.to_owned(),
            file: file.to_owned(),
            action: self.action(target),
            variables: BTreeSet::new(),
            files: BTreeSet::new(),
        };
        match target {
            UnexpandedTarget::Url { url, headers, .. } => {
                self.read(url, &mut review);
                self.pairs(headers, &mut review);
            }
            UnexpandedTarget::Program {
                command,
                arguments,
                environment,
                env_file,
                directory,
            } => {
                let texts = arguments.iter().chain(directory).chain(env_file);
                for text in texts.chain([command]) {
                    self.read(text, &mut review);
                }
                if let Some(path) = env_file {
                    review.files.insert(self.place(path));
                }
                self.pairs(environment, &mut review);
            }
        }
        review
    }

    fn action(&self, target: &UnexpandedTarget) -> Action {
        match target {
            UnexpandedTarget::Url { url, headers, .. } => Action::Connect {
                url: url.clone(),
                headers: written(headers),
            },
            UnexpandedTarget::Program {
                command,
                arguments,
                environment,
                directory,
                ..
            } => {
                let directory = match directory {
                    Some(path) => self.place(path),
                    None => self.root.display().to_string(),
                };
                Action::Start {
                    words: [command].into_iter().chain(arguments).cloned().collect(),
                    environment: written(environment),
                    directory,
                }
            }
        }
    }

    /// A path as it is written, below the root unless a variable may say otherwise.
    fn place(&self, path: &str) -> String {
        match pieces(path, self.syntaxes).as_slice() {
            [] | [Piece::Text(_)] => self.root.join(path).display().to_string(),
            _ => path.to_owned(),
        }
    }

    fn pairs(&self, pairs: &[(String, Text)], review: &mut Review) {
        for (_, text) in pairs {
            match text {
                Text::Written(text) => self.read(text, review),
                Text::Env(name) | Text::Bearer(name) => {
                    review.variables.insert(name.clone());
                }
            }
        }
    }

    /// Adds what a text reads.
    fn read(&self, text: &str, review: &mut Review) {
        for piece in pieces(text, self.syntaxes) {
            match piece {
                Piece::Variable(Variable::Env { name, .. }) => {
                    review.variables.insert(name.to_owned());
                }
                Piece::Variable(Variable::Secret(name)) => {
                    review.variables.insert(name.to_owned());
                    let files = secret_files(self.root, self.environment).into_iter();
                    let files = files.map(|file| file.display().to_string());
                    review.files.extend(files);
                }
                Piece::Variable(Variable::File(path)) => {
                    let file = named_file(path, self.root, self.environment);
                    review.files.insert(file.display().to_string());
                }
                Piece::Text(_) | Piece::Variable(_) => {}
            }
        }
    }
}

/// The file that `{file:path}` names.
pub(super) fn named_file(path: &str, root: &Path, environment: &Environment<'_>) -> PathBuf {
    match (path.strip_prefix("~/"), environment.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => root.join(path),
    }
}

/// The files that may hold a secret, in the order in which they are read: the user's own is first.
pub(super) fn secret_files(root: &Path, environment: &Environment<'_>) -> Vec<PathBuf> {
    let own = environment.home().map(|home| home.join(".continue/.env"));
    let project = [".continue/.env", ".env"].map(|file| root.join(file));
    own.into_iter().chain(project).collect()
}

fn written(pairs: &[(String, Text)]) -> Vec<(String, String)> {
    let value = |text: &Text| match text {
        Text::Written(text) => text.clone(),
        Text::Env(name) => format!("${{{name}}}"),
        Text::Bearer(name) => format!("Bearer ${{{name}}}"),
    };
    let pairs = pairs.iter();
    pairs
        .map(|(name, text)| (name.clone(), value(text)))
        .collect()
}
