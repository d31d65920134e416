use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn credentials_are_stored_with_data_and_not_with_settings() {
    let var = |name: &str| match name {
        "HOME" => Some("/home/ada".to_owned()),
        "APPDATA" => Some("/Users/ada/AppData".to_owned()),
        _ => None,
    };
    for (platform, place) in [
        (Platform::Linux, "/home/ada/.local/share/pintle/credentials"),
        (
            Platform::Mac,
            "/home/ada/Library/Application Support/pintle/credentials",
        ),
    ] {
        assert_eq!(directory(platform, &var), Some(place.into()));
    }
    let elsewhere = |name: &str| (name == "XDG_DATA_HOME").then(|| "/data".to_owned());
    let place = directory(Platform::Linux, &elsewhere);
    assert_eq!(place, Some("/data/pintle/credentials".into()));
    let relative = |name: &str| (name == "XDG_DATA_HOME").then(|| "data".to_owned());
    assert_eq!(directory(Platform::Linux, &relative), None);
}

/// The directory of a test user, and a keyring in memory that can be locked.
struct Fixture {
    directory: PathBuf,
    ring: Arc<Ring>,
}

#[derive(Default)]
struct Ring {
    kept: MemoryCredentialStore,
    is_locked: AtomicBool,
}

impl CredentialStore for Ring {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        self.kept.load(key)
    }

    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        match self.is_locked.load(Ordering::SeqCst) {
            true => Err(io::Error::other("it is locked")),
            false => self.kept.save(key, text),
        }
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        self.kept.try_lock(key)
    }
}

impl Fixture {
    fn new(name: &str) -> Self {
        let own = format!("pintle-keep-{name}-{}", std::process::id());
        let directory = std::env::temp_dir().join(own);
        let _ = std::fs::remove_dir_all(&directory);
        Self {
            directory,
            ring: Arc::default(),
        }
    }

    fn store(&self, preferred: Option<Location>) -> UserStore {
        let ring: Arc<dyn CredentialStore> = self.ring.clone();
        UserStore {
            directory: self.directory.clone(),
            ring: Arc::new(move |_| Ok(ring.clone())),
            preferred,
        }
    }

    /// Returns the credentials as another command of this user opens them.
    fn credentials(&self, preferred: Option<Location>) -> UserCredentials {
        UserCredentials(Backend::User(self.store(preferred)))
    }

    fn load(&self, key: &str) -> Option<String> {
        let found = self.credentials(None).load(key).expect("read");
        found.map(|text| text.reveal().clone())
    }

    fn in_ring(&self, key: &str) -> bool {
        self.ring.load(key).expect("read").is_some()
    }

    fn is_in_a_file(&self, text: &str) -> bool {
        let files = std::fs::read_dir(&self.directory).expect("files");
        let mut files = files.map(|file| file.expect("a file").path());
        files.any(|file| std::fs::read_to_string(file).is_ok_and(|all| all.contains(text)))
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

#[test]
fn a_server_is_listed_while_it_has_credentials() {
    let fixture = Fixture::new("list");
    let credentials = fixture.credentials(None);
    assert!(credentials.servers().expect("read").is_empty());
    assert!(credentials.load("grant https://a").expect("read").is_none());
    assert!(
        !fixture.directory.exists(),
        "nothing is made before it is needed"
    );
    for server in ["https://a", "https://b"] {
        credentials
            .save(&format!("grant {server}"), Some(&"x".into()))
            .expect("kept");
    }
    credentials
        .save("clients", Some(&"x".into()))
        .expect("kept");
    let servers = ["https://a".to_owned(), "https://b".to_owned()];
    assert_eq!(credentials.servers().expect("read"), servers.into());
    credentials
        .save("grant https://a", None)
        .expect("forgotten");
    assert_eq!(
        credentials.servers().expect("read"),
        ["https://b".to_owned()].into()
    );
}

#[test]
fn entries_in_the_keyring_are_found_without_the_option_and_stay_there() {
    let fixture = Fixture::new("ring");
    let in_keyring = fixture.credentials(Some(Location::Keyring));
    for key in ["grant https://a", "clients"] {
        in_keyring
            .save(key, Some(&"s3cret-1".into()))
            .expect("kept");
        assert_eq!(fixture.load(key).as_deref(), Some("s3cret-1"), "{key}");
        // Another command renews the token without the keyring option.
        let renewing = fixture.credentials(None);
        renewing.save(key, Some(&"s3cret-2".into())).expect("kept");
        assert_eq!(fixture.load(key).as_deref(), Some("s3cret-2"), "{key}");
        assert!(
            fixture.in_ring(key) && !fixture.is_in_a_file("s3cret"),
            "{key}"
        );
    }
    let plain = fixture.credentials(None);
    assert_eq!(
        plain.servers().expect("read"),
        ["https://a".to_owned()].into()
    );
    plain
        .save("grant https://b", Some(&"in a file".into()))
        .expect("kept");
    assert!(fixture.is_in_a_file("in a file") && !fixture.in_ring("grant https://b"));
    for key in ["grant https://a", "grant https://b", "clients"] {
        plain.save(key, None).expect("forgotten");
        assert!(
            fixture.load(key).is_none() && !fixture.in_ring(key),
            "{key}"
        );
    }
    assert!(plain.servers().expect("read").is_empty());
}

#[test]
fn a_credential_moves_into_the_keyring_or_stays_in_its_file() {
    let fixture = Fixture::new("moves");
    let key = "grant https://a";
    let credentials = fixture.credentials(None);
    credentials
        .save(key, Some(&"s3cret-1".into()))
        .expect("kept");
    let in_keyring = fixture.credentials(Some(Location::Keyring));
    let is_locked = |is: bool| fixture.ring.is_locked.store(is, Ordering::SeqCst);
    is_locked(true);
    let refused = in_keyring.save(key, Some(&"s3cret-2".into()));
    assert!(refused.is_err());
    assert_eq!(fixture.load(key).as_deref(), Some("s3cret-1"));
    assert!(fixture.store(None).try_ring().is_err());
    is_locked(false);
    assert!(fixture.store(None).try_ring().is_ok());
    in_keyring
        .save(key, Some(&"s3cret-2".into()))
        .expect("kept");
    assert_eq!(fixture.load(key).as_deref(), Some("s3cret-2"));
    assert!(fixture.in_ring(key) && !fixture.is_in_a_file("s3cret"));
    is_locked(true);
    assert!(credentials.save(key, None).is_err(), "it is still there");
    assert_eq!(fixture.load(key).as_deref(), Some("s3cret-2"));
    assert_eq!(credentials.servers().expect("read").len(), 1);
}
