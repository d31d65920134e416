//! Where credentials are kept: one directory for its user alone, and a list of the servers they are
//! for.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pintle::auth::{CredentialStore, FileCredentials, KeyGuard, MemoryCredentials, Secret};

use crate::exit::Failure;
use crate::hosts::Platform;

/// What the list of servers is kept as.
const SERVERS: &str = "servers";

/// In front of what is kept for a server.
const GRANT: &str = "grant ";

/// How many servers the list has at most; it takes no more than a file of credentials may hold.
const MOST: usize = 4_096;

/// How often the list is asked for while somebody else writes it, and how long in between.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(10);

/// Keeps credentials. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Keep(Place);

#[derive(Clone)]
enum Place {
    /// As long as this run.
    Run(Arc<MemoryCredentials>),
    /// In files of a directory, which is made when there is something to keep.
    Files(PathBuf),
}

impl Keep {
    /// As long as this run: for a client that asks for itself, and gets a token whenever it wants one.
    pub(super) fn for_this_run() -> Self {
        Self(Place::Run(Arc::default()))
    }

    /// In the directory of this user.
    ///
    /// # Errors
    ///
    /// [`Failure::Homeless`] if there is none.
    pub(crate) fn of_user() -> Result<Self, Failure> {
        let var = |name: &str| std::env::var(name).ok();
        match directory(Platform::HERE, &var) {
            Some(directory) => Ok(Self(Place::Files(directory))),
            None => Err(Failure::Homeless),
        }
    }

    /// The addresses of the servers that something is kept for.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub(crate) fn servers(&self) -> io::Result<BTreeSet<String>> {
        let Place::Files(directory) = &self.0 else {
            return Ok(BTreeSet::new());
        };
        match directory.is_dir() {
            true => read(&FileCredentials::at(directory)?),
            false => Ok(BTreeSet::new()),
        }
    }
}

impl CredentialStore for Keep {
    fn load(&self, key: &str) -> io::Result<Option<Secret>> {
        match &self.0 {
            Place::Run(memory) => memory.load(key),
            Place::Files(directory) if directory.is_dir() => {
                FileCredentials::at(directory)?.load(key)
            }
            Place::Files(_) => Ok(None),
        }
    }

    /// The list is written first: what is not on it would never be found again.
    fn save(&self, key: &str, text: Option<&Secret>) -> io::Result<()> {
        let directory = match &self.0 {
            Place::Run(memory) => return memory.save(key, text),
            Place::Files(directory) => directory,
        };
        let files = FileCredentials::at(directory)?;
        let server = key.strip_prefix(GRANT);
        if let (Some(server), Some(_)) = (server, text) {
            list(&files, |servers| servers.insert(server.to_owned()))?;
        }
        files.save(key, text)?;
        if let (Some(server), None) = (server, text) {
            list(&files, |servers| servers.remove(server))?;
        }
        Ok(())
    }

    fn try_lock(&self, key: &str) -> io::Result<Option<KeyGuard>> {
        match &self.0 {
            Place::Run(memory) => memory.try_lock(key),
            Place::Files(directory) => FileCredentials::at(directory)?.try_lock(key),
        }
    }
}

fn read(files: &FileCredentials) -> io::Result<BTreeSet<String>> {
    let text = files.load(SERVERS)?;
    // A list that cannot be read is none of ours.
    let read = text.and_then(|text| serde_json::from_str(text.reveal()).ok());
    Ok(read.unwrap_or_default())
}

/// Changes the list; `change` says whether it did.
fn list(
    files: &FileCredentials,
    change: impl FnOnce(&mut BTreeSet<String>) -> bool,
) -> io::Result<()> {
    let _alone = alone(files)?;
    let mut servers = read(files)?;
    if !change(&mut servers) {
        return Ok(());
    }
    while servers.len() > MOST {
        servers.pop_first();
    }
    let text = serde_json::to_string(&servers).map_err(io::Error::from)?;
    files.save(SERVERS, Some(&text.into()))
}

fn alone(files: &FileCredentials) -> io::Result<KeyGuard> {
    for _ in 0..TRIES {
        if let Some(guard) = files.try_lock(SERVERS)? {
            return Ok(guard);
        }
        std::thread::sleep(PAUSE);
    }
    Err(io::ErrorKind::TimedOut.into())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_lie_with_data_and_not_with_settings() {
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

    #[test]
    fn servers_are_listed_for_as_long_as_something_is_kept() {
        let own = format!("pintle-keep-{}", std::process::id());
        let directory = std::env::temp_dir().join(own);
        let keep = Keep(Place::Files(directory.clone()));
        assert!(keep.servers().expect("read").is_empty());
        assert!(keep.load("grant https://a").expect("read").is_none());
        assert!(!directory.exists(), "nothing is made before it is needed");
        for server in ["https://a", "https://b"] {
            keep.save(&format!("grant {server}"), Some(&"x".into()))
                .expect("kept");
        }
        keep.save("clients", Some(&"x".into())).expect("kept");
        let servers = ["https://a".to_owned(), "https://b".to_owned()];
        assert_eq!(keep.servers().expect("read"), servers.into());
        keep.save("grant https://a", None).expect("forgotten");
        assert_eq!(
            keep.servers().expect("read"),
            ["https://b".to_owned()].into()
        );
        std::fs::remove_dir_all(directory).expect("removed");
    }
}
