//! Credentials in the keyring of the system.
//!
//! On macOS and Windows that is where the system keeps the passwords of a user. On Linux it is the
//! keyring of the kernel: it is in no file, belongs to the user, and is empty after a restart.

use std::fmt;
use std::io;
use std::sync::Arc;

use ring::digest::{SHA256, digest};

use crate::credentials::{CredentialStore, FileCredentialStore, KeyGuard};
use crate::secret::Secret;

/// Keeps credentials in the keyring of the system, under the name of a program.
///
/// A keyring has no locks: those are files in a directory, and nothing else is in it. Two
/// directories are two sets of credentials.
#[derive(Clone)]
pub struct KeyringCredentialStore {
    ring: Arc<dyn Ring>,
    locks: FileCredentialStore,
}

/// Error of a keyring operation. It is the inner error of the [`io::Error`] that
/// [`KeyringCredentialStore`] returns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// The keyring is missing or locked; holds the message of the system.
    #[error("the keyring of this system cannot be used ({0}); store credentials in files instead")]
    Unusable(Box<str>),
    /// The credential has more bytes than the keyring accepts.
    #[error(
        "the keyring of this system does not accept {0} bytes; store credentials in files instead"
    )]
    TooLong(usize),
    /// The entry of the keyring is not a credential of this program.
    #[error("the keyring entry is not a credential; sign in again")]
    Unreadable,
}

impl KeyringCredentialStore {
    /// Keeps credentials under the name of a program, and locks in a directory.
    pub fn of(program: &str, locks: FileCredentialStore) -> Self {
        let program = program.into();
        Self::over(Arc::new(SystemRing { program }), locks)
    }

    /// Keeps credentials in another ring than the system's.
    fn over(ring: Arc<dyn Ring>, locks: FileCredentialStore) -> Self {
        Self { ring, locks }
    }

    /// Returns the name of an entry: a hash, because other programs can read names in a keyring.
    fn name(&self, key: &str) -> String {
        let place = self.locks.path(key, "key");
        let hash = digest(&SHA256, place.as_os_str().as_encoded_bytes());
        let bytes = hash.as_ref().iter();
        bytes.map(|byte| format!("{byte:02x}")).collect()
    }
}

impl CredentialStore for KeyringCredentialStore {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        match self.ring.get(&self.name(key)) {
            // It must not keep its user from the next sign-in, which replaces it.
            Err(KeyringError::Unreadable) => {
                tracing::warn!("an entry of the keyring is not a credential and is ignored");
                Ok(None)
            }
            read => read.map_err(io::Error::other),
        }
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        let name = self.name(key);
        let done = match text {
            Some(text) => self.ring.set(&name, text),
            None => self.ring.remove(&name),
        };
        done.map_err(io::Error::other)
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        self.locks.try_lock(key)
    }
}

impl fmt::Debug for KeyringCredentialStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyringCredentialStore")
            .field("locks", &self.locks)
            .finish_non_exhaustive()
    }
}

/// A place for texts by name.
trait Ring: Send + Sync {
    /// Returns the text of a name.
    fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError>;

    /// Stores a text and replaces the previous one.
    fn set(&self, name: &str, text: &Secret) -> Result<(), KeyringError>;

    /// Deletes the text of a name. A missing text is not an error.
    fn remove(&self, name: &str) -> Result<(), KeyringError>;
}

/// Entries of one program in the keyring of the system.
struct SystemRing {
    program: Box<str>,
}

impl SystemRing {
    /// An entry, whether anything is kept there or not.
    fn entry(&self, name: &str) -> Result<keyring::Entry, KeyringError> {
        let open =
            || keyring::Entry::new(&self.program, name).map_err(|error| keyring_error(&error, 0));
        // On Linux, the first entry of a thread creates a session keyring with the keyring of the
        // user. It then searches the previous keyring of the thread, and finds nothing there.
        #[cfg(target_os = "linux")]
        open()?;
        open()
    }
}

impl Ring for SystemRing {
    fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
        match self.entry(name)?.get_secret() {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text.into())),
                Err(_) => Err(KeyringError::Unreadable),
            },
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(keyring_error(&error, 0)),
        }
    }

    fn set(&self, name: &str, text: &Secret) -> Result<(), KeyringError> {
        let bytes = text.reveal().as_bytes();
        let kept = self.entry(name)?.set_secret(bytes);
        kept.map_err(|error| keyring_error(&error, bytes.len()))
    }

    fn remove(&self, name: &str) -> Result<(), KeyringError> {
        match self.entry(name)?.delete_credential() {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(keyring_error(&error, 0)),
        }
    }
}

/// Converts an error of a keyring, without the stored text.
fn keyring_error(error: &keyring::Error, length: usize) -> KeyringError {
    match error {
        keyring::Error::TooLong(..) => KeyringError::TooLong(length),
        keyring::Error::BadEncoding(_) | keyring::Error::Ambiguous(_) => KeyringError::Unreadable,
        other => KeyringError::Unusable(other.to_string().into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::sync::Mutex;

    use super::*;

    /// A ring in memory, which takes eight bytes under one name.
    #[derive(Default)]
    struct Kept(Mutex<BTreeMap<String, Secret>>);

    impl Ring for Kept {
        fn get(&self, name: &str) -> Result<Option<Secret>, KeyringError> {
            Ok(self.0.lock().expect("whole").get(name).cloned())
        }

        fn set(&self, name: &str, text: &Secret) -> Result<(), KeyringError> {
            if text.reveal().len() > 8 {
                return Err(KeyringError::TooLong(text.reveal().len()));
            }
            let mut kept = self.0.lock().expect("whole");
            kept.insert(name.to_owned(), text.clone());
            Ok(())
        }

        fn remove(&self, name: &str) -> Result<(), KeyringError> {
            self.0.lock().expect("whole").remove(name);
            Ok(())
        }
    }

    fn locks(name: &str) -> (PathBuf, FileCredentialStore) {
        let own = format!("pintle-auth-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(own);
        let _ = std::fs::remove_dir_all(&path);
        let locks = FileCredentialStore::at(&path).expect("a directory");
        (path, locks)
    }

    const KEY: &str = "grant https://a";

    // spec: 2025-11-25 AUTH-80
    // spec: 2026-07-28 N-AUTH-50
    // hardening: H-45
    #[test]
    fn credentials_of_a_keyring_are_not_in_a_file() {
        let (path, files) = locks("ring");
        let ring = Arc::new(Kept::default());
        let store = KeyringCredentialStore::over(ring.clone(), files);
        store.save(KEY, Some(&"s3cret".into())).expect("kept");
        let found = store.load(KEY).expect("read").expect("kept");
        assert!(found.is("s3cret"));
        let guard = store.try_lock(KEY).expect("a lock").expect("free");
        assert!(store.try_lock(KEY).expect("a lock").is_none());
        drop(guard);
        for file in std::fs::read_dir(&path).expect("files") {
            let text = std::fs::read_to_string(file.expect("a file").path()).expect("text");
            assert!(text.is_empty());
        }
        let names: Vec<String> = ring.0.lock().expect("whole").keys().cloned().collect();
        assert!(names.len() == 1 && !names[0].contains("https"), "{names:?}");
        assert!(!format!("{store:?}").contains("s3cret"));

        store.save(KEY, None).expect("forgotten");
        store.save(KEY, None).expect("forgotten twice");
        assert!(store.load(KEY).expect("read").is_none());
        std::fs::remove_dir_all(&path).expect("removed");
    }

    #[test]
    fn a_credential_too_long_for_a_keyring_is_rejected_and_not_shown() {
        let (path, files) = locks("ring-full");
        let store = KeyringCredentialStore::over(Arc::new(Kept::default()), files);
        store
            .save(KEY, Some(&"8 bytes!".into()))
            .expect("it is not too long");
        let refused = store.save(KEY, Some(&"9 bytes !".into()));
        let refused = refused.expect_err("too long");
        let inner = refused.get_ref().and_then(|error| error.downcast_ref());
        assert_eq!(inner, Some(&KeyringError::TooLong(9)));
        assert!(!refused.to_string().contains("9 bytes !"), "{refused}");
        assert!(store.load(KEY).expect("read").expect("kept").is("8 bytes!"));
        std::fs::remove_dir_all(&path).expect("removed");
    }

    /// A ring whose entry was not written by this program.
    struct Foreign;

    impl Ring for Foreign {
        fn get(&self, _: &str) -> Result<Option<Secret>, KeyringError> {
            Err(KeyringError::Unreadable)
        }

        fn set(&self, _: &str, _: &Secret) -> Result<(), KeyringError> {
            Ok(())
        }

        fn remove(&self, _: &str) -> Result<(), KeyringError> {
            Ok(())
        }
    }

    #[test]
    fn an_entry_that_is_not_a_credential_is_ignored() {
        let (path, files) = locks("ring-foreign");
        let store = KeyringCredentialStore::over(Arc::new(Foreign), files);
        assert!(store.load(KEY).expect("read").is_none());
        std::fs::remove_dir_all(&path).expect("removed");
    }

    #[test]
    fn two_directories_are_two_sets_of_credentials() {
        let ring = Arc::new(Kept::default());
        let [one, two] = ["ring-one", "ring-two"].map(|name| {
            let (path, files) = locks(name);
            (path, KeyringCredentialStore::over(ring.clone(), files))
        });
        one.1.save(KEY, Some(&"s3cret".into())).expect("kept");
        assert!(two.1.load(KEY).expect("read").is_none());
        for (path, _) in [one, two] {
            std::fs::remove_dir_all(path).expect("removed");
        }
    }

    // What a process kept was not found by the first look of another one, and was by the second.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_first_read_of_a_thread_finds_credentials_of_another_thread() {
        fn on_new_thread<T: Send + 'static>(look: fn(SystemRing) -> T) -> T {
            let program = format!("pintle-test-{}", std::process::id()).into();
            let thread = std::thread::spawn(move || look(SystemRing { program }));
            thread.join().expect("no panic")
        }
        match on_new_thread(|ring| ring.set("k", &"s3cret".into())) {
            Ok(()) => {
                let found = on_new_thread(|ring| ring.get("k")).expect("read");
                assert!(found.expect("kept").is("s3cret"));
                on_new_thread(|ring| ring.remove("k")).expect("forgotten");
            }
            // The kernel provides no keyring here. The error must not be that of a missing entry.
            Err(none) => {
                assert!(none.to_string().contains("in files instead"), "{none}");
                assert_ne!(none, keyring_error(&keyring::Error::NoEntry, 0));
            }
        }
    }

    #[test]
    fn keyring_errors_do_not_contain_credentials() {
        let held = keyring::Error::BadEncoding(b"s3cret".to_vec());
        assert_eq!(keyring_error(&held, 6), KeyringError::Unreadable);
        let none = keyring::Error::NoStorageAccess("it is locked".into());
        let text = keyring_error(&none, 0).to_string();
        assert!(text.contains("locked") && text.contains("files"), "{text}");
    }
}
