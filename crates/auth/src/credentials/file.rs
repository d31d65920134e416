//! Credentials in a directory that only its user can read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use pintle_store::FileLock;
use ring::digest::{SHA256, digest};

use crate::credentials::{CredentialStore, KeyGuard};
use crate::secret::Secret;

/// Maximum size of a file that is read, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Extension of a draft.
const DRAFT: &str = "new";
/// How old a draft is that no process writes any more.
const DRAFT_TTL: Duration = Duration::from_secs(60 * 60);

/// Stores each credential in a file. Only the user can read it. It is replaced as a whole, and
/// renewed by one process at a time.
///
/// The files are not encrypted: programs of the same user can read them.
#[derive(Debug, Clone)]
pub struct FileCredentialStore {
    directory: PathBuf,
}

impl FileCredentialStore {
    /// Creates a store in `directory`. A missing directory is created.
    ///
    /// # Errors
    ///
    /// The error of the file system.
    pub fn at(directory: impl Into<PathBuf>) -> io::Result<Self> {
        let directory = directory.into();
        make_private(&directory)?;
        remove_old_drafts(&directory);
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

impl CredentialStore for FileCredentialStore {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        let path = self.path(key, "json");
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
            Ok(found) if found.len() > MOST_BYTES => return Ok(unreadable(&path)),
            Ok(_) => {}
        }
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(unreadable(&path)),
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
        let draft = self.path(key, &format!("{}.{DRAFT}", std::process::id()));
        let replaced = write(&draft, text).and_then(|()| fs::rename(&draft, &path));
        match replaced {
            // An error is ignored, because some file systems cannot sync a directory; the file is complete.
            Ok(()) => drop(File::open(&self.directory).and_then(|own| own.sync_all())),
            Err(_) => drop(fs::remove_file(&draft)),
        }
        replaced
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        let lock = FileLock::try_acquire(&self.path(key, "lock"))?;
        Ok(lock.map(|lock| Box::new(lock) as KeyGuard))
    }
}

/// Nothing: a file that is not a credential must not keep its user from the next sign-in.
fn unreadable(path: &Path) -> Option<Secret> {
    tracing::warn!(path = %path.display(), "a file of credentials is not readable and is ignored");
    None
}

/// Writes a complete file and syncs it to the disk.
fn write(path: &Path, text: &Secret) -> io::Result<()> {
    let mut options = private();
    let mut file = options.write(true).create(true).truncate(true).open(path)?;
    file.write_all(text.reveal().as_bytes())?;
    file.sync_all()
}

/// Removes the drafts of processes that were killed while they wrote. A draft that is in use is
/// younger.
fn remove_old_drafts(directory: &Path) {
    let is_old = |file: &fs::DirEntry| {
        let changed = file.metadata().and_then(|found| found.modified());
        changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age >= DRAFT_TTL))
    };
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    for file in files.filter(is_old) {
        let path = file.path();
        if path.extension().is_some_and(|ending| ending == DRAFT) {
            drop(fs::remove_file(path));
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

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

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
    fn only_the_user_can_read_stored_credentials() {
        use std::os::unix::fs::PermissionsExt;
        let path = directory("private");
        let store = FileCredentialStore::at(&path).expect("a directory");
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

    #[test]
    fn a_file_that_is_not_a_credential_is_ignored() {
        let path = directory("broken");
        let store = FileCredentialStore::at(&path).expect("a directory");
        let large = vec![b'x'; usize::try_from(MOST_BYTES).expect("a size") + 1];
        for broken in [&b"\xff\xfe"[..], &large] {
            fs::write(store.path("k", "json"), broken).expect("written");
            assert!(store.load("k").expect("read").is_none());
            store.save("k", Some(&"new".into())).expect("saved");
            assert!(store.load("k").expect("read").is_some());
        }
        fs::remove_dir_all(&path).expect("removed");
    }

    // hardening: H-45
    #[test]
    fn a_save_that_fails_leaves_no_draft_and_no_half_a_file() {
        let path = directory("draft");
        let store = FileCredentialStore::at(&path).expect("a directory");
        // No file takes the place of a directory with something in it.
        let taken = store.path("k", "json").join("something");
        fs::create_dir_all(&taken).expect("a directory");
        assert!(store.save("k", Some(&"one".into())).is_err());
        let left = fs::read_dir(&path).expect("files").count();
        assert_eq!(left, 1, "the directory that was in the way, and no draft");
        fs::remove_dir_all(&path).expect("removed");
    }

    // hardening: H-45
    #[test]
    fn drafts_of_killed_processes_are_removed_once_they_are_old() {
        let path = directory("killed");
        let store = FileCredentialStore::at(&path).expect("a directory");
        store.save("k", Some(&"one".into())).expect("saved");
        let hour = fs::FileTimes::new().set_modified(SystemTime::now() - DRAFT_TTL);
        for (name, is_old) in [("a.1.new", true), ("b.2.new", false), ("c.lock", true)] {
            let file = File::create(path.join(name)).expect("a file");
            if is_old {
                file.set_times(hour).expect("a time");
            }
        }
        let again = FileCredentialStore::at(&path).expect("a directory");
        assert!(!path.join("a.1.new").exists());
        assert!(path.join("b.2.new").exists(), "a process may be writing it");
        assert!(path.join("c.lock").exists());
        assert!(again.load("k").expect("read").is_some());
        fs::remove_dir_all(&path).expect("removed");
    }

    // hardening: H-45
    #[cfg(unix)]
    #[test]
    fn one_renews_at_a_time() {
        let path = directory("lock");
        let [one, two] = [(); 2].map(|()| FileCredentialStore::at(&path).expect("a directory"));
        let guard = one.try_lock("k").expect("a lock").expect("free");
        assert!(two.try_lock("k").expect("a lock").is_none());
        assert!(two.try_lock("other").expect("a lock").is_some());
        drop(guard);
        assert!(two.try_lock("k").expect("a lock").is_some());
        fs::remove_dir_all(&path).expect("removed");
    }
}
