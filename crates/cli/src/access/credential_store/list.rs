//! Lists beside the credentials, each in its own file.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use pintle::auth::{CredentialStore as _, FileCredentialStore, KeyGuard};

/// The servers with stored credentials.
pub(super) const SERVERS: List = List("servers");

/// The names of the entries in the keyring.
pub(super) const IN_KEYRING: List = List("keyring");

/// Maximum number of entries of a list, so that it fits into one file. The first in order are dropped.
const MOST: usize = 4_096;

/// Number of attempts to lock a list that another process writes, and the pause between them.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// A list, named by the key of its file.
pub(super) struct List(&'static str);

impl List {
    pub(super) fn read(&self, files: &FileCredentialStore) -> io::Result<BTreeSet<String>> {
        let text = files.load(self.0)?;
        // A list that cannot be parsed counts as empty, because this program did not write it.
        let read = text.and_then(|text| serde_json::from_str(text.reveal()).ok());
        Ok(read.unwrap_or_default())
    }

    pub(super) fn insert(&self, files: &FileCredentialStore, entry: &str) -> io::Result<()> {
        self.change(files, |list| list.insert(entry.to_owned()))
    }

    pub(super) fn remove(&self, files: &FileCredentialStore, entry: &str) -> io::Result<()> {
        self.change(files, |list| list.remove(entry))
    }

    /// Changes the list; `change` returns true if it changed an entry.
    fn change(
        &self,
        files: &FileCredentialStore,
        change: impl FnOnce(&mut BTreeSet<String>) -> bool,
    ) -> io::Result<()> {
        let _lock = self.lock(files)?;
        let mut list = self.read(files)?;
        if !change(&mut list) {
            return Ok(());
        }
        while list.len() > MOST {
            list.pop_first();
        }
        let text = serde_json::to_string(&list).map_err(io::Error::from)?;
        files.save(self.0, Some(&text.into()))
    }

    fn lock(&self, files: &FileCredentialStore) -> io::Result<KeyGuard> {
        for _ in 0..TRIES {
            if let Some(guard) = files.try_lock(self.0)? {
                return Ok(guard);
            }
            std::thread::sleep(PAUSE);
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}
