//! A Unix socket at a path, for programs of one user.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _,
};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

/// Mode of the directory where the socket is made.
const PRIVATE_DIRECTORY: u32 = 0o700;
/// Mode of the socket: only its user may connect.
const PRIVATE_SOCKET: u32 = 0o600;

/// The file of a socket. Dropping this value removes the file, unless another program has replaced it.
#[derive(Debug)]
pub(crate) struct SocketFile {
    path: PathBuf,
    /// The device and the number of the file.
    identity: (u64, u64),
}

/// Listens on a Unix socket at a path. A socket that no program serves any more is replaced.
///
/// The socket is made in a directory that only this user can open, and moved to its path. So no other user can
/// connect before its mode is set.
///
/// # Errors
///
/// [`io::ErrorKind::AddrInUse`] if a program serves the socket; [`io::ErrorKind::AlreadyExists`] if the file is not
/// a socket; those of the system.
pub(crate) fn bind(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    refuse_used(path)?;
    let directory = with_suffix(path, &format!(".{}", std::process::id()));
    DirBuilder::new()
        .mode(PRIVATE_DIRECTORY)
        .create(&directory)?;
    let bound = bind_in(&directory, path);
    let removed = fs::remove_dir_all(&directory);
    let bound = bound?;
    removed?;
    Ok(bound)
}

fn bind_in(directory: &Path, path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    let made = directory.join("s");
    let listener = UnixListener::bind(&made)?;
    fs::set_permissions(&made, Permissions::from_mode(PRIVATE_SOCKET))?;
    let identity = identity(&made)?;
    fs::rename(&made, path)?;
    let path = path.to_owned();
    Ok((listener, SocketFile { path, identity }))
}

fn refuse_used(path: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else {
        return Ok(());
    };
    if !found.file_type().is_socket() {
        let text = format!("{} exists and is not a socket", path.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    match UnixStream::connect(path) {
        Ok(_) => {
            let text = format!("a program serves {} already", path.display());
            Err(io::Error::new(io::ErrorKind::AddrInUse, text))
        }
        Err(_) => Ok(()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let found = fs::symlink_metadata(path)?;
    Ok((found.dev(), found.ino()))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found == self.identity) {
            // A file that stays is replaced by the next program.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    /// A directory that is removed with this value.
    struct Directory(PathBuf);

    impl Directory {
        fn new() -> Self {
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let (process, next) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(format!("pintle-serving-{process}-{next}"));
            fs::create_dir(&path).expect("a new directory");
            Self(path)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[tokio::test]
    async fn only_its_user_may_connect_and_the_file_is_removed() {
        let directory = Directory::new();
        let path = directory.0.join("socket");
        let (_listener, file) = bind(&path).expect("a socket");
        let mode = fs::metadata(&path).expect("the file").permissions().mode();
        assert_eq!(mode & 0o777, PRIVATE_SOCKET);
        assert!(UnixStream::connect(&path).is_ok());
        drop(file);
        assert_eq!(fs::read_dir(&directory.0).expect("entries").count(), 0);
    }

    #[tokio::test]
    async fn a_served_socket_is_not_replaced_and_an_old_one_is() {
        let directory = Directory::new();
        let path = directory.0.join("socket");
        let first = bind(&path).expect("a socket");
        let second = bind(&path).expect_err("it is served");
        assert_eq!(second.kind(), io::ErrorKind::AddrInUse);
        let (listener, old) = first;
        drop(listener);
        let (_listener, file) = bind(&path).expect("an unused socket");
        drop(old);
        assert!(
            UnixStream::connect(&path).is_ok(),
            "the file of the new one stays"
        );
        drop(file);
    }

    #[tokio::test]
    async fn another_file_is_not_replaced() {
        let directory = Directory::new();
        let path = directory.0.join("notes");
        fs::write(&path, "text").expect("a file");
        let refused = bind(&path).expect_err("it is not a socket");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).expect("the file"), "text");
    }
}
