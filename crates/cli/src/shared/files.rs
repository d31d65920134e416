//! The files of one shared server.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use tokio::net::UnixStream;

/// The files of one shared server.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) socket: PathBuf,
    /// Locked while a host connects, and while the sharer removes its socket.
    pub(crate) lock: PathBuf,
    /// The standard error of the sharer.
    pub(crate) log: PathBuf,
}

impl Files {
    /// Returns the files of the server at a socket.
    pub(crate) fn beside(socket: PathBuf) -> Self {
        Self {
            lock: socket.with_extension("lock"),
            log: socket.with_extension("log"),
            socket,
        }
    }

    /// Connects to the socket, if a process of this user serves it.
    pub(crate) async fn connect(&self) -> io::Result<UnixStream> {
        let stream = UnixStream::connect(&self.socket).await?;
        match stream.peer_cred()?.uid() == geteuid().as_raw() {
            true => Ok(stream),
            false => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }

    /// Opens the lock and locks it until it is dropped. The system unlocks it when the process ends.
    pub(crate) fn locked(&self) -> io::Result<File> {
        self.lock(FlockOperation::LockExclusive)
    }

    /// Locks the lock if no process has locked it.
    pub(crate) fn try_locked(&self) -> io::Result<File> {
        self.lock(FlockOperation::NonBlockingLockExclusive)
    }

    /// Opens the lock as a file that only this user can read.
    fn lock(&self, operation: FlockOperation) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let file = options.open(&self.lock)?;
        flock(&file, operation)?;
        Ok(file)
    }

    /// Makes a link that leads to the socket, or replaces one.
    pub(crate) fn link(&self, link: &Path) -> io::Result<()> {
        let new = link.with_extension(std::process::id().to_string());
        let _ = fs::remove_file(&new);
        symlink(&self.socket, &new)?;
        fs::rename(&new, link)
    }

    /// Removes a link, unless it leads to another socket.
    pub(crate) fn unlink(&self, link: &Path) {
        if fs::read_link(link).is_ok_and(|socket| socket == self.socket) {
            // A link that stays leads nowhere.
            let _ = fs::remove_file(link);
        }
    }
}
