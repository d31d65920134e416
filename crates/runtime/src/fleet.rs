//! The replicas of a server that share a store.
//!
//! A replica is one process. It writes its presence into the store and renews it, so other replicas
//! notice when it has gone. All replicas use the clock of the store. A store of one process has a
//! fleet of one, which needs no presence and starts no task.
//!
//! Presence decides when to act, and never who wins. A compare in the store decides who wins: see
//! [`Precondition`](pintle_store::Precondition).

mod background;
mod envelope;
mod error;
mod event;
mod follow;
mod heartbeat;
mod inbox;
mod join;
mod layout;
mod log_reader;
mod mail;
mod message;
mod message_numbers;
mod news;
mod news_feed;
mod news_outbox;
mod news_queue;
mod operations;
mod options;
mod recent_news;
mod replica_id;
mod requests;
mod roster;
mod shared;
mod store_clock;
mod stream_log;

use std::fmt;
use std::sync::{Arc, Weak};

use pintle_store::{Epoch, Store, StoreError, StoreTime};
use tokio::sync::{broadcast, oneshot, watch};
use tokio::time::Instant;

pub use error::{JoinError, JoinStep, OperationTimeoutError};
pub use event::{FleetEvent, FleetEvents};
pub use message::{DeliveryError, Recipient, ReplicaMessage, ReplicaReply};
pub use news_feed::{NewsEvent, NewsFeed};
pub use options::{FleetOptions, ServerName};
pub use replica_id::{ReplicaId, ReplicaIdError};
pub use stream_log::{StreamEvent, StreamLog, StreamReader, StreamWriter, Written};

use crate::random::RandomnessError;
use crate::sync::Mutex;
use background::Background;
use join::Joining;
use shared::Shared;

/// One replica: a store, its clock, and the presence of this process among the others.
///
/// A clone is another handle to the same replica. When the last handle is dropped, the replica leaves.
#[derive(Clone)]
pub struct Fleet {
    shared: Arc<Shared>,
    task: Option<Arc<Task>>,
}

/// The handle to the background task.
struct Task {
    /// A message or its end makes the replica leave.
    leave: Mutex<Option<oneshot::Sender<()>>>,
    /// Ends with the task.
    end: watch::Receiver<()>,
    events: broadcast::WeakSender<FleetEvent>,
    news: broadcast::WeakSender<NewsEvent>,
}

/// The connection of this replica to its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FleetState {
    /// The replica is part of the fleet.
    Joined,
    /// The store does not answer.
    Offline {
        /// The time at which the first operation failed.
        since: StoreTime,
    },
    /// The replica leaves or has left.
    Leaving,
}

/// Whether a replica is part of the fleet.
// Closed: it is, or it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The replica renewed its presence.
    Present,
    /// The replica left, its presence expired, or there was never such a replica.
    Absent,
}

impl Fleet {
    /// Joins the fleet of a store: measures the clock, reads the epoch, lists the other replicas, and
    /// writes the presence. Starts a task that renews it. A store of one process gives a fleet of one,
    /// without a task.
    ///
    /// # Errors
    ///
    /// [`JoinError`], which names the step, within [`FleetOptions::join_timeout`].
    ///
    /// # Cancellation
    ///
    /// After a dropped future the presence may stay in the store until it expires.
    pub async fn join(store: Arc<dyn Store>, options: FleetOptions) -> Result<Self, JoinError> {
        let replica = ReplicaId::random().map_err(JoinError::Randomness)?;
        let shared = Arc::new(Shared::new(replica, store, options));
        let began = Instant::now();
        let is_shared = Joining::new(&shared).join().await?;
        shared.note_join(began.elapsed());
        let task = is_shared.then(|| Task::start(&shared));
        tracing::info!(%replica, is_shared, "the replica joined");
        Ok(Self { shared, task })
    }

    /// Creates a fleet of one, without an operation of the store. It is for a store that one process
    /// owns: see [`Store::time`].
    ///
    /// # Errors
    ///
    /// [`RandomnessError`], because the replica has a random name.
    pub fn alone(store: Arc<dyn Store>) -> Result<Self, RandomnessError> {
        let replica = ReplicaId::random()?;
        let shared = Arc::new(Shared::new(replica, store, FleetOptions::default()));
        Ok(Self { shared, task: None })
    }

    /// Compares the server of the store with this one, and writes it if the store has none. Other
    /// replicas see name and version after the next renewal.
    ///
    /// # Errors
    ///
    /// [`JoinError::OtherServer`] if the store belongs to another server. Other errors of
    /// [`JoinStep::Server`], within [`FleetOptions::join_timeout`].
    pub async fn claim_server(&self, server: ServerName) -> Result<(), JoinError> {
        Joining::new(&self.shared).claim(server).await
    }

    /// Returns the name of this replica.
    pub fn replica(&self) -> ReplicaId {
        self.shared.replica
    }

    /// Returns the store of the fleet.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.shared.store
    }

    /// Returns the epoch of the store, as this replica read it last. `None` in a fleet of one.
    pub fn epoch(&self) -> Option<Epoch> {
        self.shared.state.lock().epoch
    }

    /// Returns true if other replicas may share the store.
    pub fn is_shared(&self) -> bool {
        self.task.is_some()
    }

    /// Returns the time of the store's clock, as this replica measured it. In a fleet of one it is the
    /// wall clock at the start and the time since then. A later change of the wall clock has no effect.
    pub fn now(&self) -> StoreTime {
        self.shared.now()
    }

    /// Returns the connection of this replica to its store.
    pub fn state(&self) -> FleetState {
        let state = self.shared.state.lock();
        let heartbeat = state.heartbeat.as_ref();
        match heartbeat.and_then(|heartbeat| heartbeat.offline_since()) {
            _ if state.is_leaving => FleetState::Leaving,
            Some(since) => FleetState::Offline { since },
            None => FleetState::Joined,
        }
    }

    /// Returns true if the presence of this replica has not expired. If it has, other replicas may
    /// have acted for this one, so read a record before you act on it.
    ///
    /// The clock decides, so a process that was paused notices it before the next renewal. A process
    /// notices the sleep of its machine with the next renewal only.
    pub fn is_current(&self) -> bool {
        self.term().is_some()
    }

    /// Returns the number of the current presence, or `None` if the presence has expired. While the
    /// number stays the same, the presence had no gap: compare it after a wait.
    pub fn term(&self) -> Option<u64> {
        let now = self.now();
        let state = self.shared.state.lock();
        let heartbeat = state.heartbeat.as_ref();
        match heartbeat {
            _ if state.is_leaving => None,
            Some(heartbeat) => heartbeat.term(now),
            None => Some(0),
        }
    }

    /// Returns whether a replica is present. Reads at most one record and the epoch, and nothing in a fleet of one or
    /// for this replica. After a loss of content each replica counts as present until it could write its presence again.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not answer within [`FleetOptions::operation_timeout`].
    pub async fn presence(&self, of: ReplicaId) -> Result<Presence, StoreError> {
        let is_present = if of == self.replica() {
            self.is_current()
        } else if self.is_shared() {
            let key = layout::presence_key(of);
            let record = self.shared.operations().get(&key).await?;
            record.is_some() || self.shared.lacks_presences().await?
        } else {
            false
        };
        Ok(if is_present {
            Presence::Present
        } else {
            Presence::Absent
        })
    }

    /// Returns the other replicas of the latest list, which is at most
    /// [`FleetOptions::list_interval`] old while the store answers.
    pub fn replicas(&self) -> Vec<ReplicaId> {
        self.shared.state.lock().roster.replicas()
    }

    /// Reads the other replicas that are present now. One operation of the store for each page of them, and
    /// none in a fleet of one.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not answer within [`FleetOptions::operation_timeout`].
    pub async fn list_replicas(&self) -> Result<Vec<ReplicaId>, StoreError> {
        if !self.is_shared() {
            return Ok(Vec::new());
        }
        let most = self.shared.options.max_replicas;
        let mut listed = self.shared.operations().list(most).await?;
        listed.remove(&self.replica());
        Ok(listed.into_iter().collect())
    }

    /// Returns the events from now on. At most [`FleetOptions::max_fleet_events`] wait for the reader.
    pub fn events(&self) -> FleetEvents {
        let sender = self.task.as_ref().and_then(|task| task.events.upgrade());
        FleetEvents(sender.map(|sender| sender.subscribe()))
    }

    /// Passes the messages of a kind to a recipient from now on, and replaces the recipient of before. The
    /// replica reads its inbox from the first call on.
    ///
    /// A message of a kind without a recipient, or whose recipient was dropped, is answered with
    /// [`ReplicaReply::NotFound`].
    pub fn set_recipient(&self, kind: &'static str, recipient: Weak<dyn Recipient>) {
        self.shared.mail.set_recipient(kind, recipient);
    }

    /// Appends a message to the inbox of a replica. One operation of the store, or two if the replica is
    /// not in the latest list. A message to this replica needs none, and its recipient acts before the
    /// future ends.
    ///
    /// A message may be lost with its recipient. The recipient acts once on it.
    ///
    /// # Errors
    ///
    /// - [`DeliveryError::Absent`] if the replica is absent.
    /// - [`DeliveryError::Store`] if two appends failed, each within [`FleetOptions::operation_timeout`].
    ///
    /// # Cancellation
    ///
    /// After a dropped future the recipient may act.
    pub async fn send(&self, to: ReplicaId, message: ReplicaMessage) -> Result<(), DeliveryError> {
        if to == self.replica() {
            self.shared.receive(to, message).await;
            return Ok(());
        }
        self.check_presence(to).await?;
        self.shared.send(to, message).await
    }

    /// As [`Fleet::send`], and waits for the reply.
    ///
    /// # Errors
    ///
    /// As [`Fleet::send`], and
    ///
    /// - [`DeliveryError::TimedOut`] after [`FleetOptions::reply_timeout`]. The recipient may have acted.
    /// - [`DeliveryError::TooManyRequests`] beyond [`FleetOptions::max_requests`].
    ///
    /// # Cancellation
    ///
    /// After a dropped future the recipient may act.
    pub async fn request(
        &self,
        to: ReplicaId,
        message: ReplicaMessage,
    ) -> Result<ReplicaReply, DeliveryError> {
        if to == self.replica() {
            return Ok(self.shared.receive(to, message).await);
        }
        self.check_presence(to).await?;
        self.shared.request(to, message).await
    }

    /// A replica of the latest list counts as present, because a lost message costs time only.
    async fn check_presence(&self, of: ReplicaId) -> Result<(), DeliveryError> {
        if self.shared.state.lock().roster.has(of) {
            return Ok(());
        }
        match self.presence(of).await {
            Ok(Presence::Present) => Ok(()),
            Ok(Presence::Absent) => Err(DeliveryError::Absent),
            Err(error) => Err(DeliveryError::Store(error)),
        }
    }

    /// Publishes an entry for all other replicas. It does not wait: a background task appends the entries
    /// of [`FleetOptions::news_delay`] together, and equal ones become one. Does nothing in a fleet of one.
    ///
    /// While the store does not answer, entries wait. Beyond [`FleetOptions::max_queued_news`] they become
    /// [`NewsEvent::Lost`]. An entry is lost with this process before its append.
    pub fn publish(&self, entry: ReplicaMessage) {
        if self.is_shared() {
            let due = Instant::now() + self.shared.options.news_delay;
            self.shared.news.add(entry, due);
        }
    }

    /// Appends entries for all other replicas, and waits for the store. One operation, without the delay of
    /// [`Fleet::publish`]. Does nothing in a fleet of one, or without entries.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store does not answer within [`FleetOptions::operation_timeout`]. Replicas may read
    /// the entries all the same.
    ///
    /// # Cancellation
    ///
    /// After a dropped future replicas may read the entries.
    pub async fn append(&self, entries: Vec<ReplicaMessage>) -> Result<(), StoreError> {
        if self.is_shared() && !entries.is_empty() {
            self.shared.append_news(&entries).await?;
        }
        Ok(())
    }

    /// Waits until this replica follows the news, which [`Fleet::news`] begins. Each feed that exists has the
    /// entries that other replicas append from then on. Ends at once in a fleet of one. While the store does not answer, it waits.
    pub async fn wait_for_news(&self) {
        if self.is_shared() {
            self.shared.news.wait_for_position().await;
        }
    }

    /// Returns the entries that other replicas publish from now on. The first call makes this replica
    /// follow the news, which begins with the next operation of the store.
    ///
    /// In a replica that joined late each feed begins with the entries that the store keeps. Feeds that exist receive
    /// these entries again.
    ///
    /// [`Fleet::wait_for_news`] waits for this operation.
    pub fn news(&self) -> NewsFeed {
        let sender = self.task.as_ref().and_then(|task| task.news.upgrade());
        let feed = NewsFeed(sender.map(|sender| sender.subscribe()));
        self.shared.news.follow(self.shared.reads_kept_news());
        feed
    }

    /// Returns the log of a stream of a session. `tag` and `stream` name it. No operation of the store.
    pub fn stream_log(&self, session: u128, tag: u32, stream: u64) -> StreamLog {
        let key = layout::stream_key(session, tag, stream);
        StreamLog::new(Arc::clone(&self.shared), key)
    }

    /// Leaves the fleet: removes the presence, so other replicas notice it with their next list. Waits
    /// for the end of the background task. Release tasks before.
    ///
    /// # Cancellation
    ///
    /// The replica leaves also if the future is dropped after its first poll.
    pub async fn leave(&self) {
        self.shared.state.lock().is_leaving = true;
        if let Some(task) = &self.task {
            task.leave().await;
        }
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet")
            .field("replica", &self.replica())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

impl Task {
    fn start(shared: &Arc<Shared>) -> Arc<Self> {
        let (leave, left) = oneshot::channel();
        let (running, end) = watch::channel(());
        let (events, _) = broadcast::channel(shared.options.max_fleet_events);
        let (news, _) = broadcast::channel(shared.options.max_queued_news);
        let (weak, weak_news) = (events.downgrade(), news.downgrade());
        let shared = Arc::clone(shared);
        let background = Background {
            shared,
            events,
            news,
        };
        tokio::spawn(async move {
            background.run(left).await;
            drop(running);
        });
        Arc::new(Self {
            leave: Mutex::new(Some(leave)),
            end,
            events: weak,
            news: weak_news,
        })
    }

    async fn leave(&self) {
        // The task ends when its sender is dropped.
        drop(self.leave.lock().take());
        let mut end = self.end.clone();
        // It fails at the end of the task, because the task has the sender.
        while end.changed().await.is_ok() {}
    }
}
