//! A simulated connection to a store that has none, so that such a store runs the suite of faults.

use std::future::{Future, ready};
use std::sync::Arc;
use std::time::Duration;

use super::Part;
use super::faults::{Breakable, CutAt, FarAndNear, Fault, Survival, Waiting};
use super::layer::{Layer, Layered};
use super::reopened::{Reopen, Reopened};
use crate::sync::Mutex;
use crate::{Changes, Key, Prefix, Retry, Store, StoreError, StoreFuture, StoreLimits, Watchers};

/// Longest time of an operation in a fault, and of a recovery. A test on a busy machine needs a margin.
const LIMIT: Duration = Duration::from_secs(5);

/// Waits for work, but not longer than a time. Returns true if the work has ended.
pub type WaitAtMost = for<'a> fn(Waiting<'a, ()>, Duration) -> Waiting<'a, bool>;

/// Runs parts at the same time, until all have ended.
pub type Together = fn(Vec<Part>) -> Part;

/// Puts a store of this process behind a simulated connection.
///
/// A cut, a lost answer, a pause and an outage happen between the caller and the store. A
/// [`Fault::Restart`] closes the store after the operations that run, and opens it again. It does not kill a
/// process: [`Journal`](super::Journal) has the checks for that.
pub struct SimulatedLink {
    create: fn() -> Reopen,
    wait_at_most: WaitAtMost,
    together: Together,
    link: Mutex<Option<Arc<Link>>>,
}

impl SimulatedLink {
    /// Takes a function that makes an empty store, and those of a runtime. The function that `create` returns
    /// opens this store.
    pub fn new(create: fn() -> Reopen, wait_at_most: WaitAtMost, together: Together) -> Self {
        Self {
            create,
            wait_at_most,
            together,
            link: Mutex::new(None),
        }
    }

    fn link(&self) -> Arc<Link> {
        self.link
            .lock()
            .clone()
            .expect("a check opens a store first")
    }
}

impl Breakable for SimulatedLink {
    fn open(&self) -> Waiting<'_, FarAndNear> {
        let link = Arc::new(Link::new((self.create)()));
        *self.link.lock() = Some(Arc::clone(&link));
        Box::pin(ready(FarAndNear {
            far: Arc::new(Layered(Far(Arc::clone(&link)))),
            near: Arc::new(Layered(Near(link))),
        }))
    }

    fn faults(&self) -> Vec<Fault> {
        Fault::all()
    }

    fn begin(&self, fault: Fault) -> Waiting<'_, ()> {
        let link = self.link();
        Box::pin(async move { link.begin(fault).await })
    }

    fn end(&self) -> Waiting<'_, ()> {
        self.link().end();
        Box::pin(ready(()))
    }

    fn within<'a>(&'a self, limit: Duration, work: Waiting<'a, ()>) -> Waiting<'a, bool> {
        (self.wait_at_most)(work, limit)
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        (self.together)(parts)
    }

    fn survival(&self) -> Survival {
        Survival::Everything
    }

    fn operation_limit(&self) -> Duration {
        LIMIT
    }

    fn recovery_limit(&self) -> Duration {
        LIMIT
    }
}

/// The connection between both openings and their engine.
struct Link {
    engine: Reopened,
    watchers: Arc<Watchers>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    requests: usize,
}

/// The fate of one request.
enum Fate {
    Passes,
    IsLost,
    LosesItsAnswer,
}

impl Link {
    fn new(open: Reopen) -> Self {
        Self {
            engine: Reopened::new(open),
            watchers: Arc::new(Watchers::new(&StoreLimits::default())),
            state: Mutex::default(),
        }
    }

    async fn begin(&self, fault: Fault) {
        *self.state.lock() = State {
            fault: Some(fault),
            requests: 0,
        };
        if fault == Fault::Restart {
            self.engine.restart().await;
        }
    }

    /// Ends the fault. The stores reconnect.
    fn end(&self) {
        self.state.lock().fault = None;
        self.watchers.notify_all();
    }

    /// The engine reports a change to the stores that it reaches.
    fn notify(&self, key: &Key) {
        let is_away = self.state.lock().fault == Some(Fault::Away);
        if !is_away {
            self.watchers.notify(key);
        }
    }

    fn fate(&self) -> Fate {
        let mut state = self.state.lock();
        state.requests += 1;
        let requests = state.requests;
        match state.fault {
            None | Some(Fault::Restart) => Fate::Passes,
            Some(Fault::Cut { skip, .. }) if requests != skip + 1 => Fate::Passes,
            Some(Fault::Cut { at, .. }) => match at {
                CutAt::BeforeRequest | CutAt::InsideRequest => Fate::IsLost,
                CutAt::BeforeAnswer | CutAt::InsideAnswer => Fate::LosesItsAnswer,
            },
            Some(Fault::LoseAnswers) if requests.is_multiple_of(2) => Fate::Passes,
            Some(Fault::LoseAnswers) => Fate::LosesItsAnswer,
            // The time limit of a real store ends the wait.
            Some(Fault::Pause | Fault::Away) => Fate::IsLost,
        }
    }
}

/// The store behind the connection.
struct Far(Arc<Link>);

impl Layer for Far {
    fn inner(&self) -> &dyn Store {
        &self.0.engine
    }

    fn pass<'a, T: Send + 'a>(
        &'a self,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        let ended = || StoreError::backend(Retry::Later, "the connection ended");
        Box::pin(async move {
            match self.0.fate() {
                Fate::Passes => operation().await,
                Fate::IsLost => Err(ended()),
                Fate::LosesItsAnswer => operation().await.and(Err(ended())),
            }
        })
    }

    fn pass_write<'a, T: Send + 'a>(
        &'a self,
        key: &'a Key,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        then_notify(&self.0, key, self.pass(operation))
    }

    fn changed<'a>(&'a self, prefix: &'a Prefix) -> StoreFuture<'a, Changes> {
        let changes = self.0.watchers.changes(prefix);
        Box::pin(ready(changes.map_err(StoreError::from)))
    }
}

/// The store beside the connection.
struct Near(Arc<Link>);

impl Layer for Near {
    fn inner(&self) -> &dyn Store {
        &self.0.engine
    }

    fn pass_write<'a, T: Send + 'a>(
        &'a self,
        key: &'a Key,
        operation: impl Fn() -> StoreFuture<'a, T> + Send + Sync + 'a,
    ) -> StoreFuture<'a, T> {
        then_notify(&self.0, key, operation())
    }
}

fn then_notify<'a, T: Send + 'a>(
    link: &'a Link,
    key: &'a Key,
    write: impl Future<Output = Result<T, StoreError>> + Send + 'a,
) -> StoreFuture<'a, T> {
    Box::pin(async move {
        let result = write.await;
        link.notify(key);
        result
    })
}
