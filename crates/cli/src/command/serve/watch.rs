//! `--watch`: waits for changes of the files of a program.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pintle_hosts::{Program, Target};
use tokio::time::sleep;

use crate::args::UsageError;
use crate::conversation::{Opening, config_file};

/// Time between two looks at the files. A change is complete when it is seen twice.
const INTERVAL: Duration = Duration::from_millis(300);
/// Largest number of files below the paths. Changes of others are not noticed.
const MAX_FILES: usize = 10_000;
/// Folders that a program is built from, but that are not its own.
const SKIPPED: [&str; 3] = ["node_modules", "__pycache__", "target"];

/// The watched paths, and their state.
#[derive(Debug)]
pub(super) struct Watch {
    paths: Vec<PathBuf>,
    state: u64,
}

impl Watch {
    /// Returns a watch of the paths of the command line; `None` without paths. An empty path stands for the
    /// files that the command of the server names, and the file of a host that defines it.
    ///
    /// # Errors
    ///
    /// [`UsageError`] if the command names no file, and if a path does not exist.
    pub(super) fn of(given: &[PathBuf], opening: &Opening<'_>) -> Result<Option<Self>, UsageError> {
        if given.is_empty() {
            return Ok(None);
        }
        let mut paths = Vec::new();
        for path in given {
            if path.as_os_str().is_empty() {
                paths.extend(named_paths(opening)?);
            } else if path.exists() {
                paths.push(path.clone());
            } else {
                let text = format!("the path to watch does not exist: {}", path.display());
                return Err(UsageError(text));
            }
        }
        let options = opening.options();
        paths.extend(config_file(options.server, options.settings));
        Ok(Some(Self::new(paths)))
    }

    fn new(paths: Vec<PathBuf>) -> Self {
        let state = state(&paths);
        Self { paths, state }
    }

    /// Waits until the files have changed, and then until they stay the same for a moment.
    pub(super) async fn changed(&mut self) {
        let mut seen = self.state;
        loop {
            sleep(INTERVAL).await;
            let paths = self.paths.clone();
            let looked = tokio::task::spawn_blocking(move || state(&paths)).await;
            let Ok(now) = looked else {
                continue;
            };
            if now == seen && now != self.state {
                self.state = now;
                return;
            }
            seen = now;
        }
    }
}

/// Returns the files and folders that the command of a server names.
fn named_paths(opening: &Opening<'_>) -> Result<Vec<PathBuf>, UsageError> {
    let none = "--watch: the command of the server names no file; name one with --watch=PATH";
    let Target::Program(program) = opening.target() else {
        return Err(UsageError(none.to_owned()));
    };
    match paths_of(program) {
        paths if paths.is_empty() => Err(UsageError(none.to_owned())),
        paths => Ok(paths),
    }
}

fn paths_of(program: &Program) -> Vec<PathBuf> {
    let directory = program.directory.clone().unwrap_or_default();
    let words = program
        .arguments
        .iter()
        .filter(|word| !word.starts_with('-'));
    // A command without a folder is looked up in the path of programs: it is an interpreter, or not under development.
    let command = Some(&program.command).filter(|command| command.contains(['/', '\\']));
    let paths = command
        .into_iter()
        .chain(words)
        .map(|word| directory.join(word));
    paths.filter(|path| path.exists()).collect()
}

/// Returns a number that differs after a change of a file: of its name, its size, or its time.
fn state(paths: &[PathBuf]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut left = MAX_FILES;
    for path in paths {
        add(path, &mut left, &mut hasher);
    }
    hasher.finish()
}

/// Adds a file, or all files of a folder except hidden ones.
fn add(root: &Path, left: &mut usize, hasher: &mut DefaultHasher) {
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        path.hash(hasher);
        // A link inside of a folder is not followed, so a circle of links ends.
        let found = match path == root {
            true => fs::metadata(&path),
            false => fs::symlink_metadata(&path),
        };
        let Ok(found) = found else {
            continue;
        };
        if !found.is_dir() {
            (found.len(), found.modified().ok()).hash(hasher);
            continue;
        }
        let Ok(entries) = fs::read_dir(&path) else {
            continue;
        };
        let mut inside: Vec<PathBuf> = entries
            .flatten()
            .filter(|entry| is_watched(&entry.file_name().to_string_lossy()))
            .map(|entry| entry.path())
            .take(*left)
            .collect();
        inside.sort_unstable();
        waiting.extend(inside);
    }
}

fn is_watched(name: &str) -> bool {
    !name.starts_with('.') && !SKIPPED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_file_of_a_folder_changes_its_state() {
        let folder = std::env::temp_dir().join(format!("pintle-watch-{}", std::process::id()));
        fs::create_dir_all(folder.join("src")).expect("a folder");
        fs::create_dir_all(folder.join("target")).expect("a folder");
        let look = || state(std::slice::from_ref(&folder));
        let mut states = vec![look()];
        for (file, text) in [("src/a", "1"), ("src/a", "12"), ("src/b", "")] {
            fs::write(folder.join(file), text).expect("written");
            states.push(look());
        }
        fs::remove_file(folder.join("src/a")).expect("removed");
        states.push(look());
        for file in ["target/a", ".hidden"] {
            fs::write(folder.join(file), "x").expect("written");
            assert_eq!(look(), states[4], "{file}");
        }
        fs::remove_dir_all(&folder).expect("removed");
        states.push(look());
        states.sort_unstable();
        states.dedup();
        assert_eq!(states.len(), 6);
    }

    #[test]
    fn the_paths_of_a_command_are_its_files() {
        let here = env!("CARGO_MANIFEST_DIR");
        let mut program = Program {
            command: "sh".to_owned(),
            arguments: ["-c", "src", "--flag", "no-such-file"]
                .map(str::to_owned)
                .into(),
            directory: Some(here.into()),
            ..Program::default()
        };
        assert_eq!(paths_of(&program), [Path::new(here).join("src")]);
        program.command = format!("{here}/Cargo.toml");
        assert_eq!(paths_of(&program).len(), 2);
    }
}
