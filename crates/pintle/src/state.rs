//! The state that replicas share, by URL.

mod error;
mod url;

use std::sync::Arc;

use pintle_keys::{Keys, KeysError, Sealed};
use pintle_server::StateBackend;
use pintle_store::{MemoryStore, Store, StoreLimits};

pub use error::{StateError, StateErrorKind};
use url::Engine;
pub use url::StateUrl;

/// The environment variable with the URL of the state.
const STATE: &str = "PINTLE_STATE";
/// The environment variable with the root keys.
const ROOT_KEYS: &str = "PINTLE_STATE_KEY";

/// Opens the state that the replicas of a server share, for
/// [`Server::state_backend`](crate::server::Server::state_backend).
///
/// | URL | store | feature |
/// |---|---|---|
/// | `memory:` | the memory of this process | |
/// | `file:DIR` | a directory, for one process | `file-store` |
/// | `sqlite:FILE` | a SQLite database, for the processes of one host | `sqlite` |
/// | `redis://…`, `rediss://…` | Redis or Valkey | `redis` |
/// | `postgres://…` | PostgreSQL | `postgres` |
///
/// If the environment variable `PINTLE_STATE_KEY` has root keys, values are sealed in the store, and the
/// ring of keys is wrapped. It has 32 bytes in base64 for each key, with commas between keys: the first
/// seals, all open. Without it, a reader of the store can read the values.
///
/// ```no_run
/// # async fn example() -> pintle::Result<()> {
/// use pintle::prelude::*;
///
/// let state = pintle::state("sqlite:/var/lib/harbour/state.sqlite").await?;
/// Server::new("harbour", "1.4.0").state_backend(state).run().await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`StateError`], which contains no credentials.
pub async fn state(url: &str) -> Result<StateBackend, StateError> {
    StateUrl::from(url).open().await
}

impl StateUrl {
    /// Opens the state, as [`state`] does.
    ///
    /// # Errors
    ///
    /// [`StateError`], which contains no credentials.
    pub async fn open(&self) -> Result<StateBackend, StateError> {
        let failed = |kind| StateError::new(self, kind);
        let root = root_keys().map_err(|error| failed(StateErrorKind::Keys(error)))?;
        let limits = match &root {
            Some(_) => Sealed::limits(StoreLimits::default()),
            None => StoreLimits::default(),
        };
        let store = self.store(limits).await.map_err(failed)?;
        let opened = StateBackend::open(store, root).await;
        opened.map_err(|error| failed(StateErrorKind::Keys(error)))
    }

    async fn store(&self, limits: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
        match self.engine() {
            Some(Engine::Memory) => Ok(Arc::new(MemoryStore::new(limits))),
            Some(Engine::File(directory)) => file(directory, limits).await,
            Some(Engine::Sqlite(path)) => sqlite(path, limits).await,
            Some(Engine::Redis) => self.redis(limits).await,
            Some(Engine::Postgres) => self.postgres(limits).await,
            None => Err(StateErrorKind::UnknownScheme),
        }
    }

    #[cfg(feature = "postgres")]
    async fn postgres(&self, limits: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
        let connected = pintle_postgres::PostgresStore::connect(self.text(), limits).await;
        let store = connected.map_err(StateErrorKind::engine)?;
        Ok(Arc::new(store))
    }

    #[cfg(feature = "redis")]
    async fn redis(&self, limits: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
        let connected = pintle_redis::RedisStore::connect(self.text(), limits).await;
        let store = connected.map_err(StateErrorKind::engine)?;
        Ok(Arc::new(store))
    }

    #[cfg(not(feature = "redis"))]
    async fn redis(&self, _: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
        Err(StateErrorKind::NotBuilt { feature: "redis" })
    }

    #[cfg(not(feature = "postgres"))]
    async fn postgres(&self, _: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
        Err(StateErrorKind::NotBuilt {
            feature: "postgres",
        })
    }

    /// Returns the URL of the command line, or that of the environment variable `PINTLE_STATE`. Warns of a
    /// password on the command line, because other users of the machine can read it.
    pub fn of_program(flag: Option<Self>) -> Option<Self> {
        if flag.as_ref().is_some_and(Self::has_password) {
            tracing::warn!(
                "the URL of --state has a password, which other users of this machine can read; \
                 set {STATE} instead"
            );
        }
        let set = || std::env::var(STATE).ok().filter(|url| !url.is_empty());
        flag.or_else(|| set().map(Self::from))
    }
}

/// Reads the root keys of the environment, if they are set.
fn root_keys() -> Result<Option<Keys>, KeysError> {
    match Keys::from_env(ROOT_KEYS) {
        Ok(keys) => Ok(Some(keys)),
        Err(KeysError::NotSet { .. }) if std::env::var_os(ROOT_KEYS).is_none() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(feature = "file-store")]
async fn file(directory: &str, limits: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
    let directory = directory.to_owned();
    blocking(move || pintle_store::FileStore::open(directory, limits)).await
}

#[cfg(not(feature = "file-store"))]
async fn file(_: &str, _: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
    Err(StateErrorKind::NotBuilt {
        feature: "file-store",
    })
}

#[cfg(feature = "sqlite")]
async fn sqlite(path: &str, limits: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
    let path = path.to_owned();
    blocking(move || pintle_sqlite::SqliteStore::open(path, limits)).await
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(_: &str, _: StoreLimits) -> Result<Arc<dyn Store>, StateErrorKind> {
    Err(StateErrorKind::NotBuilt { feature: "sqlite" })
}

/// Opens a store on a thread that may wait for the disk.
#[cfg(any(feature = "file-store", feature = "sqlite"))]
async fn blocking<S, E>(
    open: impl FnOnce() -> Result<S, E> + Send + 'static,
) -> Result<Arc<dyn Store>, StateErrorKind>
where
    S: Store,
    E: std::error::Error + Send + Sync + 'static,
{
    let opened = tokio::task::spawn_blocking(open).await;
    let opened = opened.map_err(StateErrorKind::engine)?;
    let store: Arc<dyn Store> = Arc::new(opened.map_err(StateErrorKind::engine)?);
    Ok(store)
}
