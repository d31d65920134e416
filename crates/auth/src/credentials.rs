//! Storage of tokens and registrations.
//!
//! Stored tokens name their issuer, and registrations are stored by issuer. The client never sends
//! the credentials of one issuer to another.

mod file;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
mod record;

use std::io;
use std::sync::Arc;

use crate::secret::Secret;

pub use file::FileCredentialStore;
#[cfg(feature = "keyring")]
pub use keyring::{KeyringCredentialStore, KeyringError};
pub use memory::MemoryCredentialStore;
pub(crate) use record::{Clients, TokensRecord};

/// Exclusive right to renew the text of a key. A drop releases it.
pub type KeyGuard = Box<dyn Send>;

/// Stores texts by key. The methods may block.
///
/// Requests and sign-ins call it on the runtime's threads for blocking work, so they do not hold up
/// other tasks.
pub trait CredentialStore: Send + Sync + 'static {
    /// Returns the text of a key.
    ///
    /// # Errors
    ///
    /// The error of the storage.
    fn load(&self, key: &str) -> io::Result<Option<Secret>>;

    /// Stores a text, or deletes it. A concurrent read returns the complete old or the complete new
    /// text.
    ///
    /// # Errors
    ///
    /// The error of the storage.
    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()>;

    /// Returns the right to renew the text of a key, or `None` while another task or process that
    /// shares the store has it.
    ///
    /// # Errors
    ///
    /// The error of the storage.
    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>>;
}

impl<S: CredentialStore + ?Sized> CredentialStore for Arc<S> {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        (**self).load(key)
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        (**self).save(key, text)
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        (**self).try_lock(key)
    }
}
