//! Credentials in a directory that only its user can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};

use crate::credentials::{CredentialStore, KeyGuard};
use crate::secret::Secret;

/// How large a file may be that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Keeps every credential in a file of its own: readable by its user only, replaced as a whole, and
/// renewed by one process at a time.
///
/// The files are as safe as the user's account is: they are not encrypted.
#[derive(Debug, Clone)]
pub struct FileCredentials {
    directory: PathBuf,
}

impl FileCredentials {
    /// Keeps files in `directory`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn at(directory: impl Into<PathBuf>) -> io::Result<Self> {
        let directory = directory.into();
        make_private(&directory)?;
        Ok(Self { directory })
    }

    pub(super) fn path(&self, key: &str, ending: &str) -> PathBuf {
        let hash = digest(&SHA256, key.as_bytes());
        let name: String = hash
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.directory.join(format!("{name}.{ending}"))
    }
}

impl CredentialStore for FileCredentials {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        let path = self.path(key, "json");
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(found) if found.len() > MOST_BYTES => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the file is too large",
                ));
            }
            Ok(_) => {}
        }
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(|text| Some(text.into())),
        }
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        let path = self.path(key, "json");
        let Some(text) = text else {
            return match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        // A name of this process alone: two that write at the same time replace whole files.
        let draft = self.path(key, &format!("{}.new", std::process::id()));
        let mut file = private()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&draft)?;
        file.write_all(text.reveal().as_bytes())?;
        file.sync_all()?;
        fs::rename(&draft, &path)
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        let locked = lock(&self.path(key, "lock"));
        match locked {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

#[cfg(unix)]
fn make_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

#[cfg(not(unix))]
fn make_private(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

/// The system lets go of it when the process ends, however it ends.
#[cfg(unix)]
fn lock(path: &Path) -> io::Result<File> {
    use rustix::fs::{FlockOperation, flock};
    let file = private()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

#[cfg(windows)]
fn lock(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    /// What the system answers when somebody has opened the file for himself.
    const SHARING_VIOLATION: i32 = 32;
    let mut options = private();
    options
        .write(true)
        .create(true)
        .truncate(false)
        .share_mode(0);
    options
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(SHARING_VIOLATION) => io::ErrorKind::WouldBlock.into(),
            _ => error,
        })
}

#[cfg(not(any(unix, windows)))]
fn lock(_: &Path) -> io::Result<File> {
    let why = "no way is known here to lock a file against other processes";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory(name: &str) -> PathBuf {
        let own = format!("pintle-auth-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(own);
        let _ = fs::remove_dir_all(&path);
        path
    }

    // spec: 2025-11-25 AUTH-80
    // spec: 2026-07-28 N-AUTH-50
    // hardening: H-45
    #[cfg(unix)]
    #[test]
    fn only_the_user_reads_what_is_kept() {
        use std::os::unix::fs::PermissionsExt;
        let path = directory("private");
        let store = FileCredentials::at(&path).expect("a directory");
        store.save("k", Some(&"one".into())).expect("kept");
        store.save("k", Some(&"two".into())).expect("replaced");
        let guard = store.try_lock("k").expect("a lock");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        let files: Vec<PathBuf> = fs::read_dir(&path)
            .expect("files")
            .map(|file| file.expect("a file").path())
            .collect();
        assert_eq!(
            files.len(),
            2,
            "a credential and its lock, and no draft: {files:?}"
        );
        assert!(files.iter().all(|file| mode(file) == 0o600));
        assert_eq!(
            store.load("k").expect("read").expect("kept").reveal(),
            "two"
        );
        assert!(store.load("other").expect("read").is_none());
        drop(guard);
        store.save("k", None).expect("forgotten");
        store.save("k", None).expect("forgotten twice");
        assert!(store.load("k").expect("read").is_none());
        fs::remove_dir_all(&path).expect("removed");
    }

    // hardening: H-45
    #[cfg(unix)]
    #[test]
    fn one_renews_at_a_time() {
        let path = directory("lock");
        let [one, two] = [(); 2].map(|()| FileCredentials::at(&path).expect("a directory"));
        let guard = one.try_lock("k").expect("a lock").expect("free");
        assert!(two.try_lock("k").expect("a lock").is_none());
        assert!(two.try_lock("other").expect("a lock").is_some());
        drop(guard);
        assert!(two.try_lock("k").expect("a lock").is_some());
        fs::remove_dir_all(&path).expect("removed");
    }
}
