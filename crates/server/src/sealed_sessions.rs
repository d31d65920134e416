//! Sessions that replicas share: their ids are sealed with the ring of keys, and the store records their ends.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use pintle_keys::{Keys, Purpose};
use pintle_runtime::fleet::{Fleet, JoinError};
use pintle_runtime::{BoxFuture, SharedSessions};
use pintle_store::{Expiry, Key, Namespace, Precondition, Store, StoreError, StoreTime};

use crate::shared_fleet::SharedFleet;
use crate::state_backend::StateBackend;
use crate::timeout_store::TimeoutStore;

/// The sessions that have ended.
const ENDED: Namespace = Namespace::fixed("session-ended");
/// How long an end is recorded: longer than a key of the ring opens an id. A key seals for a day and opens
/// for seven more; the rest is for clocks that differ.
const ENDED_TTL: Duration = Duration::from_secs(10 * 24 * 60 * 60);
/// Longest time of one operation, because a request of a session waits for it.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// The sessions in a shared state.
pub(crate) struct SealedSessions {
    keys: Keys,
    store: TimeoutStore,
    /// This replica, if others may share the store.
    fleet: Option<Arc<SharedFleet>>,
}

impl SealedSessions {
    pub(crate) fn new(
        state: &StateBackend,
        store_timeout: Duration,
        fleet: Option<Arc<SharedFleet>>,
    ) -> Self {
        let store = Arc::clone(state.store());
        Self {
            keys: state.keys().clone(),
            store: TimeoutStore::new(store, store_timeout.min(MAX_WAIT)),
            fleet,
        }
    }

    async fn opened(&self, owner: Option<&str>, id: &str) -> Option<Vec<u8>> {
        let sealed = URL_SAFE_NO_PAD.decode(id).ok()?;
        if let Err(error) = self.keys.refresh().await {
            // The known keys still seal, so the request continues.
            tracing::warn!(%error, "the keys are not rotated");
        }
        let sealer = self.keys.sealer(Purpose::SessionId);
        let opened = sealer.open_or_refresh(&binding(owner), &sealed).await;
        opened.ok()
    }

    async fn record_end(&self, number: u128) -> Result<bool, StoreError> {
        let now = StoreTime::from(SystemTime::now());
        let expiry = Expiry::At(now + ENDED_TTL);
        let key = key(number);
        let put = self
            .store
            .put(now, &key, Bytes::new(), Precondition::Absent, expiry);
        match put.await {
            Ok(_) => Ok(true),
            Err(error) if error.is_conflict() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl SharedSessions for SealedSessions {
    fn seal(&self, owner: Option<&str>, content: &[u8]) -> Option<String> {
        let sealer = self.keys.sealer(Purpose::SessionId);
        let sealed = sealer.seal(&binding(owner), content).ok()?;
        Some(URL_SAFE_NO_PAD.encode(sealed))
    }

    fn open<'a>(&'a self, owner: Option<&'a str>, id: &'a str) -> BoxFuture<'a, Option<Vec<u8>>> {
        Box::pin(self.opened(owner, id))
    }

    fn end(&self, number: u128) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.record_end(number))
    }

    fn fleet(&self) -> BoxFuture<'_, Result<Option<Fleet>, JoinError>> {
        Box::pin(async move {
            let Some(fleet) = &self.fleet else {
                return Ok(None);
            };
            let joined = fleet.join().await?;
            // A transport asks when it has a client, so changes of other replicas have a recipient.
            fleet.follow(joined);
            Ok(Some(joined.clone()).filter(Fleet::is_shared))
        })
    }

    fn is_ended(&self, number: u128) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let key = key(number);
            let record = self.store.get(SystemTime::now().into(), &key).await?;
            Ok(record.is_some())
        })
    }
}

/// The data that binds an id to its owner. An anonymous client differs from an owner with an empty id.
fn binding(owner: Option<&str>) -> Vec<u8> {
    match owner {
        None => Vec::new(),
        Some(owner) => [b"=", owner.as_bytes()].concat(),
    }
}

fn key(number: u128) -> Key {
    Key::new(&ENDED, &format!("{number:032x}")).expect("hexadecimal digits are valid")
}

#[cfg(test)]
mod tests {
    use pintle_store::MemoryStore;

    use super::*;

    async fn replicas() -> [SealedSessions; 2] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let mut replicas = Vec::new();
        for _ in 0..2 {
            let state = StateBackend::open(Arc::clone(&store), None).await;
            replicas.push(SealedSessions::new(&state.expect("opens"), MAX_WAIT, None));
        }
        replicas.try_into().ok().expect("two")
    }

    #[tokio::test]
    async fn another_replica_opens_an_id_for_its_owner_only() {
        let [first, second] = replicas().await;
        for owner in [None, Some(""), Some("ada")] {
            let id = first.seal(owner, b"content").expect("seals");
            for other in [None, Some(""), Some("ada"), Some("ad")] {
                let opened = second.open(other, &id).await;
                let expected = (owner == other).then(|| b"content".to_vec());
                assert_eq!(opened, expected, "{owner:?} {other:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_text_of_another_purpose_or_server_is_not_an_id() {
        let [first, _] = replicas().await;
        let [foreign, _] = replicas().await;
        let state = first.keys.sealer(Purpose::State).seal(b"", b"content");
        let state = URL_SAFE_NO_PAD.encode(state.expect("seals"));
        let sealed = foreign.seal(None, b"content").expect("seals");
        for id in ["", "x", "€", &state, &sealed] {
            assert_eq!(first.open(None, id).await, None, "{id}");
        }
    }

    #[tokio::test]
    async fn an_end_is_recorded_once_for_all_replicas() {
        let [first, second] = replicas().await;
        assert!(!second.is_ended(7).await.expect("reads"));
        assert!(first.end(7).await.expect("writes"));
        assert!(!second.end(7).await.expect("writes"));
        assert!(second.is_ended(7).await.expect("reads"));
        assert!(!second.is_ended(8).await.expect("reads"));
    }
}
