//! Directories and keys for tests.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_sqlite::SqliteStore;
use pintle_store::conformance::Part;
use pintle_store::{Key, Namespace, StoreLimits, StoreTime};
use tokio::task::JoinSet;

pub(crate) const NOW: StoreTime = StoreTime::from_millis(0);

/// A directory of one test. It is removed with its value.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("pintle-sqlite-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("makes a directory");
        Self(path)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("state.sqlite")
    }
}

impl Deref for Directory {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // A directory that remains does not make another test fail.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, StoreLimits::default()).expect("opens")
}

pub(crate) fn key(name: &str) -> Key {
    Key::new(&Namespace::fixed("tests"), name).expect("a key")
}

/// Runs each part as a task, until all have ended.
pub(crate) fn together(parts: Vec<Part>) -> Part {
    Box::pin(async move {
        let tasks: JoinSet<()> = parts.into_iter().collect();
        tasks.join_all().await;
    })
}
