//! Sessions that replicas share: their ids are sealed with the ring of keys, and the store
//! records their settings and ends.
//!
//! A new session needs no record for a while, so a short one costs nothing. Then it exists as long as a record shows
//! it, which the replicas of a session in use renew. So an end is recorded for as long as the session could exist
//! without it: a replica that finds no record takes the session for ended.
//!
//! A store that lost its content has no record of the sessions from before. They exist without one.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use pintle_keys::{Keys, Purpose};
use pintle_runtime::fleet::{Fleet, JoinError};
use pintle_runtime::{
    BoxFuture, SessionChange, SessionKey, SessionState, SharedCount, SharedSessions, random_bytes,
};
use pintle_store::{
    Epoch, Expiry, Key, Namespace, Precondition, Retry, Store, StoreError, StoreTime,
};

use crate::circuit_breaker::CircuitBreaker;
use crate::guarded_store::GuardedStore;
use crate::kept_ring::keep_ring;
use crate::replica::{Replica, now_of};
use crate::shared_counter::Counter;
use crate::shared_fleet::SharedFleet;
use crate::state_backend::StateBackend;

/// The settings and the ends of sessions.
const STATES: Namespace = Namespace::fixed("session-state");
/// How long a session may exist without a record, at least and at most. A key of the ring opens an id for up to 8 days.
const MIN_TTL: Duration = Duration::from_secs(10 * 60);
const MAX_TTL: Duration = Duration::from_secs(10 * 24 * 60 * 60);
/// Longest time of one operation, because a request of a session waits for it.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// The number of repetitions when other replicas change the same session.
const MAX_CONFLICTS: usize = 16;

/// A record of a session, or its absence.
struct Known {
    state: SessionState,
    /// The condition of the next write.
    condition: Precondition,
    /// The time until the record expires, or until the session needs one.
    rest: Duration,
}

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
        let (store, keys) = (Arc::clone(state.store()), state.keys().clone());
        if let Some(fleet) = &fleet {
            let keys = keys.clone();
            fleet.on_join(move |fleet| keep_ring(fleet, &keys));
        }
        Self {
            keys,
            store: GuardedStore::new(store, store_timeout.min(MAX_WAIT), breaker),
            fleet,
        }
    }

    async fn now(&self) -> Result<StoreTime, StoreError> {
        now_of(self.fleet.as_deref().map(|fleet| fleet as &dyn Replica)).await
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
    async fn read(&self, session: SessionKey) -> Result<Known, StoreError> {
        let now = self.now().await?;
        let record = self.store.get(now, &key(session)).await?;
        let Some(record) = record else {
            return self.without_record(session, now).await;
        };
        // A record that this version cannot read is an error, because its session may have ended.
        let state = serde_json::from_slice(&record.value)
            .map_err(|error| StoreError::backend(Retry::Never, error))?;
        let rest = match record.expiry {
            Expiry::At(expiry) => rest(now, expiry),
            _ => Duration::MAX,
        };
        let condition = Precondition::Version(record.version);
        Ok(Known {
            state,
            condition,
            rest,
        })
    }

    /// Returns the state of a session without a record.
    async fn without_record(
        &self,
        session: SessionKey,
        now: StoreTime,
    ) -> Result<Known, StoreError> {
        let rest = rest(now, session.until());
        let mut state = SessionState::default();
        if rest.is_zero() && !self.has_lost(session).await? {
            state.end();
        }
        Ok(Known {
            state,
            condition: Precondition::Absent,
            rest,
        })
    }

    /// Returns true if the store has lost its content since the begin of a session.
    async fn has_lost(&self, session: SessionKey) -> Result<bool, StoreError> {
        if session.epoch == 0 {
            return Ok(false);
        }
        let fresh = random_bytes().map_err(|error| StoreError::backend(Retry::Later, error))?;
        let epoch = self.store.epoch(Epoch::new(u128::from_be_bytes(fresh)));
        Ok(short(epoch.await?) != session.epoch)
    }

    async fn write(
        &self,
        session: SessionKey,
        state: &SessionState,
        condition: Precondition,
    ) -> Result<(), StoreError> {
        let now = self.now().await?;
        let value =
            serde_json::to_vec(state).map_err(|error| StoreError::backend(Retry::Never, error))?;
        let expiry = Expiry::At(now + self.ttl(session, now));
        let key = key(session);
        let put = self.store.put(now, &key, value.into(), condition, expiry);
        put.await.map(drop)
    }

    /// Returns how long a record of a session stays: at least as long as the session may exist without it.
    fn ttl(&self, session: SessionKey, now: StoreTime) -> Duration {
        match self.epoch() {
            // Without the record of its end it would exist until no key opens its id.
            Some(epoch) if session.epoch != 0 && epoch != session.epoch => MAX_TTL,
            _ => session.ttl().max(rest(now, session.until())).min(MAX_TTL),
        }
    }

    /// The epoch of the store, if this replica has joined.
    fn epoch(&self) -> Option<u64> {
        let fleet = self.fleet.as_ref()?.joined()?;
        fleet.epoch().map(short)
    }

    /// Changes the state of a session that is `known`. Returns the new state, and whether it has the change.
    async fn update(
        &self,
        session: SessionKey,
        mut known: Option<Known>,
        act: impl Fn(&mut SessionState) -> bool,
    ) -> Result<(SessionState, bool), StoreError> {
        let mut attempts = 0;
        loop {
            let Known {
                mut state,
                condition,
                ..
            } = match known.take() {
                Some(known) => known,
                None => self.read(session).await?,
            };
            if !act(&mut state) {
                return Ok((state, false));
            }
            match self.write(session, &state, condition).await {
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

    fn key(&self, number: u128, idle: Duration) -> SessionKey {
        let joined = self.fleet.as_ref().and_then(|fleet| fleet.joined());
        // Before the join the wall clock has to do.
        let now = joined.map_or_else(|| SystemTime::now().into(), Fleet::now);
        let ttl = idle.saturating_mul(2).clamp(MIN_TTL, MAX_TTL);
        let seconds = |time: u64| u32::try_from(time).unwrap_or(u32::MAX);
        SessionKey {
            number,
            until_seconds: seconds((now + ttl).as_millis().div_ceil(1_000)),
            ttl_seconds: seconds(ttl.as_secs()),
            epoch: self.epoch().unwrap_or_default(),
        }
    }

    fn end(&self, session: SessionKey) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            // Most sessions have no record.
            let known = Known {
                state: SessionState::default(),
                condition: Precondition::Absent,
                rest: Duration::ZERO,
            };
            let ended = self.update(session, Some(known), SessionState::end).await;
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

    fn state(&self, session: SessionKey) -> BoxFuture<'_, Result<SessionState, StoreError>> {
        Box::pin(async move {
            let late = session.ttl().min(MAX_TTL) / 2;
            let mut attempts = 0;
            loop {
                let known = self.read(session).await?;
                if known.state.is_ended || known.rest > late {
                    return Ok(known.state);
                }
                let renewed = self.write(session, &known.state, known.condition).await;
                match renewed {
                    // Another replica has renewed it, or has ended the session.
                    Err(error) if error.is_conflict() && attempts < MAX_CONFLICTS => attempts += 1,
                    // A renewal that failed is repeated with the next reading.
                    _ => return Ok(known.state),
                }
            }
        })
    }

    fn change<'a>(
        &'a self,
        session: SessionKey,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        Box::pin(async move {
            let act = |state: &mut SessionState| state.apply(change);
            let changed = self.update(session, None, act).await;
            changed.map(|(state, _)| state)
        })
    }

    fn restore<'a>(
        &'a self,
        session: SessionKey,
        known: &'a SessionState,
    ) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        Box::pin(async move {
            let restored = self
                .update(session, None, |state| state.restore(known))
                .await;
            restored.map(|(state, _)| state)
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

fn key(session: SessionKey) -> Key {
    let number = session.number;
    Key::new(&STATES, &format!("{number:032x}")).expect("hexadecimal digits are valid")
}

/// Returns the time until a moment.
fn rest(now: StoreTime, until: StoreTime) -> Duration {
    Duration::from_millis(until.as_millis().saturating_sub(now.as_millis()))
}

/// Returns the part of an epoch that is in ids.
fn short(epoch: Epoch) -> u64 {
    (epoch.get() as u64).max(1)
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
        let [seven, eight] = [7, 8].map(SessionKey::unlimited);
        assert!(!is_ended(&second, seven).await);
        assert!(first.end(seven).await.expect("writes"));
        assert!(!second.end(seven).await.expect("writes"));
        assert!(is_ended(&second, seven).await);
        assert!(!is_ended(&second, eight).await);
    }

    #[tokio::test]
    async fn changes_of_two_replicas_are_both_recorded_until_the_session_ends() {
        let [first, second] = replicas().await;
        let session = SessionKey::unlimited(7);
        let level = SessionChange::Level(LoggingLevel::Error);
        let uris = ["a:1", "a:2"].map(|uri| SessionChange::Subscribe(uri.to_owned()));
        let changed = tokio::join!(
            first.change(session, &uris[0]),
            second.change(session, &uris[1])
        );
        assert!(changed.0.is_ok() && changed.1.is_ok());
        let state = second.change(session, &level).await.expect("writes");
        assert_eq!(state, first.state(session).await.expect("reads"));
        assert_eq!((state.generation, state.subscribed.len()), (3, 2));
        assert_eq!(state.level, Some(LoggingLevel::Error));
        assert!(first.end(session).await.expect("writes"));
        let after = second.change(session, &level).await.expect("reads");
        assert!(after.is_ended && after.level.is_none());
        assert!(!second.end(session).await.expect("reads"));
    }

    /// The expiry of the record of a session, in seconds from now.
    async fn recorded(replica: &SealedSessions, session: SessionKey) -> Option<u64> {
        let now = SystemTime::now().into();
        let record = replica
            .store
            .get(now, &key(session))
            .await
            .expect("reads")?;
        match record.expiry {
            Expiry::At(expiry) => Some((rest(now, expiry).as_millis() as u64).div_ceil(1_000)),
            _ => None,
        }
    }

    /// A session that begins at a number of seconds from now, whose record stays for an hour.
    fn session(begin: i64, epoch: u64) -> SessionKey {
        let now: StoreTime = SystemTime::now().into();
        let until = now.as_millis() as i64 / 1_000 + begin + 3_600;
        SessionKey {
            number: 7,
            until_seconds: u32::try_from(until).expect("after 1970"),
            ttl_seconds: 3_600,
            epoch,
        }
    }

    #[tokio::test]
    async fn a_new_session_may_be_idle_for_its_time_without_a_record() {
        let [first, _] = replicas().await;
        let half_an_hour = Duration::from_secs(1_800);
        let key = first.key(7, half_an_hour);
        assert_eq!((key.number, key.ttl_seconds), (7, 3_600));
        let now: StoreTime = SystemTime::now().into();
        let rest = rest(now, key.until()).as_secs_f64();
        assert!((3_590.0..=3_601.0).contains(&rest), "{rest}");
        assert!(!is_ended(&first, key).await);
        assert_eq!(recorded(&first, key).await, None);
        let [short, long] = [Duration::ZERO, Duration::MAX].map(|idle| first.key(7, idle).ttl());
        assert_eq!((short, long), (MIN_TTL, MAX_TTL));
    }

    #[tokio::test]
    async fn a_session_in_use_is_recorded_after_half_its_time_and_renewed() {
        let [first, second] = replicas().await;
        let young = session(-1_700, 0);
        assert!(!is_ended(&first, young).await);
        assert_eq!(recorded(&first, young).await, None);
        let old = session(-1_900, 0);
        assert!(!is_ended(&first, old).await);
        assert_eq!(recorded(&second, old).await, Some(3_600));
        // The id alone would not be accepted now.
        let older = session(-100_000, 0);
        assert!(!is_ended(&second, older).await);
        let settings = SessionChange::Level(LoggingLevel::Error);
        second.change(older, &settings).await.expect("writes");
        assert_eq!(recorded(&second, older).await, Some(3_600));
    }

    #[tokio::test]
    async fn a_session_that_nothing_renewed_has_ended() {
        let [first, _] = replicas().await;
        let old = session(-3_700, 0);
        assert!(is_ended(&first, old).await);
        let settings = SessionChange::Level(LoggingLevel::Error);
        let changed = first.change(old, &settings).await.expect("reads");
        assert!(changed.is_ended);
        assert_eq!(recorded(&first, old).await, None);
    }

    #[tokio::test]
    async fn an_end_is_recorded_until_its_session_would_need_a_record() {
        let [first, second] = replicas().await;
        for begin in [0_i64, -1_900, -100_000] {
            let ended = SessionKey {
                number: begin.unsigned_abs().into(),
                ..session(begin, 0)
            };
            first.end(ended).await.expect("writes");
            assert!(is_ended(&second, ended).await);
            assert_eq!(recorded(&second, ended).await, Some(3_600), "{begin}");
        }
        // A clock that is fast seals a later moment.
        let ahead = session(7_200, 0);
        first.end(ahead).await.expect("writes");
        let stays = recorded(&second, ahead).await.expect("a record");
        assert!((10_790..=10_801).contains(&stays), "{stays}");
    }

    #[tokio::test]
    async fn a_session_from_before_a_loss_of_the_store_needs_no_record() {
        let [first, second] = replicas().await;
        let lost = session(-100_000, 5);
        assert!(!is_ended(&first, lost).await);
        first.end(lost).await.expect("writes");
        assert!(is_ended(&second, lost).await);
        let epoch = first.store.epoch(Epoch::new(1)).await.expect("an epoch");
        let kept = SessionKey {
            number: 8,
            ..session(-100_000, short(epoch))
        };
        assert!(is_ended(&first, kept).await);
    }

    #[tokio::test]
    async fn settings_that_the_store_has_lost_are_recorded_again() {
        let [first, second] = replicas().await;
        let session = SessionKey::unlimited(7);
        let mut known = SessionState::default();
        known.apply(&SessionChange::Subscribe("a:1".to_owned()));
        let restored = first.restore(session, &known).await.expect("writes");
        assert_eq!(restored, known);
        assert_eq!(second.state(session).await.expect("reads"), known);
        assert!(first.end(session).await.expect("writes"));
        let ended = first.restore(session, &known).await.expect("reads");
        assert!(ended.is_ended);
    }

    async fn is_ended(replica: &SealedSessions, session: SessionKey) -> bool {
        replica.state(session).await.expect("reads").is_ended
    }
}
