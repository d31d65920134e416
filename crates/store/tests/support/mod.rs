//! What the tests of stores share: waiting, threads, directories.
#![allow(dead_code, reason = "every test binary uses a part of it")]

pub(crate) mod threads;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_store::{Key, Namespace, StoreTime};

/// The namespace of the tests.
pub(crate) const SPACE: Namespace = Namespace::fixed("tests");

pub(crate) fn key(name: &str) -> Key {
    Key::new(&SPACE, name).expect("a proper name")
}

pub(crate) fn at(millis: u64) -> StoreTime {
    StoreTime::from_millis(millis)
}

/// A directory of its own that goes with the test.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "pintle-store-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        // What a test of another run with the same number left is not ours.
        std::fs::remove_dir_all(&path).ok();
        Self(path)
    }

    /// The only file with this ending.
    pub(crate) fn only(&self, extension: &str) -> PathBuf {
        let files = std::fs::read_dir(&self.0).expect("the directory is there");
        let mut found = files
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|it| it == extension));
        let only = found.next().expect("there is one");
        assert_eq!(found.next(), None, "there is one only");
        only
    }
}

impl std::ops::Deref for Directory {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for Directory {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
