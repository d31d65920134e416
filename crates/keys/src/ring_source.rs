//! A ring in a store: reading it, and adding keys.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use pintle_store::{Expiry, Key, Namespace, Precondition, Record, Store, StoreError, StoreTime};
use tokio::time::timeout;

use crate::error::KeysError;
use crate::ring_record::{MAX_KEYS, Ring, Wrap, is_wrapped_with_older};

/// The namespace of the ring.
const SYSTEM: Namespace = Namespace::fixed("system");
/// How often a replica tries to write the ring while others write it.
const MAX_ATTEMPTS: usize = 8;

/// The settings of a ring in a store. All replicas need the same.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KeyRingOptions {
    /// How long a key seals before the next one is added; default 24 h.
    pub rotation_interval: Duration,
    /// How long a new key only opens; default 60 s. All replicas read the ring in this time.
    pub seal_delay: Duration,
    /// How long the longest sealed text is valid; default 7 days. A key opens for this time after it has
    /// sealed its last text.
    pub max_text_ttl: Duration,
    /// Keys of the ring; default 64. Beyond it the oldest is dropped, and its texts do not open.
    pub max_keys: usize,
    /// The pause between two readings of the ring; default 1 s. A text with an unknown key causes a
    /// reading, so a client could cause many.
    pub refresh_interval: Duration,
    /// Longest time for reading and writing the ring; default 5 s.
    pub store_timeout: Duration,
}

impl Default for KeyRingOptions {
    fn default() -> Self {
        Self {
            rotation_interval: Duration::from_secs(24 * 60 * 60),
            seal_delay: Duration::from_secs(60),
            max_text_ttl: Duration::from_secs(7 * 24 * 60 * 60),
            max_keys: MAX_KEYS,
            refresh_interval: Duration::from_secs(1),
            store_timeout: Duration::from_secs(5),
        }
    }
}

/// Where a ring comes from.
pub(crate) struct RingSource {
    store: Arc<dyn Store>,
    key: Key,
    wrap: Option<Wrap>,
    pub(crate) options: KeyRingOptions,
    clock: Clock,
    /// The ring as it was read last.
    ring: RwLock<Option<Ring>>,
    /// Readings happen one at a time, so that requests with the same unknown key wait for one.
    reading: tokio::sync::Mutex<()>,
    /// The time when the last attempt ended.
    attempted: AtomicU64,
    /// Whether this process created the ring, because the store had none.
    is_creator: AtomicBool,
}

impl RingSource {
    pub(crate) fn new(
        store: Arc<dyn Store>,
        wrap: Option<Wrap>,
        options: KeyRingOptions,
        clock: Clock,
    ) -> Self {
        Self {
            store,
            key: Key::new(&SYSTEM, "keys").expect("the name is valid"),
            wrap,
            options,
            clock,
            ring: RwLock::default(),
            reading: tokio::sync::Mutex::default(),
            attempted: AtomicU64::default(),
            is_creator: AtomicBool::default(),
        }
    }

    pub(crate) fn is_creator(&self) -> bool {
        self.is_creator.load(Ordering::Relaxed)
    }

    /// The time of the store, as well as this process knows it.
    pub(crate) fn now(&self) -> StoreTime {
        self.clock.now()
    }

    /// Returns true if the ring needs its next key.
    pub(crate) fn is_due(&self) -> bool {
        let ring = self.ring.read().unwrap_or_else(PoisonError::into_inner);
        let interval = self.options.rotation_interval;
        ring.as_ref()
            .is_none_or(|ring| ring.is_due(self.now(), interval))
    }

    /// Reads the ring again because it is due. Returns `None` if another request reads it, or did just
    /// now.
    pub(crate) async fn read_if_due(&self) -> Result<Option<Ring>, KeysError> {
        match self.reading.try_lock() {
            Ok(_reading) if self.is_due() && !self.is_paused() => self.attempt().await.map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the ring again for an unknown key. Waits while another request reads it. Returns `None` if
    /// the key is known then, or if the last reading ended just now.
    pub(crate) async fn read_again(
        &self,
        is_known: impl Fn() -> bool,
    ) -> Result<Option<Ring>, KeysError> {
        let _reading = self.reading.lock().await;
        if is_known() || self.is_paused() {
            return Ok(None);
        }
        self.attempt().await.map(Some)
    }

    /// Whether the last attempt ended just now.
    fn is_paused(&self) -> bool {
        let local = self.clock.local();
        let last = StoreTime::from_millis(self.attempted.load(Ordering::Relaxed));
        // A clock that was set back does not stop the readings.
        last <= local && local < last + self.options.refresh_interval
    }

    async fn attempt(&self) -> Result<Ring, KeysError> {
        let ring = self.read(self.known(), false).await;
        let local = self.clock.local().as_millis();
        self.attempted.store(local, Ordering::Relaxed);
        ring
    }

    /// Reads the ring for the first time.
    pub(crate) async fn read_first(&self) -> Result<Ring, KeysError> {
        self.read(None, false).await
    }

    /// Reads the ring, and writes all known keys that it lacks.
    pub(crate) async fn restore(&self) -> Result<Ring, KeysError> {
        let _reading = self.reading.lock().await;
        self.read(self.known(), true).await
    }

    fn known(&self) -> Option<Ring> {
        let ring = self.ring.read().unwrap_or_else(PoisonError::into_inner);
        ring.clone()
    }

    /// Reads the ring within the timeout.
    async fn read(&self, known: Option<Ring>, restores: bool) -> Result<Ring, KeysError> {
        let reading = timeout(self.options.store_timeout, self.exchange(known, restores));
        reading.await.unwrap_or(Err(KeysError::TimedOut))
    }

    /// Reads the ring. Writes it if it is absent, if it lacks keys, if a key is due, or if its root key is an older one.
    async fn exchange(&self, known: Option<Ring>, restores: bool) -> Result<Ring, KeysError> {
        let now = self.clock.set(self.store.time().await?);
        for _ in 0..MAX_ATTEMPTS {
            let record = self.store.get(now, &self.key).await?;
            let (ring, is_changed) =
                self.current(now, record.as_ref(), known.as_ref(), restores)?;
            match self.write(now, record.as_ref(), ring, is_changed).await {
                Ok(ring) => return Ok(self.remember(ring)),
                Err(KeysError::Store(error)) if error.is_conflict() => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Conflict { found: None }.into())
    }

    /// Returns the ring of a record, or of a store without one, and whether it differs from the record.
    fn current(
        &self,
        now: StoreTime,
        record: Option<&Record>,
        known: Option<&Ring>,
        restores: bool,
    ) -> Result<(Ring, bool), KeysError> {
        let Some(record) = record else {
            // The store is new, or has lost its content.
            let ring = known.map_or_else(|| Ring::random(now), |known| Ok(known.clone()));
            return Ok((ring?, true));
        };
        let wrap = self.wrap.as_ref();
        let mut ring = Ring::decode(&record.value, wrap)?;
        let mut is_changed = is_wrapped_with_older(&record.value, wrap);
        // Another process has created an unrelated ring since the store lost its content.
        if let Some(known) = known
            && (restores || !ring.is_related(known))
        {
            is_changed |= ring.merge(known, self.options.max_keys);
        }
        Ok((ring, is_changed))
    }

    /// Rotates the ring if it is due, and writes it if it differs from the record.
    async fn write(
        &self,
        now: StoreTime,
        record: Option<&Record>,
        mut ring: Ring,
        mut is_changed: bool,
    ) -> Result<Ring, KeysError> {
        if ring.is_due(now, self.options.rotation_interval) {
            let unused = self.options.seal_delay + self.options.max_text_ttl;
            ring.rotate(now, unused, self.options.max_keys)?;
            is_changed = true;
        }
        if is_changed {
            let expected = record.map_or(Precondition::Absent, |record| {
                Precondition::Version(record.version)
            });
            let value = ring.encode(self.wrap.as_ref())?.into();
            let put = self
                .store
                .put(now, &self.key, value, expected, Expiry::Never);
            put.await?;
            self.is_creator
                .fetch_or(record.is_none(), Ordering::Relaxed);
        }
        Ok(ring)
    }

    fn remember(&self, ring: Ring) -> Ring {
        let mut known = self.ring.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some(ring.clone());
        ring
    }
}

/// The clock of this process, and how far the clock of the store is ahead of it.
pub(crate) struct Clock {
    local: Box<dyn Fn() -> StoreTime + Send + Sync>,
    ahead: AtomicI64,
}

impl Clock {
    pub(crate) fn system() -> Self {
        Self::new(|| SystemTime::now().into())
    }

    pub(crate) fn new(local: impl Fn() -> StoreTime + Send + Sync + 'static) -> Self {
        let (local, ahead) = (Box::new(local), AtomicI64::default());
        Self { local, ahead }
    }

    fn local(&self) -> StoreTime {
        (self.local)()
    }

    fn now(&self) -> StoreTime {
        let ahead = self.ahead.load(Ordering::Relaxed);
        StoreTime::from_millis(self.local().as_millis().saturating_add_signed(ahead))
    }

    /// Follows the clock of the store, if it has one. Returns the time.
    fn set(&self, store: Option<StoreTime>) -> StoreTime {
        let local = self.local().as_millis();
        let ahead = store.map_or(0, |store| {
            store.as_millis().wrapping_sub(local).cast_signed()
        });
        self.ahead.store(ahead, Ordering::Relaxed);
        self.now()
    }
}
