//! This replica, which its tasks, its transports and its changes share.

mod changed;
mod joined;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use pintle_model::Error;
use pintle_proto::{Change, RenderedNotice};
use pintle_runtime::BoxFuture;
use pintle_runtime::fleet::{Fleet, FleetOptions, JoinError, NewsEvent, NewsFeed};
use pintle_runtime::sync::Mutex;
use pintle_store::{Retry, Store, StoreError, StoreTime};
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::time::{sleep, timeout};

use crate::changes::{Changes, Publish};
use crate::replica::{Replica, Replicas, without_store};
use changed::{Changed, PendingChanges, entry};
use joined::Joined;

/// The pause after an attempt to join that failed.
const RETRY: Duration = Duration::from_secs(5);
/// How long an operation waits for the join.
const MAX_JOIN: Duration = Duration::from_secs(1);
const NOT_JOINED: &str = "this replica has not joined the others";

/// An act for a replica that has joined.
type OnJoin = Box<dyn Fn(&Fleet) + Send + Sync>;

/// A store that replicas may share, and this replica. The replica joins when the first part of the server
/// needs it.
pub(crate) struct SharedFleet {
    store: Arc<dyn Store>,
    joined: OnceCell<Fleet>,
    on_join: OnceLock<OnJoin>,
    /// Reaches all conversations of this process.
    changes: Changes,
    /// The changes from before the replica has joined.
    // Locked for `joined` too, so that a change is either published or in here when the replica joins.
    pending: Mutex<PendingChanges>,
    is_joining: AtomicBool,
    is_following: AtomicBool,
    /// Whether an attempt to join has begun.
    has_begun: AtomicBool,
    /// Whether a second one has begun, so that clients may have missed changes.
    has_repeated: AtomicBool,
}

impl SharedFleet {
    pub(crate) fn new(store: Arc<dyn Store>, changes: Changes) -> Self {
        Self {
            store,
            joined: OnceCell::new(),
            on_join: OnceLock::new(),
            changes,
            pending: Mutex::default(),
            is_joining: AtomicBool::new(false),
            is_following: AtomicBool::new(false),
            has_begun: AtomicBool::new(false),
            has_repeated: AtomicBool::new(false),
        }
    }

    /// Sets an act for the moment at which this replica has joined.
    pub(crate) fn on_join(&self, act: impl Fn(&Fleet) + Send + Sync + 'static) {
        let _ = self.on_join.set(Box::new(act));
    }

    /// Joins the fleet, once.
    ///
    /// # Errors
    ///
    /// [`JoinError`] if the store cannot be reached; the next call tries again.
    pub(crate) async fn join(&self) -> Result<&Fleet, JoinError> {
        // A caller may begin after the attempt of another one, so the options are made then.
        let join = || {
            let mut options = FleetOptions::default();
            // Requests have been served since an attempt that failed, or whose caller was dropped.
            options.reads_kept_news = self.has_begun.swap(true, Ordering::Relaxed);
            self.has_repeated
                .store(options.reads_kept_news, Ordering::Relaxed);
            async {
                let fleet = Fleet::join(Arc::clone(&self.store), options).await?;
                if let Some(act) = self.on_join.get() {
                    act(&fleet);
                }
                Ok(fleet)
            }
        };
        let fleet = self.joined.get_or_try_init(join).await?;
        self.publish_pending(fleet);
        Ok(fleet)
    }

    /// Returns the time of the store's clock, and joins before. With a wall clock that is fast, an operation could drop
    /// what others have stored.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if this replica cannot join within a second.
    pub(crate) async fn now(&self) -> Result<StoreTime, StoreError> {
        self.joined_soon().await.map(Fleet::now)
    }

    /// Returns this replica, if it has joined.
    pub(crate) fn joined(&self) -> Option<&Fleet> {
        self.joined.get()
    }

    /// Joins the fleet, within a second.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if this replica cannot join in this time.
    pub(crate) async fn joined_soon(&self) -> Result<&Fleet, StoreError> {
        if let Some(fleet) = self.joined.get() {
            return Ok(fleet);
        }
        match timeout(MAX_JOIN, self.join()).await {
            Ok(Ok(fleet)) => Ok(fleet),
            _ => Err(StoreError::backend(Retry::Later, NOT_JOINED)),
        }
    }

    /// Sends the changes of other replicas to the conversations of this process. Does nothing after the first
    /// call.
    pub(crate) fn follow(&self, fleet: &Fleet) {
        if fleet.is_shared() && !self.is_following.swap(true, Ordering::Relaxed) {
            tokio::spawn(follow(fleet.news(), self.changes.clone()));
            if self.has_repeated.load(Ordering::Relaxed) {
                self.changes.tell_all();
            }
        }
    }

    fn publish_pending(&self, fleet: &Fleet) {
        let pending = self.pending.lock().take();
        pending.iter().for_each(|changed| publish(fleet, changed));
    }
}

impl Replica for SharedFleet {
    fn now(&self) -> BoxFuture<'_, Result<StoreTime, StoreError>> {
        Box::pin(self.now())
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(fleet) = self.joined.get() {
                fleet.leave().await;
            }
        })
    }

    fn join(&self) -> BoxFuture<'_, Result<Option<Box<dyn Replicas>>, Error>> {
        Box::pin(async {
            let joined = self.join().await;
            let fleet = joined.map_err(|error| without_store(&error, is_away(&error)))?;
            Ok(Some(Box::new(Joined::new(fleet.clone())) as _))
        })
    }
}

/// Returns true if the join may succeed when the store is back.
fn is_away(error: &JoinError) -> bool {
    match error {
        JoinError::TimedOut { .. } => true,
        JoinError::Store { source, .. } => source.is_retryable(),
        _ => false,
    }
}

impl Publish for SharedFleet {
    // The change waits until this replica has joined, which it does in the background.
    fn publish(self: Arc<Self>, change: &Change) {
        let mut pending = self.pending.lock();
        pending.add(change);
        if let Some(fleet) = self.joined.get() {
            return pending.take().iter().for_each(|it| publish(fleet, it));
        }
        drop(pending);
        // Without a runtime, the change waits for the next join.
        if let Ok(runtime) = Handle::try_current()
            && !self.is_joining.swap(true, Ordering::Relaxed)
        {
            runtime.spawn(join_later(Arc::downgrade(&self)));
        }
    }
}

fn publish(fleet: &Fleet, changed: &Changed) {
    if let Some(entry) = entry(changed) {
        fleet.publish(entry);
    }
}

/// Joins the fleet, and tries again until the server ends.
async fn join_later(shared: Weak<SharedFleet>) {
    loop {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        match shared.join().await {
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, source = ?std::error::Error::source(&error), "changes stay at this replica");
            }
        }
        drop(shared);
        sleep(RETRY).await;
    }
}

/// Sends changes until this replica ends. A change from the news is not published again.
async fn follow(mut news: NewsFeed, changes: Changes) {
    while let Some(event) = news.next().await {
        let changed = match &event {
            NewsEvent::Entry { entry, .. } => Changed::read(entry),
            _ => Some(Changed::Everything),
        };
        match changed.map(Change::try_from) {
            Some(Ok(change)) => changes.tell(&RenderedNotice::of(&change)),
            Some(Err(_)) => changes.tell_all(),
            None => {}
        }
    }
}

impl fmt::Debug for SharedFleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedFleet")
            .field(&self.joined.get())
            .finish()
    }
}
