//! The paths of configuration files by platform, and the access to the machine that finding them requires.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// How many bytes a configuration file has at most. Claude Code keeps a history in its own, which
/// grows to several megabytes.
pub(super) const FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum size of a YAML file in bytes. It is lower because hosts do not store a history in YAML.
pub(super) const YAML_BYTES: u64 = 4 * 1024 * 1024;

/// How many files of a directory are read.
const FILES: usize = 256;

/// The platform, on which the paths of files depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux, and whatever is like it.
    Linux,
    /// Apple's desktop platform, macOS.
    Mac,
    /// Every version of Windows.
    Windows,
}

impl Platform {
    /// The one this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::Mac
    } else {
        Self::Linux
    };
}

/// The parts of the machine that locate configuration files. Tests pass their own.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Which kind of machine it is.
    pub platform: Platform,
    /// The working directory.
    pub here: &'a Path,
    /// Returns the value of an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Reads files and directories.
    pub disk: &'a dyn FileSource,
}

/// Read-only access to files.
pub trait FileSource {
    /// The text of a file; none if it is not there.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::FileTooLarge`] if it has more than `limit` bytes, [`ErrorKind::InvalidInput`] if it is
    /// not a regular file; otherwise the error of the system.
    fn read(&self, file: &Path, limit: u64) -> io::Result<Option<String>>;

    /// Whether something is there.
    fn is_there(&self, path: &Path) -> bool;

    /// The files of a directory, by name; none if there is no such directory.
    fn files(&self, directory: &Path) -> Vec<PathBuf>;
}

/// The files of this machine.
pub struct LocalFiles;

impl FileSource for LocalFiles {
    fn read(&self, file: &Path, limit: u64) -> io::Result<Option<String>> {
        // Before it is opened: opening a pipe waits for a writer.
        let opened = match std::fs::metadata(file) {
            Ok(found) if !found.is_file() => {
                let reason = "it is not a regular file";
                return Err(io::Error::new(ErrorKind::InvalidInput, reason));
            }
            Ok(_) => File::open(file)?,
            Err(error) if is_absence(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        opened.take(limit + 1).read_to_string(&mut text)?;
        match text.len() as u64 > limit {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(Some(text)),
        }
    }

    fn is_there(&self, path: &Path) -> bool {
        path.exists()
    }

    fn files(&self, directory: &Path) -> Vec<PathBuf> {
        // An unreadable directory counts as empty, because it does not belong to this user.
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
        files.sort();
        files
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

impl Environment<'_> {
    /// Returns the value of a variable; `None` if the variable is unset or empty.
    pub(super) fn var(&self, name: &str) -> Option<String> {
        (self.env)(name).filter(|value| !value.is_empty())
    }

    /// The user's own directory.
    pub(super) fn home(&self) -> Option<PathBuf> {
        let name = match self.platform {
            Platform::Windows => "USERPROFILE",
            Platform::Linux | Platform::Mac => "HOME",
        };
        self.var(name).map(PathBuf::from)
    }

    /// Where programs of this platform keep their settings.
    fn settings(&self) -> Option<PathBuf> {
        match self.platform {
            Platform::Linux => self.xdg(),
            Platform::Mac => Some(self.home()?.join("Library/Application Support")),
            Platform::Windows => self.var("APPDATA").map(PathBuf::from),
        }
    }

    /// Where programs keep their settings that treat macOS like Linux.
    fn xdg(&self) -> Option<PathBuf> {
        match self.platform {
            Platform::Windows => self.settings(),
            Platform::Linux | Platform::Mac => match self.var("XDG_CONFIG_HOME") {
                Some(place) => Some(PathBuf::from(place)),
                None => Some(self.home()?.join(".config")),
            },
        }
    }

    /// A settings file of this program; none if no absolute directory is known for it.
    pub fn own_file(&self, name: &str) -> Option<PathBuf> {
        let settings = self.settings().filter(|path| path.is_absolute())?;
        Some(settings.join("pintle").join(name))
    }

    /// The files that a path means: itself, or those of a directory that hosts would read, if it ends
    /// with a star.
    pub(super) fn files(&self, path: PathBuf) -> Vec<PathBuf> {
        if !path.ends_with("*") {
            return vec![path];
        }
        let is_read = |file: &PathBuf| {
            let ending = file.extension().and_then(std::ffi::OsStr::to_str);
            ending.is_some_and(|ending| ["json", "yaml", "yml"].contains(&ending))
        };
        let files = path.parent().map(|directory| self.disk.files(directory));
        let files = files.unwrap_or_default().into_iter();
        files.filter(is_read).take(FILES).collect()
    }

    /// The directories whose project files count: the working directory, and those above it up to
    /// the one that a repository begins in. Without a repository the working directory alone: what
    /// lies further up may belong to another user.
    pub(super) fn projects(&self) -> Vec<PathBuf> {
        let up: Vec<&Path> = self.here.ancestors().collect();
        let root = up
            .iter()
            .position(|path| self.disk.is_there(&path.join(".git")));
        let count = root.map_or(1, |root| root + 1);
        up.into_iter().take(count).map(Path::to_owned).collect()
    }
}

/// Where a file of the user lies.
#[derive(Debug, Clone, Copy)]
pub(super) enum ConfigPath {
    /// In the home directory.
    Home(&'static str),
    /// Where programs of the platform keep their settings.
    Settings(&'static str),
    /// The same, with macOS treated like Linux.
    Xdg(&'static str),
    /// In the directory that a variable names; in the home directory, at the other path, without.
    Var(&'static str, &'static str, &'static str),
    /// The file that a variable names; in the home directory without.
    File(&'static str, &'static str),
    /// Where programs keep their settings, and on Windows only.
    Windows(&'static str),
    /// For the whole machine: on Linux, macOS, Windows.
    Machine([&'static str; 3]),
}

impl ConfigPath {
    /// Whether the file belongs to the machine and not to the user.
    pub(super) fn is_of_machine(self) -> bool {
        matches!(self, Self::Machine(_))
    }

    /// Returns the path; `None` if the environment does not determine it.
    pub(super) fn path(self, environment: &Environment<'_>) -> Option<PathBuf> {
        match self {
            Self::Home(path) => Some(environment.home()?.join(path)),
            Self::Settings(path) => Some(environment.settings()?.join(path)),
            Self::Xdg(path) => Some(environment.xdg()?.join(path)),
            Self::Windows(_) if environment.platform != Platform::Windows => None,
            Self::Windows(path) => Some(environment.settings()?.join(path)),
            Self::Var(name, inside, otherwise) => match environment.var(name) {
                Some(directory) => Some(Path::new(&directory).join(inside)),
                None => Some(environment.home()?.join(otherwise)),
            },
            Self::File(name, otherwise) => match environment.var(name) {
                Some(file) => Some(environment.here.join(file)),
                None => Some(environment.home()?.join(otherwise)),
            },
            Self::Machine(paths) => Some(PathBuf::from(paths[environment.platform as usize])),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// A machine of a few variables and files.
    #[derive(Default)]
    pub(crate) struct FakeMachine {
        pub(crate) vars: BTreeMap<&'static str, &'static str>,
        pub(crate) files: BTreeMap<&'static str, String>,
    }

    impl FileSource for FakeMachine {
        fn read(&self, file: &Path, limit: u64) -> io::Result<Option<String>> {
            match self.files.get(file.to_str().expect("text")) {
                Some(text) if text.len() as u64 > limit => Err(ErrorKind::FileTooLarge.into()),
                found => Ok(found.cloned()),
            }
        }

        fn is_there(&self, path: &Path) -> bool {
            let is_in = |file: &&str| Path::new(file).starts_with(path);
            self.files.keys().any(is_in)
        }

        fn files(&self, directory: &Path) -> Vec<PathBuf> {
            let files = self.files.keys().map(PathBuf::from);
            files
                .filter(|file| file.parent() == Some(directory))
                .collect()
        }
    }

    impl FakeMachine {
        pub(crate) fn at<T>(
            &self,
            platform: Platform,
            here: &str,
            look: impl FnOnce(&Environment<'_>) -> T,
        ) -> T {
            let env = |name: &str| self.vars.get(name).map(|value| (*value).to_owned());
            look(&Environment {
                platform,
                here: Path::new(here),
                env: &env,
                disk: self,
            })
        }
    }

    #[test]
    fn every_platform_has_its_places() {
        let machine = FakeMachine {
            vars: [
                ("HOME", "/h"),
                ("USERPROFILE", "/u"),
                ("APPDATA", "/u/Roaming"),
            ]
            .into(),
            ..FakeMachine::default()
        };
        let cases = [
            (
                Platform::Linux,
                ["/h/x", "/h/.config/x", "/h/.config/x", "/h/y", "a"],
            ),
            (
                Platform::Mac,
                [
                    "/h/x",
                    "/h/Library/Application Support/x",
                    "/h/.config/x",
                    "/h/y",
                    "b",
                ],
            ),
            (
                Platform::Windows,
                ["/u/x", "/u/Roaming/x", "/u/Roaming/x", "/u/y", "c"],
            ),
        ];
        let places = [
            ConfigPath::Home("x"),
            ConfigPath::Settings("x"),
            ConfigPath::Xdg("x"),
            ConfigPath::Var("DIR", "x", "y"),
            ConfigPath::Machine(["a", "b", "c"]),
        ];
        for (platform, paths) in cases {
            let found = machine.at(platform, "/", |environment| {
                places.map(|place| place.path(environment))
            });
            assert_eq!(found, paths.map(|path| Some(PathBuf::from(path))));
        }
    }

    #[test]
    fn variables_move_places() {
        let machine = FakeMachine {
            vars: [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("DIR", "/d")].into(),
            ..FakeMachine::default()
        };
        machine.at(Platform::Linux, "/", |environment| {
            assert_eq!(ConfigPath::Xdg("x").path(environment), Some("/c/x".into()));
            assert_eq!(
                ConfigPath::Var("DIR", "x", "y").path(environment),
                Some("/d/x".into())
            );
        });
        let bare = FakeMachine::default();
        bare.at(Platform::Linux, "/", |environment| {
            assert_eq!(ConfigPath::Home("x").path(environment), None);
        });
    }

    #[test]
    fn projects_end_where_the_repository_begins() {
        let machine = FakeMachine {
            files: [("/a/b/.git/HEAD", String::new())].into(),
            ..FakeMachine::default()
        };
        let projects =
            |here| machine.at(Platform::Linux, here, |environment| environment.projects());
        let paths = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(projects("/a/b/c/d"), paths(&["/a/b/c/d", "/a/b/c", "/a/b"]));
        assert_eq!(projects("/a/b"), paths(&["/a/b"]));
        assert_eq!(projects("/x/y"), paths(&["/x/y"]));
    }

    #[test]
    fn the_disk_reads_an_existing_file_up_to_a_limit() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let length = std::fs::metadata(&file).expect("there").len();
        assert!(LocalFiles.read(&file, length).expect("read").is_some());
        let error = LocalFiles.read(&file, length - 1).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        assert!(
            LocalFiles
                .read(&file.join("x"), 1)
                .expect("absent")
                .is_none()
        );
    }
}
