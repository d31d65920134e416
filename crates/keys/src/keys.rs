//! The ring of keys of a server.

mod sealer;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use pintle_store::{Store, StoreTime};

use crate::error::{KeysError, SealError};
use crate::purpose::Purpose;
use crate::ring_record::{MAX_KEYS, Ring, Wrap};
use crate::ring_source::{Clock, KeyRingOptions, RingSource};
use crate::root_key::RootKey;
use crate::secret::Secret;
use crate::text::numbered;

pub use sealer::Sealer;

/// A moment after all others: a key of that moment opens, and does not seal.
const NEVER: StoreTime = StoreTime::from_millis(u64::MAX);

/// The ring of keys of a server. Clones share it. Its `Debug` shows no key.
#[derive(Clone)]
pub struct Keys(Arc<Shared>);

struct Shared {
    held: RwLock<Arc<Held>>,
    source: Option<RingSource>,
}

/// The derived keys.
#[derive(Clone)]
pub(crate) struct Held {
    /// Oldest first, for all purposes but [`Purpose::AtRest`].
    rotating: Vec<Member>,
    /// The first seals, all open.
    lasting: Vec<Arc<Secret>>,
}

#[derive(Clone)]
struct Member {
    seals_from: StoreTime,
    secret: Arc<Secret>,
}

impl Keys {
    /// Creates a ring of one root key, for all purposes.
    pub fn new(first: RootKey) -> Self {
        let secret = Arc::new(Secret::derive(&first));
        let member = Member {
            seals_from: StoreTime::default(),
            secret: Arc::clone(&secret),
        };
        Self::held(Held {
            rotating: vec![member],
            lasting: vec![secret],
        })
    }

    /// Opens texts of another root key, too. To rotate, put a new key first, and drop the last one
    /// when its texts have expired. A value in a store that is not sealed again is lost with it.
    #[must_use]
    pub fn also_open(self, key: RootKey) -> Self {
        let mut held = Held::clone(&self.current());
        let secret = Arc::new(Secret::derive(&key));
        held.lasting.push(Arc::clone(&secret));
        let seals_from = NEVER;
        held.rotating.push(Member { seals_from, secret });
        Self::held(held)
    }

    /// Creates a ring of one random key, which only this process has.
    ///
    /// # Errors
    ///
    /// [`SealError`] if the system has no randomness.
    pub fn random() -> Result<Self, SealError> {
        RootKey::random().map(Self::new)
    }

    /// Reads root keys from an environment variable: 32 bytes each, in base64, with commas between
    /// them. The first seals, all open.
    ///
    /// # Errors
    ///
    /// [`KeysError::NotSet`], [`KeysError::InvalidKey`], or [`KeysError::TooManyKeys`] beyond 64. An
    /// error has the position of a key, and never its text.
    pub fn from_env(name: &str) -> Result<Self, KeysError> {
        let not_set = |_| KeysError::NotSet { name: name.into() };
        Self::from_text(name, &std::env::var(name).map_err(not_set)?)
    }

    fn from_text(name: &str, text: &str) -> Result<Self, KeysError> {
        let mut roots = Vec::new();
        for (index, key) in text.split(',').enumerate() {
            let invalid = || KeysError::InvalidKey {
                name: name.to_owned(),
                position: index + 1,
            };
            roots.push(RootKey::from_base64(key.trim()).ok_or_else(invalid)?);
        }
        if roots.len() > MAX_KEYS {
            let (name, limit) = (name.to_owned(), MAX_KEYS);
            return Err(KeysError::TooManyKeys { name, limit });
        }
        let mut roots = roots.into_iter();
        let first = roots
            .next()
            .map(Self::new)
            .expect("a split text has a part");
        Ok(roots.fold(first, Self::also_open))
    }

    /// Opens the ring in the record `system/keys` of a store, and creates it if it is absent.
    ///
    /// With `wrap` the ring is sealed with its root keys. Without, a reader of the store can read the
    /// keys, and forge sealed texts. A new key is added each `rotation`; [`KeyRingOptions`] has the
    /// other settings.
    ///
    /// # Errors
    ///
    /// [`KeysError`] if the store fails, or the ring needs other root keys.
    pub async fn in_store(
        store: Arc<dyn Store>,
        wrap: Option<Self>,
        rotation: Duration,
    ) -> Result<Self, KeysError> {
        let options = KeyRingOptions {
            rotation_interval: rotation,
            ..KeyRingOptions::default()
        };
        Self::in_store_with(store, wrap, options).await
    }

    /// Opens the ring in a store as [`Self::in_store`] does, with other settings.
    ///
    /// # Errors
    ///
    /// [`KeysError`] if the store fails, or the ring needs other root keys.
    pub async fn in_store_with(
        store: Arc<dyn Store>,
        wrap: Option<Self>,
        options: KeyRingOptions,
    ) -> Result<Self, KeysError> {
        let wrap = wrap.map(|keys| keys.wrap());
        Self::joined(RingSource::new(store, wrap, options, Clock::system())).await
    }

    pub(crate) async fn joined(source: RingSource) -> Result<Self, KeysError> {
        let ring = source.read_first().await?;
        let held = Held::of(&ring, &source.options, None);
        Ok(Self(Arc::new(Shared {
            held: RwLock::new(Arc::new(held)),
            source: Some(source),
        })))
    }

    /// Returns a sealer of one purpose.
    pub fn sealer(&self, purpose: Purpose) -> Sealer {
        Sealer::new(self.clone(), purpose)
    }

    /// Returns a keyed digest of a text, for the name of an entry in a store. A reader of the store cannot compare it
    /// with guesses, unless the reader has the ring.
    ///
    /// All processes with the same ring have the same digest, and it does not change when keys rotate. It changes
    /// with the first root key of a ring that is not in a store.
    pub fn digest(&self, text: &[u8]) -> [u8; 16] {
        self.current().lasting[0].digest(text)
    }

    /// Adds the next key to a ring in a store, if it is due. Otherwise it does nothing, and waits for
    /// nothing. Call it before [`Sealer::seal`], where a future can be awaited.
    ///
    /// # Errors
    ///
    /// [`KeysError`] if the store fails. The known keys still seal.
    pub async fn refresh(&self) -> Result<(), KeysError> {
        if let Some(source) = &self.0.source
            && source.is_due()
            && let Some(ring) = source.read_if_due().await?
        {
            self.install(&ring, source);
        }
        Ok(())
    }

    /// Writes the keys of this process again into a ring in a store that has lost its content. A ring that another
    /// process has created meanwhile gets them too. Without a store it does nothing.
    ///
    /// # Errors
    ///
    /// [`KeysError`] if the store fails. The known keys still seal and open.
    pub async fn restore(&self) -> Result<(), KeysError> {
        if let Some(source) = &self.0.source {
            self.install(&source.restore().await?, source);
        }
        Ok(())
    }

    /// Returns true if this process created the ring, because its store had none. Other processes may add keys to it
    /// if the store has lost a ring.
    pub fn is_creator(&self) -> bool {
        let source = self.0.source.as_ref();
        source.is_some_and(RingSource::is_creator)
    }

    /// Reads the ring again for a text with an unknown key. Returns true if the key is known now.
    pub(crate) async fn learn(&self, sealed: &[u8]) -> bool {
        let (Some(source), Some((number, _))) = (&self.0.source, numbered(sealed)) else {
            return false;
        };
        let is_known = || self.current().knows(number);
        // A store that fails, and a key that does not exist, have the same result for a reader.
        if let Ok(Some(ring)) = source.read_again(is_known).await {
            self.install(&ring, source);
        }
        is_known()
    }

    fn install(&self, ring: &Ring, source: &RingSource) {
        let mut held = self.0.held.write().unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(Held::of(ring, &source.options, Some(&held)));
    }

    /// The key that seals texts of this purpose now.
    pub(crate) fn sealing(&self, purpose: Purpose) -> Arc<Secret> {
        let held = self.current();
        if purpose == Purpose::AtRest {
            return Arc::clone(&held.lasting[0]);
        }
        let now = self
            .0
            .source
            .as_ref()
            .map_or_else(StoreTime::default, RingSource::now);
        let mut newest_first = held.rotating.iter().rev();
        let member = newest_first.find(|member| member.seals_from <= now);
        Arc::clone(&member.expect("one key always seals").secret)
    }

    /// The keys that open texts of this purpose.
    pub(crate) fn opening(&self, purpose: Purpose) -> Vec<Arc<Secret>> {
        let held = self.current();
        match purpose {
            Purpose::AtRest => held.lasting.clone(),
            _ => held
                .rotating
                .iter()
                .map(|it| Arc::clone(&it.secret))
                .collect(),
        }
    }

    /// The root keys that wrap a ring in a store.
    fn wrap(&self) -> Wrap {
        Wrap {
            seals: self.sealing(Purpose::AtRest),
            opens: self.opening(Purpose::AtRest),
        }
    }

    fn current(&self) -> Arc<Held> {
        let held = self.0.held.read();
        Arc::clone(&held.unwrap_or_else(PoisonError::into_inner))
    }

    fn held(held: Held) -> Self {
        let held = RwLock::new(Arc::new(held));
        let source = None;
        Self(Arc::new(Shared { held, source }))
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").finish_non_exhaustive()
    }
}

impl Held {
    /// Derives the keys of a ring. Former keys that are not in the ring still open, because a store that
    /// lost its content may have another ring.
    fn of(ring: &Ring, options: &KeyRingOptions, former: Option<&Self>) -> Self {
        let mut held = Self {
            rotating: members(ring, options),
            lasting: vec![Arc::new(Secret::derive(&ring.lasting))],
        };
        let Some(former) = former else { return held };
        let newest_first = former.rotating.iter().rev().map(|member| &member.secret);
        let dropped: Vec<_> = newest_first.filter(|it| !held.knows(it.number)).collect();
        let opens = dropped
            .into_iter()
            .take(MAX_KEYS)
            .rev()
            .map(|secret| Member {
                seals_from: NEVER,
                secret: Arc::clone(secret),
            });
        held.rotating.splice(0..0, opens);
        let lasting = former.lasting.iter().filter(|it| !held.knows(it.number));
        let lasting: Vec<_> = lasting.take(MAX_KEYS).cloned().collect();
        held.lasting.extend(lasting);
        held
    }

    fn knows(&self, number: [u8; 4]) -> bool {
        let rotating = self.rotating.iter().map(|member| &member.secret);
        let mut all = rotating.chain(&self.lasting);
        all.any(|secret| secret.number == number)
    }
}

/// The members of a ring. The first key seals at once, because no older one could.
fn members(ring: &Ring, options: &KeyRingOptions) -> Vec<Member> {
    let keys = ring.keys.iter().enumerate();
    let member = keys.map(|(index, it)| Member {
        seals_from: match index {
            0 => StoreTime::default(),
            _ => it.created + options.seal_delay,
        },
        secret: Arc::new(Secret::derive(&it.key)),
    });
    member.collect()
}

#[cfg(test)]
mod tests;
