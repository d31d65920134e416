//! The replicas that share a store, by records of their presence.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use pintle_runtime::sync::Mutex;
use pintle_runtime::{BoxFuture, random_bytes};
use pintle_store::{
    Expiry, Key, Namespace, Page, Precondition, Prefix, Store, StoreError, StoreTime, Version,
};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::id::hex;
use super::replicas::Replicas;

const REPLICAS: Namespace = Namespace::fixed("replica");
/// How long a presence is valid.
const VALIDITY: Duration = Duration::from_secs(10);
/// Pause between two renewals of the presence.
const RENEWAL: Duration = Duration::from_secs(3);
/// Replicas whose end waits for this one; further ends are found in the list of holders.
const MAX_GONE: usize = 1_000;
const PAGE: usize = 1_000;

/// This replica, present among others.
pub(super) struct Fleet {
    own: Arc<Own>,
    gone: tokio::sync::Mutex<mpsc::Receiver<String>>,
    renewing: AbortHandle,
}

struct Own {
    name: String,
    store: Arc<dyn Store>,
    /// A time of the store, and the instant at which it was read.
    clock: Mutex<(StoreTime, Instant)>,
    presence: Mutex<Presence>,
}

#[derive(Debug, Default)]
struct Presence {
    until: Option<Instant>,
    term: u64,
    version: Option<Version>,
}

impl Fleet {
    pub(super) async fn join(store: &Arc<dyn Store>) -> Result<Box<dyn Replicas>, StoreError> {
        let own = Arc::new(Own {
            name: hex(&random_bytes::<5>().unwrap_or_default()),
            store: Arc::clone(store),
            clock: Mutex::new((StoreTime::from(SystemTime::now()), Instant::now())),
            presence: Mutex::default(),
        });
        own.read_clock().await?;
        own.renew().await?;
        let (sender, gone) = mpsc::channel(MAX_GONE);
        let renewing = tokio::spawn(Arc::clone(&own).renew_always(sender)).abort_handle();
        let gone = tokio::sync::Mutex::new(gone);
        Ok(Box::new(Self {
            own,
            gone,
            renewing,
        }))
    }
}

impl Own {
    fn now(&self) -> StoreTime {
        let (time, at) = *self.clock.lock();
        time + at.elapsed()
    }

    async fn read_clock(&self) -> Result<(), StoreError> {
        let before = Instant::now();
        if let Some(time) = self.store.time().await? {
            let now = Instant::now();
            *self.clock.lock() = (time + (now - before) / 2, now);
        }
        Ok(())
    }

    fn key(name: &str) -> Option<Key> {
        Key::new(&REPLICAS, &format!("all.{name}")).ok()
    }

    async fn renew(&self) -> Result<(), StoreError> {
        let Some(key) = Self::key(&self.name) else {
            return Ok(());
        };
        let (began, now) = (Instant::now(), self.now());
        let version = self.presence.lock().version;
        let condition = version.map_or(Precondition::Any, Precondition::Version);
        let expiry = Expiry::At(now + VALIDITY);
        let put = self.store.put(now, &key, Bytes::new(), condition, expiry);
        let put = put.await;
        let mut presence = self.presence.lock();
        if put.as_ref().is_err_and(StoreError::is_conflict) {
            (presence.version, presence.until) = (None, None);
        }
        let version = put?;
        if version_is_new(presence.version) || presence.until.is_none_or(|until| until <= began) {
            presence.term += 1;
        }
        presence.version = Some(version);
        presence.until = Some(began + VALIDITY);
        Ok(())
    }

    async fn present(&self) -> Result<BTreeSet<String>, StoreError> {
        let prefix = Prefix::new(&REPLICAS, "all.").unwrap_or_else(|_| Prefix::all(&REPLICAS));
        let (mut names, mut page) = (BTreeSet::new(), Page::first(PAGE));
        loop {
            let listed = self.store.list(self.now(), &prefix, page).await?;
            let name = |key: &Key| key.name().trim_start_matches("all.").to_owned();
            names.extend(listed.records.iter().map(|(key, _)| name(key)));
            let Some(next) = listed.next else {
                return Ok(names);
            };
            page = Page::after(next, PAGE);
        }
    }

    async fn renew_always(self: Arc<Self>, gone: mpsc::Sender<String>) {
        let mut known = BTreeSet::new();
        loop {
            if let Err(error) = self.renew().await {
                tracing::warn!(%error, "the presence of this replica is not renewed");
            }
            if let Err(error) = self.read_clock().await {
                tracing::debug!(%error, "the time of the store is not read");
            }
            if let Ok(present) = self.present().await {
                for name in known.difference(&present) {
                    let _ = gone.try_send(String::clone(name));
                }
                known = present;
            }
            sleep(RENEWAL).await;
        }
    }
}

fn version_is_new(before: Option<Version>) -> bool {
    before.is_none()
}

impl Replicas for Fleet {
    fn name(&self) -> &str {
        &self.own.name
    }

    fn now(&self) -> StoreTime {
        self.own.now()
    }

    fn term(&self) -> Option<u64> {
        let presence = self.own.presence.lock();
        let until = presence.until?;
        (Instant::now() < until).then_some(presence.term)
    }

    fn is_present<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let Some(key) = Own::key(name) else {
                return Ok(false);
            };
            let now = self.own.now();
            Ok(self.own.store.get(now, &key).await?.is_some())
        })
    }

    fn gone(&self) -> BoxFuture<'_, String> {
        Box::pin(async move {
            match self.gone.lock().await.recv().await {
                Some(name) => name,
                None => std::future::pending().await,
            }
        })
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.renewing.abort();
            self.own.presence.lock().until = None;
            if let Some(key) = Own::key(&self.own.name) {
                let removed = self
                    .own
                    .store
                    .remove(self.own.now(), &key, Precondition::Any);
                if let Err(error) = removed.await {
                    tracing::warn!(%error, "the presence of this replica stays until it expires");
                }
            }
        })
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.renewing.abort();
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("name", &self.own.name)
            .finish()
    }
}
