//! Replaces a file as a whole, after a backup.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::ConfigEdit;
use super::error::EditError;
use crate::config_path::{FILE_BYTES, FileSource as _, LocalFiles};

/// Maximum number of backups beside a file. A further one replaces the oldest.
pub const BACKUPS: usize = 3;

impl ConfigEdit {
    /// Replaces the file, and returns the path of its backup. A link stays, and the file that it leads to is replaced. The
    /// file keeps its permissions, and the backup has the same ones.
    ///
    /// # Errors
    ///
    /// [`EditError::Changed`] if the file is not the one that was read, [`EditError::Unwritable`] for errors of the system.
    /// The file is then unchanged.
    pub fn apply(&self) -> Result<Option<PathBuf>, EditError> {
        let unwritable = |source| EditError::Unwritable {
            file: self.file.clone(),
            source,
        };
        let file = resolved(&self.file).map_err(unwritable)?;
        let found = LocalFiles.read(&file, FILE_BYTES).map_err(unwritable)?;
        if found != self.before {
            return Err(EditError::Changed(self.file.clone()));
        }
        if self.after == self.before {
            return Ok(None);
        }
        self.write(&file).map_err(unwritable)
    }

    fn write(&self, file: &Path) -> io::Result<Option<PathBuf>> {
        let permissions = match &self.before {
            Some(_) => Some(fs::metadata(file)?.permissions()),
            None => None,
        };
        // A removed file has nothing but the server, so it needs no backup.
        let backup = match (&self.before, &permissions, &self.after) {
            (Some(before), Some(permissions), Some(_)) => {
                Some(back_up(&self.file, before, permissions.clone())?)
            }
            _ => None,
        };
        match &self.after {
            Some(after) => replace(file, after, permissions, self.is_private)?,
            None => fs::remove_file(file)?,
        }
        Ok(backup)
    }
}

/// Returns the paths of the backups of a file, the newest first.
pub(super) fn backups(file: &Path) -> Vec<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_os_string();
    let numbers = 1..=BACKUPS;
    let paths = numbers.map(|number| {
        let mut name = name.clone();
        name.push(format!(".pintle-{number}.bak"));
        file.with_file_name(name)
    });
    paths.collect()
}

/// Stores a text as the newest backup. The oldest backup is dropped.
fn back_up(file: &Path, text: &str, permissions: Permissions) -> io::Result<PathBuf> {
    let backups = backups(file);
    for pair in backups.windows(2).rev() {
        match fs::rename(&pair[0], &pair[1]) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let newest = backups.into_iter().next().unwrap_or_default();
    replace(&newest, text, Some(permissions), true)?;
    Ok(newest)
}

/// Replaces a file by a new one in the same directory.
fn replace(
    file: &Path,
    text: &str,
    permissions: Option<Permissions>,
    is_private: bool,
) -> io::Result<()> {
    let directory = file.parent().unwrap_or(file);
    fs::create_dir_all(directory)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(format!(".{}.pintle-draft", std::process::id()));
    let draft = directory.join(name);
    let written = create(&draft, is_private || permissions.is_some())
        .and_then(|mut opened| {
            opened.write_all(text.as_bytes())?;
            if let Some(permissions) = permissions {
                opened.set_permissions(permissions)?;
            }
            opened.sync_all()
        })
        .and_then(|()| fs::rename(&draft, file));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn create(draft: &Path, is_private: bool) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if is_private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_private;
    options.open(draft)
}

/// Returns the file that a link leads to, or the path itself if there is no file.
fn resolved(file: &Path) -> io::Result<PathBuf> {
    match file.canonicalize() {
        Ok(path) => Ok(path),
        // A link to a missing file is an error, because its target may be on a disk that is not mounted.
        Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => {
            Ok(file.to_owned())
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config_path::{Environment, Platform};
    use crate::edit::{NewServer, Placement};
    use crate::entry::UnexpandedTarget;
    use crate::host::Host;

    /// A directory that is removed afterwards.
    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let name = format!("pintle-edit-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).expect("made");
            Self(path)
        }

        fn edit<T>(&self, edit: impl FnOnce(&Environment<'_>) -> T) -> T {
            edit(&Environment {
                platform: Platform::Linux,
                here: &self.0,
                env: &|_| None,
                disk: &LocalFiles,
            })
        }

        fn install(&self, file: &str, name: &str) -> ConfigEdit {
            let target = UnexpandedTarget::Url {
                url: "https://a.example/mcp".to_owned(),
                headers: Vec::new(),
                is_sse: false,
            };
            let server = NewServer::new(name, target).expect("a name");
            let (host, file) = (
                Host::by_id("cursor").expect("known"),
                Placement::File(file.into()),
            );
            self.edit(|here| ConfigEdit::install(here, host, &file, &server, false))
                .expect("computed")
        }

        fn uninstall(&self, file: &str, name: &str) -> ConfigEdit {
            let (host, file) = (
                Host::by_id("cursor").expect("known"),
                Placement::File(file.into()),
            );
            self.edit(|here| ConfigEdit::uninstall(here, host, &file, name))
                .expect("computed")
        }

        fn text(&self, file: &str) -> String {
            fs::read_to_string(self.0.join(file)).expect("there")
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("there").map(|entry| {
                let name = entry.expect("an entry").file_name();
                name.to_string_lossy().into_owned()
            });
            let mut names: Vec<_> = entries.collect();
            names.sort();
            names
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn an_installation_is_undone_byte_for_byte() {
        let directory = Directory::new("undone");
        for text in [
            "",
            " \n",
            "{}",
            "{ }\n",
            "{\"mcpServers\": { }}",
            "// c\n{\"mcpServers\": {\n}, \"x\": 1}",
        ] {
            fs::write(directory.0.join("f.json"), text).expect("written");
            directory.install("f.json", "b").apply().expect("applied");
            assert_ne!(directory.text("f.json"), text);
            directory.uninstall("f.json", "b").apply().expect("applied");
            assert_eq!(directory.text("f.json"), text);
        }
    }

    #[test]
    fn a_file_that_the_installation_created_is_removed() {
        let directory = Directory::new("created");
        directory.install("x/f.json", "b").apply().expect("applied");
        assert!(directory.text("x/f.json").contains("https://a.example/mcp"));
        #[cfg(unix)]
        assert_eq!(mode(&directory.0.join("x/f.json")), 0o600);
        let edit = directory.uninstall("x/f.json", "b");
        assert_eq!(edit.after, None);
        edit.apply().expect("applied");
        assert!(!directory.0.join("x/f.json").exists());

        // With a second server the file stays.
        for name in ["b", "c"] {
            directory.install("f.json", name).apply().expect("applied");
        }
        directory.uninstall("f.json", "b").apply().expect("applied");
        assert!(directory.text("f.json").contains("\"c\""));
    }

    #[test]
    fn a_file_that_changed_is_not_replaced() {
        let directory = Directory::new("changed");
        fs::write(directory.0.join("f.json"), "{}").expect("written");
        let edit = directory.install("f.json", "b");
        fs::write(directory.0.join("f.json"), "{} ").expect("written");
        let error = edit.apply().expect_err("changed");
        assert!(matches!(error, EditError::Changed(_)), "{error:?}");
        assert_eq!(directory.text("f.json"), "{} ");
        assert_eq!(directory.names(), ["f.json"]);

        let edit = directory.install("new.json", "b");
        fs::write(directory.0.join("new.json"), "{}").expect("written");
        assert!(matches!(edit.apply(), Err(EditError::Changed(_))));
    }

    #[test]
    fn the_number_of_backups_is_bounded() {
        let directory = Directory::new("bounded");
        fs::write(directory.0.join("f.json"), "{}").expect("written");
        for number in 0..BACKUPS + 2 {
            let edit = directory.install("f.json", &format!("s{number}"));
            let backup = edit.apply().expect("applied").expect("a backup");
            assert_eq!(fs::read_to_string(backup).ok(), edit.before);
        }
        assert_eq!(directory.names().len(), 1 + BACKUPS);
        let oldest = directory.text(&format!("f.json.pintle-{BACKUPS}.bak"));
        assert!(
            oldest.contains("\"s1\"") && !oldest.contains("\"s2\""),
            "{oldest}"
        );
    }

    #[cfg(unix)]
    fn mode(file: &Path) -> u32 {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(file).expect("there").permissions().mode() & 0o777
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = Directory::new("links");
        let (real, link) = (directory.0.join("real.json"), directory.0.join("f.json"));
        fs::write(&real, "{}").expect("written");
        fs::set_permissions(&real, Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink("real.json", &link).expect("linked");
        let backup = directory.install("f.json", "b").apply().expect("applied");
        assert!(link.is_symlink());
        assert!(
            directory
                .text("real.json")
                .contains("https://a.example/mcp")
        );
        assert_eq!(mode(&real), 0o640);
        assert_eq!(mode(&backup.expect("a backup")), 0o640);
        directory.uninstall("f.json", "b").apply().expect("applied");
        assert_eq!(directory.text("real.json"), "{}");

        // Even a file with nothing else stays, because the link would lead nowhere.
        let only = directory.install("only.json", "b").after.expect("a text");
        fs::write(directory.0.join("target.json"), only).expect("written");
        std::os::unix::fs::symlink("target.json", directory.0.join("only.json")).expect("linked");
        directory
            .uninstall("only.json", "b")
            .apply()
            .expect("applied");
        assert_eq!(directory.text("only.json"), "{\n  \"mcpServers\": {}\n}\n");

        std::os::unix::fs::symlink("missing.json", directory.0.join("odd.json")).expect("linked");
        let error = directory
            .install("odd.json", "b")
            .apply()
            .expect_err("no target");
        assert!(matches!(error, EditError::Unwritable { .. }), "{error:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_written_leaves_the_file() {
        let directory = Directory::new("blocked");
        fs::write(directory.0.join("f.json"), "{}").expect("written");
        // The draft cannot be created, because a directory has its name.
        let draft = format!(".f.json.{}.pintle-draft", std::process::id());
        fs::create_dir(directory.0.join(draft)).expect("made");
        let error = directory
            .install("f.json", "b")
            .apply()
            .expect_err("blocked");
        assert!(matches!(error, EditError::Unwritable { .. }), "{error:?}");
        assert_eq!(directory.text("f.json"), "{}");
    }
}
