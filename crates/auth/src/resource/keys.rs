//! The keys of an issuer: fetched on demand, cached for a time, and fetched again if a token names an
//! unknown key.
//!
//! Requests share one fetch at a time. If the request that began the fetch is cancelled, the others
//! continue it, so a client cannot disturb other requests by a disconnect.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use pintle_runtime::FetchRequest;
use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::time::{Instant, timeout};

use super::algorithm::Algorithm;
use super::issuer::{Issuer, IssuerError};
use super::jwk::{KeySet, PublicKey};
use super::verified_token::TokenError;

type Fetched = Result<Arc<KeySet>, TokenError>;
type Fetching = Shared<Pin<Box<dyn Future<Output = Fetched> + Send>>>;

/// Where keys are.
#[derive(Debug, Clone)]
pub(crate) enum KeySource {
    /// At the `jwks_uri` of the issuer's metadata.
    Document,
    /// At this address.
    At(Box<str>),
}

/// The keys of one issuer.
pub(crate) struct KeyRing {
    issuer: Arc<Issuer>,
    place: KeySource,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Option<Kept>,
    /// The running fetch and its start.
    fetching: Option<(Fetching, Instant)>,
    /// When the last fetch ended.
    ended: Option<Instant>,
}

#[derive(Clone)]
struct Kept {
    set: Arc<KeySet>,
    since: Instant,
}

impl KeyRing {
    pub(crate) fn new(issuer: Arc<Issuer>, place: KeySource) -> Self {
        Self {
            issuer,
            place,
            state: Mutex::default(),
        }
    }

    /// The key that a header names.
    ///
    /// # Errors
    ///
    /// [`TokenError::Invalid`] when the issuer has none of this name, or it was asked a moment ago;
    /// [`TokenError::Unavailable`] when it cannot be asked.
    pub(crate) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<PublicKey, TokenError> {
        let unknown =
            || TokenError::invalid("the token is signed with a key that is not known (`kid`)");
        if let Some(kept) = self.kept() {
            if let Some(key) = kept.set.pick(id, algorithm) {
                return Ok(key.clone());
            }
            if self.is_paused() {
                return Err(unknown());
            }
        }
        let set = self.fetched().await?;
        set.pick(id, algorithm).cloned().ok_or_else(unknown)
    }

    /// The keys that are still good.
    fn kept(&self) -> Option<Kept> {
        let life = self.issuer.limits().keys_ttl;
        let kept = self.lock().keys.clone()?;
        (kept.since.elapsed() < life).then_some(kept)
    }

    fn is_paused(&self) -> bool {
        let pause = self.issuer.limits().keys_fetch_interval;
        self.lock()
            .ended
            .is_some_and(|ended| ended.elapsed() < pause)
    }

    /// The keys after a fetch that ends from now on.
    async fn fetched(&self) -> Fetched {
        let arrived = Instant::now();
        loop {
            let (fetching, began) = self.join()?;
            let fetched = fetching.clone().await;
            self.store_fetched(&fetching, &fetched);
            // An older fetch may have been idle without a request, so its failure may be a timeout.
            if fetched.is_ok() || began >= arrived {
                return fetched;
            }
        }
    }

    /// Returns the running fetch, or starts one.
    fn join(&self) -> Result<(Fetching, Instant), TokenError> {
        let mut state = self.lock();
        if let Some((fetching, began)) = &state.fetching {
            return Ok((fetching.clone(), *began));
        }
        let pause = self.issuer.limits().keys_fetch_interval;
        let is_good = state.keys.is_some();
        if let Some(ended) = state.ended
            && ended.elapsed() < pause
            && !is_good
        {
            return Err(TokenError::unavailable(
                "the keys could not be fetched a moment ago",
            ));
        }
        let (issuer, place) = (Arc::clone(&self.issuer), self.place.clone());
        let fetching: Pin<Box<dyn Future<Output = Fetched> + Send>> =
            Box::pin(async move { fetch(&issuer, place).await });
        let fetching = fetching.shared();
        let began = Instant::now();
        state.fetching = Some((fetching.clone(), began));
        Ok((fetching, began))
    }

    /// Stores the result of a fetch, once for all waiting requests.
    fn store_fetched(&self, fetching: &Fetching, fetched: &Fetched) {
        let mut state = self.lock();
        let is_current = |(own, _): &(Fetching, Instant)| own.ptr_eq(fetching);
        if !state.fetching.as_ref().is_some_and(is_current) {
            return;
        }
        let now = Instant::now();
        (state.fetching, state.ended) = (None, Some(now));
        match fetched {
            Ok(set) => {
                let set = Arc::clone(set);
                state.keys = Some(Kept { set, since: now });
            }
            Err(error) => {
                tracing::warn!(%error, issuer = self.issuer.name(), "the keys cannot be fetched");
                let life = self.issuer.limits().keys_ttl;
                state.keys.take_if(|kept| kept.since.elapsed() >= life);
            }
        }
    }

    // No panic leaves a change half done, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

async fn fetch(issuer: &Issuer, place: KeySource) -> Fetched {
    let within = issuer.limits().verify_timeout;
    match timeout(within, fetch_in_time(issuer, place)).await {
        Ok(Ok(set)) => Ok(Arc::new(set)),
        Ok(Err(silent)) => Err(TokenError::unavailable(silent)),
        Err(late) => Err(TokenError::unavailable(late)),
    }
}

async fn fetch_in_time(issuer: &Issuer, place: KeySource) -> Result<KeySet, IssuerError> {
    let url = match place {
        KeySource::At(url) => String::from(url),
        KeySource::Document => {
            let lacks = || IssuerError::Lacks(issuer.name().into(), "`jwks_uri`");
            issuer.document().await?.jwks_uri.ok_or_else(lacks)?
        }
    };
    let text = issuer.ask(FetchRequest::get(&url)).await?;
    KeySet::read(&text, issuer.limits().max_keys).ok_or(IssuerError::Unreadable(url))
}
