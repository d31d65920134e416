//! One process at a time: the system holds the lock, and lets go of it when the process ends.

use std::fs::File;
use std::io;
use std::path::Path;

/// The right to use the directory; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or says at once that somebody has it.
    pub(super) fn take(path: &Path) -> io::Result<Self> {
        let file = open_alone(path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another process has the store open",
            ),
            _ => error,
        })?;
        Ok(Self { _file: file })
    }
}

#[cfg(unix)]
fn open_alone(path: &Path) -> io::Result<File> {
    use rustix::fs::{FlockOperation, flock};

    let mut options = super::private();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

#[cfg(windows)]
fn open_alone(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;

    /// What the system answers when somebody has opened the file for himself.
    const SHARING_VIOLATION: i32 = 32;

    let mut options = super::private();
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
fn open_alone(_: &Path) -> io::Result<File> {
    let why = "no way is known here to lock a directory against other processes";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}
