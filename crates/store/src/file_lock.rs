//! A lock on a file, which the system releases when the process ends.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// The exclusive right of one holder to a file, until it is dropped or its process ends.
///
/// Two locks of one process exclude each other as well. The file is empty, stays when the lock is
/// released, and on Unix only its owner can read it.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Locks the file at `path`, which is created if it does not exist; none while another holder has
    /// it. Does not wait.
    ///
    /// # Errors
    ///
    /// Errors of the system; [`io::ErrorKind::Unsupported`] where neither Unix nor Windows runs.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        match open_exclusively(path) {
            Ok(file) => Ok(Some(Self { file })),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}

/// Options that create a file and do not empty it.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    options
}

#[cfg(unix)]
fn open_exclusively(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::{FlockOperation, flock};

    let file = options().mode(0o600).open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Releases the lock also for copies of the descriptor. A process that starts has them for a moment.
#[cfg(unix)]
fn unlock(file: &File) {
    // When the file is closed, the system releases the lock as well.
    let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
}

/// The system releases the lock when the file is closed.
#[cfg(not(unix))]
fn unlock(_: &File) {}

#[cfg(windows)]
fn open_exclusively(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;

    /// The error code of the system for a file that another holder opened exclusively.
    const SHARING_VIOLATION: i32 = 32;

    let opened = options().share_mode(0).open(path);
    opened.map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => io::ErrorKind::WouldBlock.into(),
        _ => error,
    })
}

#[cfg(not(any(unix, windows)))]
fn open_exclusively(_: &Path) -> io::Result<File> {
    let reason = "files cannot be locked on this system";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

#[cfg(all(test, any(unix, windows)))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_has_one_holder_until_the_lock_is_dropped() {
        let name = format!("pintle-file-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, "text").expect("written");
        let lock = FileLock::try_acquire(&path).expect("a lock");
        assert!(lock.is_some());
        assert!(FileLock::try_acquire(&path).expect("a lock").is_none());
        drop(lock);
        let again = FileLock::try_acquire(&path).expect("a lock");
        assert!(again.is_some());
        drop(again);
        assert_eq!(fs::read_to_string(&path).expect("read"), "text");
        fs::remove_file(&path).expect("removed");
    }

    // A process that is forked has a copy of each descriptor until it runs its program.
    #[cfg(unix)]
    #[test]
    fn a_copy_of_the_descriptor_does_not_keep_the_lock() {
        let name = format!("pintle-copied-file-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let lock = FileLock::try_acquire(&path).expect("a lock").expect("free");
        let copy = lock.file.try_clone().expect("a copy");
        drop(lock);
        assert!(FileLock::try_acquire(&path).expect("a lock").is_some());
        drop(copy);
        fs::remove_file(&path).expect("removed");
    }

    #[cfg(unix)]
    #[test]
    fn a_new_lock_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let name = format!("pintle-new-file-lock-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_file(&path);
        let _lock = FileLock::try_acquire(&path).expect("a lock");
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_file(&path).expect("removed");
    }
}
