//! Where tokens and registrations are kept.
//!
//! What is kept of a server names its issuer; what was registered is kept by issuer. Nothing that
//! one issuer gave is ever taken for another's.

mod file;
#[cfg(feature = "keyring")]
mod keyring;
mod record;

use std::collections::BTreeMap;
use std::io;

use pintle_runtime::sync::Mutex;

use crate::secret::Secret;

pub use file::FileCredentials;
#[cfg(feature = "keyring")]
pub use keyring::{KeyringCredentials, KeyringError};
pub(crate) use record::{Clients, GrantRecord};

/// The right to renew what is kept under a key, until it is dropped.
pub type KeyGuard = Box<dyn Send>;

/// Keeps texts by key. What it does takes a moment and blocks for that long.
///
/// Requests and sign-ins call it on the runtime's threads for blocking work, so they do not hold up
/// other tasks.
pub trait CredentialStore: Send + Sync + 'static {
    /// What is kept under a key.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    fn load(&self, key: &str) -> io::Result<Option<Secret>>;

    /// Keeps a text, or forgets what is kept. Whoever reads meanwhile sees the old or the new one,
    /// whole.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()>;

    /// The right to renew what is kept under a key; none while somebody else has it, in whichever
    /// process that shares the store.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>>;
}

/// Keeps credentials for as long as the process lives. One process has one client for a server, or
/// shares this between them.
#[derive(Debug, Default)]
pub struct MemoryCredentials {
    texts: Mutex<BTreeMap<Box<str>, Secret>>,
}

impl CredentialStore for MemoryCredentials {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        let texts = self.texts.lock();
        Ok(texts.get(key).cloned())
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        let mut texts = self.texts.lock();
        match text {
            Some(text) => texts.insert(key.into(), text.clone()),
            None => texts.remove(key),
        };
        Ok(())
    }

    /// There is nobody else to keep out.
    fn try_lock(&self, _: &str) -> io::Result<Option<KeyGuard>> {
        Ok(Some(Box::new(())))
    }
}
