//! The search for a program, in the directories of its host and in others.

use std::path::{Path, PathBuf};

use pintle_hosts::PathSource;

use crate::facts::{Lookup, MissingFile};

/// Number of versions of a version manager that are searched.
const VERSIONS: usize = 32;

/// The endings of arguments that are probably files.
const FILES: [&str; 9] = [
    ".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".jar", ".sh", ".php",
];

/// Directories of version managers and package managers, below the home directory.
const OF_HOME: [&str; 10] = [
    ".local/bin",
    ".cargo/bin",
    ".bun/bin",
    ".deno/bin",
    ".volta/bin",
    ".asdf/shims",
    ".pyenv/shims",
    ".local/share/mise/shims",
    ".npm-global/bin",
    "go/bin",
];
/// Directories of package managers.
const OF_MACHINE: [&str; 4] = [
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
];

/// A search with the directories of a host.
pub(super) struct Search<'s> {
    /// The working directory of the program.
    pub(super) directory: &'s Path,
    /// The `PATH` of the program.
    pub(super) path: &'s str,
    /// Whether that `PATH` is the usual one of a desktop.
    pub(super) is_assumed: bool,
    /// The `PATH` of the shell of the user.
    pub(super) shell_path: &'s str,
    pub(super) home: Option<&'s Path>,
    /// Other directories to which a relative path may refer.
    pub(super) others: Vec<PathBuf>,
}

impl Search<'_> {
    /// Searches a program.
    pub(super) fn program(&self, command: &str) -> Lookup {
        let is_path = command.contains('/') || (cfg!(windows) && command.contains('\\'));
        match is_path {
            true => self.at_path(command),
            false => self.by_name(command),
        }
    }

    fn at_path(&self, command: &str) -> Lookup {
        let file = self.directory.join(command);
        match look(&file) {
            Some(true) => Lookup::Found(file),
            Some(false) => Lookup::NotExecutable(file),
            None => self
                .elsewhere(command)
                .map_or(Lookup::Missing, Lookup::WrongDirectory),
        }
    }

    fn by_name(&self, command: &str) -> Lookup {
        let mut unusable = None;
        for directory in std::env::split_paths(self.path) {
            let found = candidates(&self.directory.join(directory), command);
            match found {
                Some((file, true)) => return Lookup::Found(file),
                Some((file, false)) => unusable = unusable.or(Some(file)),
                None => {}
            }
        }
        let shell = std::env::split_paths(self.shell_path);
        let directories = shell.chain(self.usual_directories());
        let others = directories.filter_map(|directory| candidates(&directory, command));
        match (
            others.into_iter().find(|(_, is_executable)| *is_executable),
            unusable,
        ) {
            (_, Some(file)) => Lookup::NotExecutable(file),
            (Some((found, _)), None) => Lookup::OffPath {
                found,
                is_assumed: self.is_assumed,
            },
            (None, None) => Lookup::Missing,
        }
    }

    /// Returns the file of a relative path in another directory.
    fn elsewhere(&self, path: &str) -> Option<PathBuf> {
        if Path::new(path).is_absolute() {
            return None;
        }
        let others = self.others.iter().map(PathBuf::as_path).chain(self.home);
        let files = others.map(|directory| directory.join(path));
        // Without `.` in the middle of the path.
        let mut files = files.map(|file| file.components().collect::<PathBuf>());
        files.find(|file| file.is_file())
    }

    /// Returns the first argument that looks like a file and is not in the working directory.
    pub(super) fn missing_file(&self, arguments: &[String]) -> Option<MissingFile> {
        let looks_like_file = |argument: &&String| {
            let is_relative = argument.starts_with("./") || argument.starts_with("../");
            let has_ending = FILES.iter().any(|ending| argument.ends_with(ending));
            let is_plain = !argument.starts_with('-')
                && !argument.contains("://")
                && !argument.starts_with('@');
            is_plain && (is_relative || has_ending) && !argument.contains(char::is_whitespace)
        };
        let mut files = arguments.iter().filter(looks_like_file);
        let argument = files.find(|argument| !self.directory.join(argument).exists())?;
        Some(MissingFile {
            argument: argument.clone(),
            elsewhere: self.elsewhere(argument),
        })
    }

    fn usual_directories(&self) -> Vec<PathBuf> {
        let of_home = self.home.into_iter().flat_map(|home| {
            let fixed = OF_HOME.iter().map(|directory| home.join(directory));
            fixed.chain(versions(&home.join(".nvm/versions/node")))
        });
        of_home
            .chain(OF_MACHINE.iter().map(PathBuf::from))
            .collect()
    }
}

/// Returns the `bin` directories of the versions in a directory, the last one first.
fn versions(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut versions: Vec<_> = entries
        .take(VERSIONS)
        .map(|entry| entry.path().join("bin"))
        .collect();
    versions.sort();
    versions.reverse();
    versions
}

/// Returns the `PATH` that a host has.
pub(super) fn host_path(source: PathSource, shell_path: &str) -> (String, bool) {
    match source {
        PathSource::Desktop if cfg!(target_os = "macos") => {
            ("/usr/bin:/bin:/usr/sbin:/sbin".to_owned(), false)
        }
        PathSource::Desktop if cfg!(unix) => (
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin".to_owned(),
            true,
        ),
        PathSource::Desktop | PathSource::Shell => (shell_path.to_owned(), false),
    }
}

/// Returns the program of a name in a directory, and whether it can be executed.
fn candidates(directory: &Path, command: &str) -> Option<(PathBuf, bool)> {
    let endings: &[&str] = match cfg!(windows) {
        true => &["", ".exe", ".cmd", ".bat"],
        false => &[""],
    };
    let files = endings
        .iter()
        .map(|ending| directory.join(format!("{command}{ending}")));
    files
        .into_iter()
        .find_map(|file| look(&file).map(|is_executable| (file, is_executable)))
}

/// Whether a file can be executed; `None` if there is no such file.
fn look(file: &Path) -> Option<bool> {
    let found = std::fs::metadata(file)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0);
    #[cfg(not(unix))]
    return Some(found.is_file());
}
