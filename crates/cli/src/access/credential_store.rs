//! Where credentials are kept: one directory for its user alone, or the keyring of the system; and
//! lists of the servers they are for, and of what is in the keyring.

mod list;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use pintle::auth::{
    AuthError, CredentialStore, FileCredentials, KeyGuard, MemoryCredentials, Secret,
};

use super::AccessError;
use crate::args::AccessSettings;
use crate::exit::CliError;
use pintle_hosts::Platform;

/// In front of what is kept for a server.
const GRANT: &str = "grant ";

/// What is kept and forgotten at once, to see whether a keyring keeps anything.
const TRIAL: &str = "trial";

/// Keeps credentials. Clones are the same one.
#[derive(Clone)]
pub(crate) struct UserCredentials(Place);

#[derive(Clone)]
enum Place {
    /// As long as this run.
    Run(Arc<MemoryCredentials>),
    /// As long as the user wants.
    User(Shelf),
}

/// What is one user's.
#[derive(Clone)]
struct Shelf {
    /// Where files are, and locks; it is made when there is something to keep.
    directory: PathBuf,
    /// The keyring, with its locks among the files.
    ring: OpenRing,
    /// Where to put what is kept from now on; where it was, if that is not said.
    wish: Option<Home>,
}

type OpenRing = Arc<dyn Fn(FileCredentials) -> io::Result<Arc<dyn CredentialStore>> + Send + Sync>;

/// Where one text is. Closed: `pintle` knows no other place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    File,
    Keyring,
}

impl UserCredentials {
    /// As long as this run: for a client that asks for itself, and gets a token whenever it wants one.
    pub(super) fn for_this_run() -> Self {
        Self(Place::Run(Arc::default()))
    }

    /// For this user: in the keyring of the system where that was said, and in files otherwise.
    ///
    /// # Errors
    ///
    /// [`AccessError::NoDirectory`] if there is no place for files, [`AuthError`] if the keyring that is
    /// wanted keeps nothing: nobody should sign in for that.
    pub(crate) fn of_user(settings: &AccessSettings) -> Result<Self, CliError> {
        let var = |name: &str| std::env::var(name).ok();
        let shelf = Shelf {
            directory: directory(Platform::HERE, &var).ok_or(AccessError::NoDirectory)?,
            ring: Arc::new(system_ring),
            wish: settings.in_keyring.then_some(Home::Keyring),
        };
        if settings.in_keyring {
            let tried = shelf.try_ring();
            tried.map_err(|error| AuthError::StorageFailed(error.to_string().into()))?;
        }
        Ok(Self(Place::User(shelf)))
    }

    /// The addresses of the servers that something is kept for.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub(crate) fn servers(&self) -> io::Result<BTreeSet<String>> {
        match &self.0 {
            Place::User(shelf) => shelf.servers(),
            Place::Run(_) => Ok(BTreeSet::new()),
        }
    }
}

impl CredentialStore for UserCredentials {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        match &self.0 {
            Place::Run(memory) => memory.load(key),
            Place::User(shelf) => shelf.load(key),
        }
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        match (&self.0, text) {
            (Place::Run(memory), _) => memory.save(key, text),
            (Place::User(shelf), Some(text)) => shelf.keep(key, text),
            (Place::User(shelf), None) => shelf.forget(key),
        }
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        match &self.0 {
            Place::Run(memory) => memory.try_lock(key),
            Place::User(shelf) => shelf.files()?.try_lock(key),
        }
    }
}

impl Shelf {
    fn files(&self) -> io::Result<FileCredentials> {
        FileCredentials::at(&self.directory)
    }

    /// The files, if anything was ever kept.
    fn old_files(&self) -> io::Result<Option<FileCredentials>> {
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

    /// It is where it was put, whatever is wished now.
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        let Some(files) = self.old_files()? else {
            return Ok(None);
        };
        match home(&files, key)? {
            Home::File => files.load(key),
            Home::Keyring => (self.ring)(files)?.load(key),
        }
    }

    /// The lists are written first: what is not on them would never be found again.
    fn keep(&self, key: &str, text: &Secret) -> io::Result<()> {
        let files = self.files()?;
        if let Some(server) = key.strip_prefix(GRANT) {
            list::SERVERS.insert(&files, server)?;
        }
        let before = home(&files, key)?;
        if self.wish.unwrap_or(before) == Home::File {
            return files.save(key, Some(text));
        }
        list::IN_KEYRING.insert(&files, key)?;
        let kept = (self.ring)(files.clone()).and_then(|ring| ring.save(key, Some(text)));
        match (&kept, before) {
            (Ok(()), Home::File) => files.save(key, None)?,
            // What is in the file is all there is.
            (Err(_), Home::File) => list::IN_KEYRING.remove(&files, key)?,
            (_, Home::Keyring) => {}
        }
        kept
    }

    fn forget(&self, key: &str) -> io::Result<()> {
        let files = self.files()?;
        match home(&files, key)? {
            Home::File => files.save(key, None)?,
            Home::Keyring => {
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

/// Where a text is, or would be put.
fn home(files: &FileCredentials, key: &str) -> io::Result<Home> {
    match list::IN_KEYRING.read(files)?.contains(key) {
        true => Ok(Home::Keyring),
        false => Ok(Home::File),
    }
}

#[cfg(feature = "keyring")]
fn system_ring(locks: FileCredentials) -> io::Result<Arc<dyn CredentialStore>> {
    let ring = pintle::auth::KeyringCredentials::of("pintle", locks);
    Ok(Arc::new(ring))
}

#[cfg(not(feature = "keyring"))]
fn system_ring(_: FileCredentials) -> io::Result<Arc<dyn CredentialStore>> {
    let why = "this pintle was built without the feature `keyring`";
    Err(io::Error::new(io::ErrorKind::Unsupported, why))
}

/// Where programs of a platform keep what is theirs and not a setting: settings are shared and put
/// under version control, these must not be.
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
