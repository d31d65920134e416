//! The file of a host that gets a server, and the file that has one.

use std::path::{Path, PathBuf};

use super::error::EditError;
use super::{Target, read, syntax_error};
use crate::config_path::Environment;
use crate::dialect::Places;
use crate::host::Host;

/// Which file of a host is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// The file of the user.
    User,
    /// The file of the project: of the nearest directory that has one, otherwise of the root of the repository.
    Project,
    /// This file, in the form of the host.
    File(PathBuf),
}

/// A file that has a server.
pub(super) struct Placed {
    pub(super) file: PathBuf,
    pub(super) text: String,
}

/// Returns the file that gets a server.
///
/// # Errors
///
/// [`EditError::NoFile`] if the host has no such file.
pub(super) fn new_file(
    environment: &Environment<'_>,
    host: &'static Host,
    placement: &Placement,
    name: &str,
) -> Result<PathBuf, EditError> {
    let dialect = host.dialect();
    let file = match placement {
        Placement::File(file) => Some(environment.here.join(file)),
        Placement::User => {
            let files: Vec<_> = host
                .user
                .iter()
                .map(|place| place.path(environment))
                .collect();
            dialect.user.choose(environment, &files, name)
        }
        Placement::Project => project_file(environment, host, dialect.project, name),
    };
    file.ok_or_else(|| no_file(host, placement))
}

fn project_file(
    environment: &Environment<'_>,
    host: &'static Host,
    places: Places,
    name: &str,
) -> Option<PathBuf> {
    let roots = environment.projects();
    let in_root = |root: &PathBuf| {
        let files: Vec<_> = host
            .project
            .iter()
            .map(|path| Some(root.join(path)))
            .collect();
        places.choose(environment, &files, name)
    };
    let files: Vec<PathBuf> = roots.iter().filter_map(in_root).collect();
    let existing = files.iter().find(|file| environment.disk.is_there(file));
    existing.or(files.last()).cloned()
}

/// Returns the file that has a server, with its text.
///
/// # Errors
///
/// [`EditError::Absent`] if no file of the placement has it, [`EditError::SeveralFiles`] if several do.
pub(super) fn file_with(
    environment: &Environment<'_>,
    host: &'static Host,
    placement: &Placement,
    name: &str,
) -> Result<Placed, EditError> {
    let files = existing_files(environment, host, placement);
    let (mut found, mut other) = (Vec::new(), None);
    for file in files {
        let Some(text) = read(environment, &file)? else {
            continue;
        };
        let target = Target::new(host, &file, name);
        match target.entry(&text) {
            Ok(Some(_)) => found.push(Placed { file, text }),
            Ok(None) => other = other.or(Some(target.absent(&text))),
            Err(error) => return Err(syntax_error(&file, error).into()),
        }
    }
    if found.len() > 1 {
        let files = found.iter().map(|placed| placed.file.display().to_string());
        return Err(EditError::SeveralFiles {
            host: host.name,
            name: name.to_owned(),
            files: files.collect(),
        });
    }
    match (found.pop(), other) {
        (Some(placed), _) => Ok(placed),
        (None, Some(absent)) => Err(absent),
        (None, None) => Err(EditError::Absent {
            file: new_file(environment, host, placement, name)?,
            name: name.to_owned(),
            suggestion: String::new(),
        }),
    }
}

fn existing_files(
    environment: &Environment<'_>,
    host: &'static Host,
    placement: &Placement,
) -> Vec<PathBuf> {
    match placement {
        Placement::File(file) => vec![environment.here.join(file)],
        Placement::User => {
            let places = host.user.iter().filter(|place| !place.is_of_machine());
            let paths = places.filter_map(|place| place.path(environment));
            paths.flat_map(|path| environment.files(path)).collect()
        }
        Placement::Project => {
            let roots = environment.projects().into_iter();
            let paths = roots.flat_map(|root| host.project.iter().map(move |path| root.join(path)));
            paths.flat_map(|path| environment.files(path)).collect()
        }
    }
}

fn no_file(host: &'static Host, placement: &Placement) -> EditError {
    EditError::NoFile {
        host: host.name,
        owner: match placement {
            Placement::Project => "project",
            Placement::User | Placement::File(_) => "user",
        },
    }
}

impl Places {
    /// Chooses one of a host's files; files whose place is unknown are `None`.
    fn choose(
        self,
        environment: &Environment<'_>,
        files: &[Option<PathBuf>],
        name: &str,
    ) -> Option<PathBuf> {
        let file = |position: usize| files.get(position)?.clone();
        let is_there = |path: &Path| environment.disk.is_there(path);
        match self {
            Self::None => None,
            Self::Any(positions) => {
                let files: Vec<PathBuf> = positions.iter().filter_map(|at| file(*at)).collect();
                let existing = files.iter().find(|file| is_there(file));
                let beside = || {
                    files
                        .iter()
                        .find(|file| file.parent().is_some_and(is_there))
                };
                existing.or_else(beside).or(files.first()).cloned()
            }
            Self::ExistingOr(first, second) => file(first)
                .filter(|path| is_there(path))
                .or_else(|| file(second)),
            Self::OwnFile(position) => {
                let pattern = file(position)?;
                Some(pattern.parent()?.join(format!("{name}.json")))
            }
        }
    }
}
