//! A store behind a simulated connection, and mistakes that such stores make.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use pintle_store::conformance::{CutAt, Fault};
use pintle_store::{
    Changes, ExpectedTail, Expiry, Key, MemoryStore, Position, Prefix, Retention, Retry, Store,
    StoreError, StoreFuture, StoreLimits, StoreTime, Watchers,
};

use super::layer::Layer;

/// A mistake of a store behind a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// Repeats an append of unknown outcome.
    RepeatsAppends,
    /// Repeats every write of unknown outcome.
    RepeatsWrites,
    /// Acknowledges an append before the engine has it.
    AcknowledgesEarly,
    /// Sends the events of a batch one by one.
    SplitsBatches,
    /// Waits without limit for an answer.
    WaitsWithoutLimit,
    /// Opens no second connection.
    NeverReconnects,
    /// A reconnect wakes no watcher.
    LosesWakeUps,
    /// An error in a fault is final.
    GivesUp,
}

/// The connection between stores and a store in memory, their engine.
pub(crate) struct Network {
    engine: MemoryStore,
    watchers: Arc<Watchers>,
    state: Mutex<State>,
    mistake: Option<Mistake>,
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    requests: usize,
    was_away: bool,
}

/// The fate of one request.
enum Fate {
    Passes,
    IsLost,
    LosesItsAnswer,
    HasNoAnswer,
}

impl Network {
    pub(crate) fn new(mistake: Option<Mistake>) -> Arc<Self> {
        let limits = StoreLimits::default();
        Arc::new(Self {
            watchers: Arc::new(Watchers::new(&limits)),
            engine: MemoryStore::new(limits),
            state: Mutex::default(),
            mistake,
        })
    }

    pub(crate) fn begin(&self, fault: Fault) {
        let mut state = self.state.lock().expect("no panic");
        (state.fault, state.requests) = (Some(fault), 0);
        state.was_away |= matches!(fault, Fault::Away);
    }

    /// Ends the fault. The stores reconnect.
    pub(crate) fn end(&self) {
        self.state.lock().expect("no panic").fault = None;
        if self.mistake != Some(Mistake::LosesWakeUps) {
            self.watchers.notify_all();
        }
    }

    fn is_away(&self) -> bool {
        self.state.lock().expect("no panic").fault == Some(Fault::Away)
    }

    fn fate(&self) -> Fate {
        let mut state = self.state.lock().expect("no panic");
        state.requests += 1;
        let requests = state.requests;
        if state.was_away && self.mistake == Some(Mistake::NeverReconnects) {
            return Fate::IsLost;
        }
        match state.fault {
            None | Some(Fault::Restart) => Fate::Passes,
            Some(Fault::Cut { skip, .. }) if requests != skip + 1 => Fate::Passes,
            Some(Fault::Cut { at, .. }) => match at {
                CutAt::BeforeRequest | CutAt::InsideRequest => Fate::IsLost,
                CutAt::BeforeAnswer | CutAt::InsideAnswer => Fate::LosesItsAnswer,
            },
            Some(Fault::LoseAnswers) if requests.is_multiple_of(2) => Fate::Passes,
            Some(Fault::LoseAnswers) => Fate::LosesItsAnswer,
            Some(Fault::Pause) => Fate::HasNoAnswer,
            Some(Fault::Away) => Fate::IsLost,
        }
    }

    fn error(&self) -> StoreError {
        let retry = match self.mistake {
            Some(Mistake::GivesUp) => Retry::Never,
            _ => Retry::Later,
        };
        StoreError::backend(retry, "the connection ended")
    }
}

/// A store behind the network.
pub(crate) struct Far(pub(crate) Arc<Network>);

impl Far {
    async fn request<'a, T>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync,
    ) -> Result<T, StoreError> {
        match self.0.fate() {
            Fate::Passes => operation().await,
            Fate::IsLost => Err(self.0.error()),
            Fate::LosesItsAnswer => operation().await.and(Err(self.0.error())),
            Fate::HasNoAnswer if self.0.mistake == Some(Mistake::WaitsWithoutLimit) => {
                pending().await
            }
            Fate::HasNoAnswer => Err(self.0.error()),
        }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.0.mistake == Some(mistake)
    }
}

impl Layer for Far {
    fn inner(&self) -> &dyn Store {
        &self.0.engine
    }

    fn pass<'a, T: Send + 'a>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { self.request(operation).await })
    }

    fn pass_write<'a, T: Send + 'a>(
        &'a self,
        key: &'a Key,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let mut result = self.request(&operation).await;
            let is_unknown = matches!(result, Err(StoreError::Backend(_)));
            if is_unknown && self.has(Mistake::RepeatsWrites) {
                result = self.request(&operation).await;
            }
            if !self.0.is_away() {
                self.0.watchers.notify(key);
            }
            result
        })
    }

    fn append<'a>(
        &'a self,
        now: StoreTime,
        log: &'a Key,
        events: &'a [bytes::Bytes],
        tail: ExpectedTail,
        retention: Retention,
        expiry: Expiry,
    ) -> StoreFuture<'a, Position> {
        let append = move |events: &'a [bytes::Bytes], tail| {
            let engine = &self.0.engine;
            let append = move || engine.append(now, log, events, tail, retention, expiry);
            self.pass_write(log, append)
        };
        if self.has(Mistake::SplitsBatches) && !events.is_empty() {
            return Box::pin(async move {
                let mut last = append(&events[..1], tail).await?;
                for event in &events[1..] {
                    last = append(std::slice::from_ref(event), ExpectedTail::Any).await?;
                }
                Ok(last)
            });
        }
        Box::pin(async move {
            match append(events, tail).await {
                Err(StoreError::Backend(_)) if self.has(Mistake::RepeatsAppends) => {
                    append(events, tail).await
                }
                Err(StoreError::Backend(_)) if self.has(Mistake::AcknowledgesEarly) => {
                    Ok(Position::new(1))
                }
                result => result,
            }
        })
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        Box::pin(ready(
            self.0.watchers.changes(prefix).map_err(StoreError::from),
        ))
    }
}

/// A store beside the network. It shares the engine.
pub(crate) struct Near(pub(crate) Arc<Network>);

impl Layer for Near {
    fn inner(&self) -> &dyn Store {
        &self.0.engine
    }

    /// The engine reports the change to the stores that it reaches.
    fn pass_write<'a, T: Send + 'a>(
        &'a self,
        key: &'a Key,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            let result = operation().await;
            if !self.0.is_away() {
                self.0.watchers.notify(key);
            }
            result
        })
    }
}
