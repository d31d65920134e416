//! Lookup of the file that a program's name means.
//!
//! A name with a separator is a path, relative to the server's working directory. Any other name is
//! looked up in the server's own `PATH`, in absolute directories only. So a file that happens to be
//! in the current directory is never started by its bare name.
//!
//! On Windows the endings of `PATHEXT` are tried, so `npx` becomes `npx.cmd`. The file without an
//! ending beside it is a script for other systems.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// `PATHEXT` where it is not set.
pub(super) const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";
/// Endings that Windows starts directly. Other endings of `PATHEXT` need a shell to find a program.
const STARTABLE: [&str; 4] = [".COM", ".EXE", ".BAT", ".CMD"];

/// The inputs of a lookup.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup<'a> {
    /// `PATH` of the server.
    pub(super) path: Option<&'a OsStr>,
    /// Endings to try, as in `PATHEXT`; `None` on systems that mark executable files by a
    /// permission.
    pub(super) endings: Option<&'a str>,
    /// The base of relative paths.
    pub(super) directory: &'a Path,
}

/// The reason why a lookup failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResolveError {
    /// The file does not exist.
    Missing,
    /// The file exists, but cannot be executed.
    NotExecutable,
}

/// The kind of thing at a path, with regard to execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Executable {
    Nothing,
    File,
    Program,
}

impl Lookup<'_> {
    /// Returns the file to start: the first program among the candidates. `look` reads the disk.
    pub(super) fn resolve(
        &self,
        program: &OsStr,
        look: impl Fn(&Path) -> Executable,
    ) -> Result<PathBuf, ResolveError> {
        let mut failure = ResolveError::Missing;
        for place in self.places(program) {
            for candidate in self.candidates(&place) {
                match look(&candidate) {
                    Executable::Program => return Ok(candidate),
                    Executable::File => failure = ResolveError::NotExecutable,
                    Executable::Nothing => {}
                }
            }
        }
        Err(failure)
    }

    /// Returns every path that the name can mean, without endings.
    fn places(&self, program: &OsStr) -> Vec<PathBuf> {
        let path = Path::new(program);
        if program.is_empty() {
            return Vec::new();
        }
        if path.components().count() > 1 || path.has_root() {
            return vec![self.directory.join(path)];
        }
        let list = self.path.unwrap_or_default();
        let directories = std::env::split_paths(list).filter(|directory| directory.is_absolute());
        directories.map(|directory| directory.join(path)).collect()
    }

    fn candidates(&self, place: &Path) -> Vec<PathBuf> {
        let Some(endings) = self.endings else {
            return vec![place.to_owned()];
        };
        let endings = endings.split(';').map(str::trim);
        let endings: Vec<&str> = endings.filter(|ending| is_startable(ending)).collect();
        if endings.iter().any(|ending| ends_with(place, ending)) {
            return vec![place.to_owned()];
        }
        let with = |ending: &&str| {
            let mut name = OsString::from(place);
            name.push(ending.to_ascii_lowercase());
            PathBuf::from(name)
        };
        endings.iter().map(with).collect()
    }
}

/// Returns the kind of thing at a path of the disk.
pub(super) fn look(path: &Path) -> Executable {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && may_start(&metadata) => Executable::Program,
        Ok(metadata) if metadata.is_file() => Executable::File,
        _ => Executable::Nothing,
    }
}

#[cfg(unix)]
fn may_start(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_start(_: &std::fs::Metadata) -> bool {
    true
}

fn is_startable(ending: &str) -> bool {
    STARTABLE
        .iter()
        .any(|known| known.eq_ignore_ascii_case(ending))
}

fn ends_with(place: &Path, ending: &str) -> bool {
    let name = place.as_os_str().as_encoded_bytes();
    let at = name.len().saturating_sub(ending.len());
    name[at..].eq_ignore_ascii_case(ending.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/usr/local/bin:relative/bin:/usr/bin";
    const PATHEXT: &str = ".COM;.EXE;.BAT;.CMD;.VBS;.JS";

    fn lookup(endings: Option<&'static str>) -> Lookup<'static> {
        Lookup {
            path: Some(OsStr::new(PATH)),
            endings,
            directory: Path::new("/srv/app"),
        }
    }

    fn resolve(
        endings: Option<&'static str>,
        program: &str,
        disk: &[(&str, Executable)],
    ) -> Result<String, ResolveError> {
        let look = |path: &Path| {
            let entry = disk.iter().find(|(name, _)| Path::new(name) == path);
            entry.map_or(Executable::Nothing, |(_, found)| *found)
        };
        let found = lookup(endings).resolve(OsStr::new(program), look);
        found.map(|path| path.to_str().expect("text").to_owned())
    }

    #[cfg(unix)]
    #[test]
    fn a_name_is_looked_up_in_order_and_in_absolute_directories_only() {
        let disk = [
            ("/usr/local/bin/npx", Executable::File),
            ("/srv/app/relative/bin/npx", Executable::Program),
            ("relative/bin/npx", Executable::Program),
            ("/usr/bin/npx", Executable::Program),
        ];
        assert_eq!(resolve(None, "npx", &disk), Ok("/usr/bin/npx".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_path_begins_in_the_working_directory() {
        let disk = [
            ("/srv/app/./run", Executable::Program),
            ("/bin/x", Executable::Program),
        ];

        assert_eq!(resolve(None, "./run", &disk), Ok("/srv/app/./run".into()));
        assert_eq!(resolve(None, "/bin/x", &disk), Ok("/bin/x".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_permission_differs_from_a_missing_file() {
        let disk = [("/usr/bin/notes.txt", Executable::File)];

        let unresolved = |name| resolve(None, name, &disk).expect_err("nothing to start");
        assert_eq!(unresolved("notes.txt"), ResolveError::NotExecutable);
        assert_eq!(unresolved("nowhere"), ResolveError::Missing);
        assert_eq!(unresolved(""), ResolveError::Missing);
    }

    #[cfg(unix)]
    #[test]
    fn endings_are_tried_in_order_and_a_file_without_one_is_not_started() {
        let disk = [
            ("/usr/local/bin/npx", Executable::Program),
            ("/usr/local/bin/npx.cmd", Executable::Program),
            ("/usr/bin/npx.exe", Executable::Program),
        ];
        let found = resolve(Some(PATHEXT), "npx", &disk);
        assert_eq!(found, Ok("/usr/local/bin/npx.cmd".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_has_an_ending_gets_no_other() {
        let disk = [("/usr/bin/Server.EXE", Executable::Program)];
        let found = resolve(Some(PATHEXT), "Server.EXE", &disk);
        assert_eq!(found, Ok("/usr/bin/Server.EXE".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_needs_a_shell_is_not_started() {
        let disk = [
            ("/usr/bin/tool.js", Executable::Program),
            ("/usr/bin/tool.vbs", Executable::Program),
        ];
        let found = resolve(Some(PATHEXT), "tool", &disk);
        assert_eq!(found, Err(ResolveError::Missing));
    }
}
