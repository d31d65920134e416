//! The folder of the sockets of shared servers.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Mode of the folder: only its user can open it.
const PRIVATE: u32 = 0o700;

/// A folder that belongs to this user, and that no other user can open.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

/// The folder of the sockets cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the folder {} of shared servers cannot be used: {reason}", path.display())]
pub(crate) struct FolderError {
    path: PathBuf,
    reason: io::Error,
}

impl Folder {
    /// Opens the folder in `XDG_RUNTIME_DIR`, or else in the folder of temporary files.
    ///
    /// # Errors
    ///
    /// [`FolderError`] if the folder belongs to another user, or others can open it.
    pub(crate) fn open() -> Result<Self, FolderError> {
        Self::open_at(place())
    }

    /// Returns the folder if it exists and can be used, and does not create it.
    pub(crate) fn existing() -> Option<Self> {
        let path = place();
        inspect(&path).ok().map(|()| Self(path))
    }

    fn open_at(path: PathBuf) -> Result<Self, FolderError> {
        match check(&path) {
            Ok(()) => Ok(Self(path)),
            Err(reason) => Err(FolderError { path, reason }),
        }
    }

    /// Returns the path of the socket of a key.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.0.join(key).with_extension("sock")
    }
}

/// Returns the path of the folder.
fn place() -> PathBuf {
    let user = geteuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match runtime.filter(|path| path.is_absolute() && path.is_dir()) {
        Some(runtime) => runtime.join("pintle"),
        None => std::env::temp_dir().join(format!("pintle-{user}")),
    }
}

/// Creates the folder, or checks the one that is there.
fn check(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(PRIVATE).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => inspect(path),
    }
}

/// Checks a folder. A link is not followed.
fn inspect(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    let unsafe_for = match () {
        () if !found.is_dir() => "it is not a folder",
        () if found.uid() != geteuid().as_raw() => "it belongs to another user",
        () if found.mode() & 0o077 != 0 => "other users can open it",
        () => return Ok(()),
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, unsafe_for))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_folder_that_others_can_open_or_replace_is_refused() {
        let base = std::env::temp_dir().join(format!("pintle-folder-{}", std::process::id()));
        fs::create_dir_all(&base).expect("a folder");
        let folder = base.join("a");
        for _ in 0..2 {
            assert!(Folder::open_at(folder.clone()).is_ok());
        }
        let mode = fs::metadata(&folder).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, PRIVATE);
        symlink(&folder, base.join("link")).expect("a link");
        assert!(Folder::open_at(base.join("link")).is_err());
        fs::write(base.join("file"), "").expect("a file");
        assert!(Folder::open_at(base.join("file")).is_err());
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).expect("set");
        let refused = Folder::open_at(folder).expect_err("others can open it");
        assert!(refused.to_string().contains("other users"), "{refused}");
        fs::remove_dir_all(&base).expect("removed");
    }
}
