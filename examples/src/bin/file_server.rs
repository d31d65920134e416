//! The files of a folder as resources, with subscriptions: a client that subscribed to a file is notified when it changes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pintle::model::ResourceContents;
use pintle::prelude::*;
use pintle::server::RelativePath;
use tokio::task::spawn_blocking;

/// Maximum size of a file that is sent, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of files that are watched and completed.
const MAX_FILES: usize = 1_000;

/// The served folder. Its path has no symbolic links.
struct Folder(PathBuf);

impl Folder {
    fn open(path: &Path) -> io::Result<Self> {
        path.canonicalize().map(Self)
    }

    /// Reads a file. A path through a symbolic link may leave the folder, so the real path is checked.
    fn read(&self, path: &RelativePath) -> io::Result<Vec<u8>> {
        let file = self.0.join(path.as_str()).canonicalize()?;
        if !file.starts_with(&self.0) || !file.is_file() {
            return Err(ErrorKind::NotFound.into());
        }
        let mut bytes = Vec::new();
        let mut reader = fs::File::open(file)?.take(MAX_BYTES + 1);
        match reader.read_to_end(&mut bytes)? as u64 > MAX_BYTES {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(bytes),
        }
    }

    /// Returns the version of each file by its URI. Symbolic links are not followed.
    fn versions(&self) -> io::Result<BTreeMap<String, Version>> {
        let mut versions = BTreeMap::new();
        let mut open = vec![self.0.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let data = entry.metadata()?;
                if data.is_dir() {
                    open.push(entry.path());
                } else if data.is_file() && versions.len() < MAX_FILES {
                    let version = (data.modified()?, data.len());
                    versions.extend(self.uri(&entry.path()).map(|uri| (uri, version)));
                }
            }
        }
        Ok(versions)
    }

    /// Returns the URI of a file, if its name is text.
    fn uri(&self, file: &Path) -> Option<String> {
        let path = file.strip_prefix(&self.0).ok()?.to_str()?;
        Some(format!("folder:///{}", path.replace('\\', "/")))
    }
}

/// The time of the last change, and the size.
type Version = (SystemTime, u64);

/// A file of the folder.
#[resource("folder:///{+path}", title = "File", complete(path = paths))]
async fn file(path: RelativePath, folder: State<Folder>) -> io::Result<ResourceContents> {
    let uri = format!("folder:///{}", path.as_str());
    let read = spawn_blocking(move || folder.read(&path)).await??;
    Ok(match String::from_utf8(read) {
        Ok(text) => ResourceContents::text(uri, text),
        Err(binary) => ResourceContents::blob(uri, binary.as_bytes()),
    })
}

/// Completes the path of a file.
fn paths(typed: String, folder: State<Folder>) -> Vec<String> {
    let versions = folder.versions().unwrap_or_default();
    let paths = versions
        .keys()
        .filter_map(|uri| uri.strip_prefix("folder:///"));
    let paths = paths.filter(|path| path.starts_with(&typed));
    paths.map(str::to_owned).collect()
}

/// Reads the folder in an interval, and notifies the subscribers of changed and removed files.
async fn watch(folder: Folder, server: ServerHandle, interval: Duration) -> io::Result<()> {
    let mut before = folder.versions()?;
    let mut ticks = tokio::time::interval(interval);
    loop {
        ticks.tick().await;
        let now = folder.versions()?;
        let changed = now
            .iter()
            .filter(|(uri, version)| before.get(*uri) != Some(version));
        let removed = before.keys().filter(|uri| !now.contains_key(*uri));
        for uri in changed.map(|(uri, _)| uri).chain(removed) {
            server.changes().resource(uri);
        }
        before = now;
    }
}

fn server(folder: Folder) -> Server {
    Server::new("folder", env!("CARGO_PKG_VERSION"))
        .state(folder)
        .resource::<file>()
        .resource_updates()
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let path = std::env::var_os("FOLDER").map_or_else(|| ".".into(), PathBuf::from);
    let server = server(Folder::open(&path)?);
    let watched = watch(
        Folder::open(&path)?,
        server.handle(),
        Duration::from_secs(1),
    );
    tokio::select! {
        served = server.run() => Ok(served?),
        ended = watched => Ok(ended?),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pintle::prelude::*;
    use pintle::proto::Change;
    use pintle_examples::TemporaryFolder;
    use tokio::time::timeout;

    use super::{Folder, MAX_BYTES, fs, server, watch};

    async fn text(client: &Client, path: &str) -> pintle::Result<String> {
        let read = client.read_resource(&format!("folder:///{path}")).await?;
        Ok(serde_json::to_value(&read.contents)?[0].to_string())
    }

    #[tokio::test]
    async fn files_of_the_folder_are_read_and_no_others() -> pintle::Result<()> {
        let folder = TemporaryFolder::new()?;
        fs::create_dir(folder.path().join("served"))?;
        fs::write(folder.path().join("secret.txt"), "secret")?;
        fs::write(folder.path().join("served/a.txt"), "hello")?;
        fs::write(folder.path().join("served/b.bin"), [0xff, 0])?;
        fs::write(
            folder.path().join("served/large"),
            vec![0; MAX_BYTES as usize + 1],
        )?;
        #[cfg(unix)]
        std::os::unix::fs::symlink("../secret.txt", folder.path().join("served/link"))?;

        let served = Folder::open(&folder.path().join("served"))?;
        let client = Client::connect(server(served)).await?;
        assert!(text(&client, "a.txt").await?.contains(r#""text":"hello""#));
        assert!(text(&client, "b.bin").await?.contains(r#""blob":"/wA=""#));
        for path in [
            "../secret.txt",
            "..%2Fsecret.txt",
            "link",
            "large",
            "absent",
        ] {
            let refused = text(&client, path).await;
            assert!(refused.is_err(), "{path}: {refused:?}");
        }
        Ok(())
    }

    #[tokio::test]
    async fn a_subscriber_is_notified_of_a_changed_file() -> pintle::Result<()> {
        let folder = TemporaryFolder::new()?;
        let file = folder.path().join("log.txt");
        fs::write(&file, "one")?;
        let server = server(Folder::open(folder.path())?);
        let watched = Folder::open(folder.path())?;
        let watching = tokio::spawn(watch(watched, server.handle(), Duration::from_millis(5)));
        let client = Client::connect(server).await?;
        let mut subscription = client.subscribe("folder:///log.txt").await?;

        fs::write(&file, "one two")?;
        let change = timeout(Duration::from_secs(30), subscription.next()).await?;
        assert_eq!(change, Some(Change::Resource("folder:///log.txt".into())));
        assert!(text(&client, "log.txt").await?.contains("one two"));
        watching.abort();
        Ok(())
    }
}
