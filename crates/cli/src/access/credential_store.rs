//! Stored credentials: in a directory that only the user may read, or in the keyring of the system.
//!
//! Two lists lie beside the files: the servers with credentials, and the entries in the keyring.

mod list;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pintle::auth::{
    AuthError, CredentialStore, FileCredentialStore, KeyGuard, MemoryCredentialStore, Secret,
};

use super::AccessError;
use crate::args::AccessSettings;
use crate::exit::CliError;
use pintle_hosts::Platform;

/// Prefix of the key of tokens; the URL of the server follows.
const GRANT: &str = "grant ";

/// Key and value of an entry that is stored and removed at once, to test the keyring.
const TRIAL: &str = "trial";

/// The credentials that this run can use. Clones share one store.
#[derive(Clone)]
pub(crate) struct UserCredentials(Backend);

#[derive(Clone)]
enum Backend {
    /// In memory, until this run ends.
    Run(MemoryCredentialStore),
    /// In files or the keyring, until the user signs out.
    User(UserStore),
}

/// The stored credentials of one user.
#[derive(Clone)]
struct UserStore {
    /// The directory of the files and the locks; created with the first credential.
    directory: PathBuf,
    /// Opens the keyring. Its locks are files of this directory.
    ring: OpenRing,
    /// The place of new entries. If absent, an entry stays where it is.
    preferred: Option<Location>,
}

type OpenRing =
    Arc<dyn Fn(FileCredentialStore) -> io::Result<Arc<dyn CredentialStore>> + Send + Sync>;

/// The place of one entry. Closed: there is no third place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Location {
    File,
    Keyring,
}

impl UserCredentials {
    /// Stores credentials for this run only. A client that signs in as itself can get a token at any time.
    pub(super) fn for_this_run() -> Self {
        Self(Backend::Run(MemoryCredentialStore::default()))
    }

    /// Stores credentials for this user: in the keyring if the settings request it, otherwise in files.
    ///
    /// # Errors
    ///
    /// [`AccessError::NoDirectory`] without a directory for files. [`AuthError`] if the requested keyring
    /// stores nothing, because a sign-in would be lost.
    pub(crate) fn of_user(settings: &AccessSettings) -> Result<Self, CliError> {
        let var = |name: &str| std::env::var(name).ok();
        let store = UserStore {
            directory: directory(Platform::HERE, &var).ok_or(AccessError::NoDirectory)?,
            ring: Arc::new(system_ring),
            preferred: settings.in_keyring.then_some(Location::Keyring),
        };
        if settings.in_keyring {
            let tried = store.try_ring();
            tried.map_err(|error| AuthError::StorageFailed(error.to_string().into()))?;
        }
        Ok(Self(Backend::User(store)))
    }

    /// Returns the URLs of the servers with stored credentials.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(crate) fn servers(&self) -> io::Result<BTreeSet<String>> {
        match &self.0 {
            Backend::User(store) => store.servers(),
            Backend::Run(_) => Ok(BTreeSet::new()),
        }
    }
}

impl CredentialStore for UserCredentials {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        match &self.0 {
            Backend::Run(memory) => memory.load(key),
            Backend::User(store) => store.load(key),
        }
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        match (&self.0, text) {
            (Backend::Run(memory), _) => memory.save(key, text),
            (Backend::User(store), Some(text)) => store.insert(key, text),
            (Backend::User(store), None) => store.remove(key),
        }
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        match &self.0 {
            Backend::Run(memory) => memory.try_lock(key),
            Backend::User(store) => store.files()?.try_lock(key),
        }
    }
}

impl UserStore {
    fn files(&self) -> io::Result<FileCredentialStore> {
        FileCredentialStore::at(&self.directory)
    }

    /// Returns the files, or nothing if no credential was ever stored.
    fn old_files(&self) -> io::Result<Option<FileCredentialStore>> {
        match self.directory.is_dir() {
            true => self.files().map(Some),
            false => Ok(None),
        }
    }

    fn servers(&self) -> io::Result<BTreeSet<String>> {
        match self.old_files()? {
            Some(files) => list::SERVERS.read(&files),
            None => Ok(BTreeSet::new()),
        }
    }

    /// Reads an entry at the place where it was stored; the preferred place does not matter.
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        let Some(files) = self.old_files()? else {
            return Ok(None);
        };
        match location(&files, key)? {
            Location::File => files.load(key),
            Location::Keyring => (self.ring)(files)?.load(key),
        }
    }

    /// Writes the lists first, because an entry that they omit would never be found again.
    fn insert(&self, key: &str, text: &Secret) -> io::Result<()> {
        let files = self.files()?;
        if let Some(server) = key.strip_prefix(GRANT) {
            list::SERVERS.insert(&files, server)?;
        }
        let before = location(&files, key)?;
        if self.preferred.unwrap_or(before) == Location::File {
            return files.save(key, Some(text));
        }
        list::IN_KEYRING.insert(&files, key)?;
        let kept = (self.ring)(files.clone()).and_then(|ring| ring.save(key, Some(text)));
        match (&kept, before) {
            (Ok(()), Location::File) => files.save(key, None)?,
            // The keyring has stored nothing, so the file still has the entry.
            (Err(_), Location::File) => list::IN_KEYRING.remove(&files, key)?,
            (_, Location::Keyring) => {}
        }
        kept
    }

    fn remove(&self, key: &str) -> io::Result<()> {
        let files = self.files()?;
        match location(&files, key)? {
            Location::File => files.save(key, None)?,
            Location::Keyring => {
                (self.ring)(files.clone())?.save(key, None)?;
                list::IN_KEYRING.remove(&files, key)?;
            }
        }
        match key.strip_prefix(GRANT) {
            Some(server) => list::SERVERS.remove(&files, server),
            None => Ok(()),
        }
    }

    fn try_ring(&self) -> io::Result<()> {
        let ring = (self.ring)(self.files()?)?;
        ring.save(TRIAL, Some(&TRIAL.into()))?;
        ring.save(TRIAL, None)
    }
}

/// Returns the place of an entry; a new one belongs in a file.
fn location(files: &FileCredentialStore, key: &str) -> io::Result<Location> {
    match list::IN_KEYRING.read(files)?.contains(key) {
        true => Ok(Location::Keyring),
        false => Ok(Location::File),
    }
}

#[cfg(feature = "keyring")]
fn system_ring(locks: FileCredentialStore) -> io::Result<Arc<dyn CredentialStore>> {
    let ring = pintle::auth::KeyringCredentialStore::of("pintle", locks);
    Ok(Arc::new(ring))
}

#[cfg(not(feature = "keyring"))]
fn system_ring(_: FileCredentialStore) -> io::Result<Arc<dyn CredentialStore>> {
    let why = "this pintle was built without the feature `keyring`";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

/// Returns the data directory of the platform for credentials. A settings directory would be wrong, because
/// users share settings and put them under version control.
fn directory(platform: Platform, var: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let path = |name| {
        let path = PathBuf::from(var(name)?);
        path.is_absolute().then_some(path)
    };
    let data = match platform {
        Platform::Windows => path("APPDATA"),
        Platform::Mac => path("HOME").map(|home| home.join("Library/Application Support")),
        Platform::Linux => {
            let home = || path("HOME").map(|home| home.join(".local/share"));
            path("XDG_DATA_HOME").or_else(home)
        }
    };
    Some(data?.join("pintle").join("credentials"))
}
