//! Sessions that replicas share: their ids are sealed with the ring of keys, and the store
//! records their settings and ends.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_keys::{Keys, Purpose};
use pintle_runtime::fleet::{Fleet, JoinError};
use pintle_runtime::{BoxFuture, SessionChange, SessionState, SharedCount, SharedSessions};
use pintle_store::{Expiry, Key, Namespace, Precondition, Retry, Store, StoreError};

use crate::circuit_breaker::CircuitBreaker;
use crate::guarded_store::GuardedStore;
use crate::shared_counter::Counter;
use crate::shared_fleet::SharedFleet;
use crate::state_backend::StateBackend;

/// The settings and the ends of sessions.
const STATES: Namespace = Namespace::fixed("session-state");
/// How long a state is recorded after its last change: longer than a key of the ring opens an id. A key seals for a day and opens
/// for seven more; the rest is for clocks that differ.
const STATE_TTL: Duration = Duration::from_secs(10 * 24 * 60 * 60);
/// Longest time of one operation, because a request of a session waits for it.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The number of repetitions when other replicas change the same session.
const MAX_CONFLICTS: usize = 16;

/// The sessions in a shared state.
pub(crate) struct SealedSessions {
    keys: Keys,
    store: GuardedStore,
    /// This replica, if others may share the store.
    fleet: Option<Arc<SharedFleet>>,
}

impl SealedSessions {
    pub(crate) fn new(
        state: &StateBackend,
        store_timeout: Duration,
        breaker: Arc<CircuitBreaker>,
        fleet: Option<Arc<SharedFleet>>,
    ) -> Self {
        let store = Arc::clone(state.store());
        Self {
            keys: state.keys().clone(),
            store: GuardedStore::new(store, store_timeout.min(MAX_WAIT), breaker),
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

    /// Reads the record of a session.
    async fn read(&self, key: &Key) -> Result<(SessionState, Precondition), StoreError> {
        let now = SharedFleet::now_of(self.fleet.as_ref()).await?;
        let record = self.store.get(now, key).await?;
        let Some(record) = record else {
            return Ok((SessionState::default(), Precondition::Absent));
        };
        // A record that this version cannot read is an error, because its session may have ended.
        let state = serde_json::from_slice(&record.value)
            .map_err(|error| StoreError::backend(Retry::Never, error))?;
        Ok((state, Precondition::Version(record.version)))
    }

    async fn write(
        &self,
        key: &Key,
        state: &SessionState,
        condition: Precondition,
    ) -> Result<(), StoreError> {
        let now = SharedFleet::now_of(self.fleet.as_ref()).await?;
        let value =
            serde_json::to_vec(state).map_err(|error| StoreError::backend(Retry::Never, error))?;
        let expiry = Expiry::At(now + STATE_TTL);
        let put = self.store.put(now, key, value.into(), condition, expiry);
        put.await.map(drop)
    }

    /// Changes the state of a session that is `known`. Returns the new state, and whether it has the change.
    async fn update(
        &self,
        number: u128,
        mut known: Option<(SessionState, Precondition)>,
        act: impl Fn(&mut SessionState) -> bool,
    ) -> Result<(SessionState, bool), StoreError> {
        let key = key(number);
        let mut attempts = 0;
        loop {
            let (mut state, condition) = match known.take() {
                Some(known) => known,
                None => self.read(&key).await?,
            };
            if !act(&mut state) {
                return Ok((state, false));
            }
            match self.write(&key, &state, condition).await {
                Ok(()) => return Ok((state, true)),
                Err(error) if error.is_conflict() && attempts < MAX_CONFLICTS => attempts += 1,
                Err(error) => return Err(error),
            }
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
        Box::pin(async move {
            // Most sessions have no record.
            let known = (SessionState::default(), Precondition::Absent);
            let ended = self.update(number, Some(known), SessionState::end).await;
            ended.map(|(_, is_first)| is_first)
        })
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

    fn state(&self, number: u128) -> BoxFuture<'_, Result<SessionState, StoreError>> {
        Box::pin(async move { self.read(&key(number)).await.map(|(state, _)| state) })
    }

    fn change<'a>(
        &'a self,
        number: u128,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        Box::pin(async move {
            let changed = self.update(number, None, |state| state.apply(change)).await;
            changed.map(|(state, _)| state)
        })
    }

    fn count<'a>(
        &'a self,
        name: &'a str,
        interval: Duration,
        uses: u64,
    ) -> BoxFuture<'a, Result<Option<SharedCount>, StoreError>> {
        Box::pin(async move {
            let Some(fleet) = &self.fleet else {
                return Ok(None);
            };
            let fleet = fleet.joined_soon().await?;
            if !fleet.is_shared() {
                return Ok(None);
            }
            let counter = Counter::new(name, interval, fleet.now());
            counter
                .add(&self.store, &self.keys, fleet, uses)
                .await
                .map(Some)
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
    Key::new(&STATES, &format!("{number:032x}")).expect("hexadecimal digits are valid")
}

#[cfg(test)]
mod tests {
    use pintle_model::LoggingLevel;
    use pintle_store::MemoryStore;

    use super::*;

    async fn replicas() -> [SealedSessions; 2] {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let mut replicas = Vec::new();
        for _ in 0..2 {
            let state = StateBackend::open(Arc::clone(&store), None).await;
            replicas.push(SealedSessions::new(
                &state.expect("opens"),
                MAX_WAIT,
                Arc::default(),
                None,
            ));
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
        assert!(!is_ended(&second, 7).await);
        assert!(first.end(7).await.expect("writes"));
        assert!(!second.end(7).await.expect("writes"));
        assert!(is_ended(&second, 7).await);
        assert!(!is_ended(&second, 8).await);
    }

    #[tokio::test]
    async fn changes_of_two_replicas_are_both_recorded_until_the_session_ends() {
        let [first, second] = replicas().await;
        let level = SessionChange::Level(LoggingLevel::Error);
        let uris = ["a:1", "a:2"].map(|uri| SessionChange::Subscribe(uri.to_owned()));
        let changed = tokio::join!(first.change(7, &uris[0]), second.change(7, &uris[1]));
        assert!(changed.0.is_ok() && changed.1.is_ok());
        let state = second.change(7, &level).await.expect("writes");
        assert_eq!(state, first.state(7).await.expect("reads"));
        assert_eq!((state.generation, state.subscribed.len()), (3, 2));
        assert_eq!(state.level, Some(LoggingLevel::Error));
        assert!(first.end(7).await.expect("writes"));
        let after = second.change(7, &level).await.expect("reads");
        assert!(after.is_ended && after.level.is_none());
        assert!(!second.end(7).await.expect("reads"));
    }

    async fn is_ended(replica: &SealedSessions, number: u128) -> bool {
        replica.state(number).await.expect("reads").is_ended
    }
}
