//! Messages of a client for a part of its session at another replica.
//!
//! A handler and its questions stay at the replica where the call arrived. The answer of the client, its
//! progress and its cancellation may arrive at any replica.
//!
//! The id of a question begins with the name of its replica. An answer is sent there, and accepted when that replica has
//! confirmed it. A replica that is absent may be paused, so the answer waits for it in the news. Progress and
//! cancellations name a call that any replica may run. They are published, and each replica with a part of the session
//! delivers them. A repeated message has no effect, because the question or the call has ended.

use std::future::ready;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use pintle_model::jsonrpc::{Message, RequestId};
use pintle_model::method::{Cancelled, Notice, Progress};
use pintle_runtime::fleet::{
    DeliveryError, Fleet, NewsEvent, Recipient, ReplicaId, ReplicaMessage, ReplicaReply,
};
use pintle_runtime::{BoxFuture, SharedSessions};
use serde::{Deserialize, Serialize};
use tokio::join;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::HAS_REPLICAS;
use super::session::{ReplyFormat, STREAM_FACT};
use super::session_changes::{self, SessionChanges};
use super::session_doubts;
use super::session_newest;
use super::session_streams::{self, SessionStreams};
use super::sessions::Sessions;
use crate::rules::session_id::SessionId;

/// The kind of the messages, and of the entries in the news.
const KIND: &str = "session-message";
/// Ends the name of the replica in the id of a question.
const HOME_END: char = '-';
/// Largest message that crosses replicas, in bytes. All replicas may read it, and the news keep 8 MiB.
const MAX_BYTES: usize = 64 << 10;
/// How long the first requests of sessions wait until this replica reads the messages of others.
const MAX_START: Duration = Duration::from_secs(1);
/// The pause after an attempt to join that failed.
const RETRY: Duration = Duration::from_secs(5);

/// The messages between the parts of sessions. It begins with the first session or listener.
#[derive(Default)]
pub(super) struct SessionMail {
    begun: OnceLock<Begun>,
    /// Receives posts for sessions whose stream is here.
    #[cfg(feature = "sse")]
    posts: OnceLock<Arc<dyn Recipient>>,
}

/// The attempt to join.
struct Begun {
    at: Instant,
    // `None` in the channel until the join.
    fleet: watch::Receiver<Option<Fleet>>,
}

/// A message for all parts of a session.
#[derive(Serialize, Deserialize)]
struct Forwarded {
    /// 32 hexadecimal digits.
    session: String,
    message: String,
}

impl SessionMail {
    /// Joins the fleet in the background, and delivers the messages of other replicas. From then on clients
    /// also receive the changes that other replicas announce. Does nothing after the first call.
    pub(super) fn begin(&self, shared: Option<&Arc<dyn SharedSessions>>, sessions: &Arc<Sessions>) {
        let Some(shared) = shared else { return };
        self.begun.get_or_init(|| {
            let (sender, fleet) = watch::channel(None);
            let (shared, sessions) = (Arc::downgrade(shared), Arc::downgrade(sessions));
            let weak = || (Weak::clone(&shared), Weak::clone(&sessions));
            let (of, all) = weak();
            tokio::spawn(session_changes::renew(of, all));
            let (of, all) = weak();
            tokio::spawn(session_doubts::settle(of, all));
            tokio::spawn(follow(shared, sender, sessions));
            let at = Instant::now();
            Begun { at, fleet }
        });
    }

    /// Waits until this replica reads the messages of others, at most [`MAX_START`] after the beginning. Without it,
    /// the answer to a question of the first call could be missed.
    pub(super) async fn wait_for_start(&self) {
        if let Some(begun) = self.begun()
            && begun.fleet.borrow().is_none()
        {
            let mut fleet = begun.fleet.clone();
            let joined = fleet.wait_for(Option::is_some);
            // The channel closes if no other process can share the store.
            let _ = timeout_at(begun.at + MAX_START, joined).await;
        }
    }

    /// Returns this replica, or `None` if no other process can share the store.
    ///
    /// # Errors
    ///
    /// [`ForwardError::NotJoined`] if this replica has not joined yet.
    pub(super) fn fleet(&self) -> Result<Option<Fleet>, ForwardError> {
        let begun = self.begun().ok_or(ForwardError::NotJoined)?;
        let fleet = begun.fleet.borrow().clone();
        // The channel closes without a fleet if there are no others.
        match fleet.is_none() && begun.fleet.has_changed().is_ok() {
            true => Err(ForwardError::NotJoined),
            false => Ok(fleet),
        }
    }

    /// Passes posts of other replicas to a recipient. Does nothing after the first call.
    #[cfg(feature = "sse")]
    pub(super) fn receive_posts(
        &self,
        fleet: &Fleet,
        kind: &'static str,
        create: impl FnOnce() -> Arc<dyn Recipient>,
    ) {
        self.posts.get_or_init(|| {
            let recipient = create();
            fleet.set_recipient(kind, Arc::downgrade(&recipient));
            recipient
        });
    }

    fn begun(&self) -> Option<&Begun> {
        match HAS_REPLICAS {
            true => self.begun.get(),
            false => None,
        }
    }

    fn joined(&self) -> Option<Fleet> {
        self.begun()?.fleet.borrow().clone()
    }

    /// Notifies the other replicas that the record of a session has changed. Waits until the news have the change, and for
    /// the replies, at most a second.
    ///
    /// # Errors
    ///
    /// [`ForwardError`] if the news do not have the change. They receive it later, unless this replica is killed before.
    pub(super) fn announce(&self, id: SessionId, generation: u64) -> Forwarding {
        let fleet = match self.fleet() {
            Ok(Some(fleet)) => fleet,
            Ok(None) => return Box::pin(ready(Ok(()))),
            Err(error) => return Box::pin(ready(Err(error))),
        };
        Box::pin(async move {
            let Some(message) = session_changes::message(id, generation) else {
                return Ok(());
            };
            let replies = session_changes::replies(&fleet, &message);
            let (appended, ()) = join!(fleet.append(vec![message.clone()]), replies);
            appended.map_err(|error| {
                fleet.publish(message);
                ForwardError::Store(error.into())
            })
        })
    }

    /// Publishes a message for the parts of a session at other replicas, if this one has joined. It does not
    /// wait.
    pub(super) fn publish(&self, id: SessionId, text: &[u8]) {
        if let Some(fleet) = self.joined() {
            match entry(id, text) {
                Ok(entry) => fleet.publish(entry),
                Err(error) => {
                    tracing::warn!(%error, session = ?id, "a message stays at this replica")
                }
            }
        }
    }

    /// Passes answers of the client to the parts of a session that have asked, each with the id of its question. One that
    /// is too large does not keep the others back.
    ///
    /// # Errors
    ///
    /// [`ForwardError`]; the other replicas may have the answers all the same.
    pub(super) fn answer(&self, id: SessionId, answers: &[(&RequestId, &[u8])]) -> Forwarding {
        let mut entries = Vec::with_capacity(answers.len());
        let mut checked = Ok(());
        for (call, text) in answers {
            match entry(id, text) {
                Ok(entry) => entries.push((home(call), entry)),
                Err(error) => checked = Err(error),
            }
        }
        let Some(fleet) = self.joined() else {
            return Box::pin(ready(Err(ForwardError::NotJoined)));
        };
        Box::pin(async move {
            let mut unconfirmed = Vec::new();
            for (home, entry) in entries {
                if !confirm(&fleet, home, &entry).await? {
                    unconfirmed.push(entry);
                }
            }
            let appended = fleet.append(unconfirmed).await;
            appended.map_err(|error| ForwardError::Store(error.into()))?;
            checked
        })
    }
}

/// Begins the ids of the questions of a part. They have the name of the replica, if it is known.
pub(super) fn call_prefix(fleet: Option<&Fleet>, random: u64) -> String {
    match fleet {
        Some(fleet) => format!("{}{HOME_END}{random:016x}", fleet.replica()),
        None => format!("{random:016x}"),
    }
}

/// Sends an answer to the replica of its question. Returns false if that is absent, or not known.
async fn confirm(
    fleet: &Fleet,
    home: Option<ReplicaId>,
    entry: &ReplicaMessage,
) -> Result<bool, ForwardError> {
    let Some(home) = home else { return Ok(false) };
    match fleet.request(home, entry.clone()).await {
        // Also if the question has ended there.
        Ok(_) => Ok(true),
        Err(DeliveryError::Absent) => Ok(false),
        Err(error) => Err(ForwardError::Replica(error)),
    }
}

/// Returns the replica of a question.
fn home(call: &RequestId) -> Option<ReplicaId> {
    let RequestId::String(id) = call else {
        return None;
    };
    id.split_once(HOME_END)?.0.parse().ok()
}

/// A message for another replica.
pub(super) type Forwarding = BoxFuture<'static, Result<(), ForwardError>>;

/// Why a message does not reach other replicas.
#[derive(Debug, thiserror::Error)]
pub(super) enum ForwardError {
    #[error("the message has {0} bytes; the limit is {MAX_BYTES}")]
    TooLarge(usize),
    #[error("the message is not text")]
    NotText,
    #[error("this replica has not joined the others")]
    NotJoined,
    #[error("the message cannot be appended to the news")]
    Store(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the replica of the question has not confirmed the answer")]
    Replica(#[source] DeliveryError),
}

/// Returns true for a message that ends, or prolongs, a request that began at another replica.
pub(super) fn crosses(message: &Message<'_>) -> bool {
    match message {
        Message::Request(_) => false,
        Message::Response(_) => true,
        Message::Notification(notice) => {
            [Cancelled::NAME, Progress::NAME].contains(&notice.method.as_ref())
        }
    }
}

/// Returns the entry of the news for a message.
fn entry(id: SessionId, text: &[u8]) -> Result<ReplicaMessage, ForwardError> {
    if text.len() > MAX_BYTES {
        return Err(ForwardError::TooLarge(text.len()));
    }
    let message = std::str::from_utf8(text).map_err(|_| ForwardError::NotText)?;
    let forwarded = Forwarded {
        session: id.to_string(),
        message: message.to_owned(),
    };
    ReplicaMessage::new(KIND, &forwarded).map_err(|_| ForwardError::NotText)
}

/// Joins the fleet, then delivers messages until the endpoint or the replica ends.
async fn follow(
    shared: Weak<dyn SharedSessions>,
    joined: watch::Sender<Option<Fleet>>,
    sessions: Weak<Sessions>,
) {
    let Some(fleet) = join(Weak::clone(&shared)).await else {
        return;
    };
    let mut news = fleet.news();
    let following = session_newest::follow_replicas(fleet.events(), Weak::clone(&sessions));
    tokio::spawn(following);
    let changes = Arc::new(SessionChanges {
        shared,
        sessions: Weak::clone(&sessions),
    });
    let recipient = Arc::downgrade(&changes) as Weak<dyn Recipient>;
    fleet.set_recipient(session_changes::KIND, recipient);
    let streams = Arc::new(SessionStreams(Weak::clone(&sessions)));
    let recipient = Arc::downgrade(&streams) as Weak<dyn Recipient>;
    fleet.set_recipient(session_streams::KIND, recipient);
    let answers = Arc::new(Answers(Weak::clone(&sessions)));
    let recipient = Arc::downgrade(&answers) as Weak<dyn Recipient>;
    fleet.set_recipient(KIND, recipient);
    // Without the store it waits, but not longer than the endpoint exists.
    while timeout(RETRY, fleet.wait_for_news()).await.is_err() {
        if sessions.strong_count() == 0 {
            return;
        }
    }
    if let Some(sessions) = sessions.upgrade() {
        // From now on streams begin with a log. Nothing else sets it.
        sessions.bounds.set_fleet(fleet.clone());
    }
    joined.send_replace(Some(fleet));
    // Changes from before the join have not arrived.
    if let Some(sessions) = sessions.upgrade() {
        sessions.doubt_all();
    }
    // The task must not keep the fleet, because the news end with it.
    drop(joined);
    while let Some(event) = news.next().await {
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        match event {
            NewsEvent::Entry { entry, .. } => read_entry(&entry, &sessions, &changes).await,
            _ => {
                sessions.doubt_all();
                session_newest::release(&sessions, |_| true);
            }
        }
    }
}

/// Acts on an entry of another replica.
async fn read_entry(entry: &ReplicaMessage, sessions: &Sessions, changes: &SessionChanges) {
    match entry.kind() {
        KIND => {
            if let Ok(forwarded) = entry.read() {
                deliver(sessions, &forwarded);
            }
        }
        STREAM_FACT => {
            if let Ok(notice) = entry.read() {
                session_newest::apply(sessions, &notice);
            }
        }
        session_changes::KIND => {
            if let Ok(changed) = entry.read() {
                changes.apply(&changed).await;
            }
        }
        _ => {}
    }
}

/// Joins the fleet. `None` if there are no other replicas, or the endpoint ends first.
async fn join(shared: Weak<dyn SharedSessions>) -> Option<Fleet> {
    loop {
        match shared.upgrade()?.fleet().await {
            Ok(fleet) => return fleet,
            Err(error) => {
                tracing::warn!(%error, source = ?std::error::Error::source(&error), "sessions have no fleet");
            }
        }
        sleep(RETRY).await;
    }
}

/// Receives the answers to questions of this replica.
struct Answers(Weak<Sessions>);

impl Recipient for Answers {
    fn receive(&self, _from: ReplicaId, message: ReplicaMessage) -> BoxFuture<'_, ReplicaReply> {
        let sessions = self.0.upgrade();
        let is_delivered = sessions
            .zip(message.read().ok())
            .is_some_and(|(sessions, forwarded)| deliver(&sessions, &forwarded));
        Box::pin(async move {
            match is_delivered {
                true => ReplicaReply::Done,
                false => ReplicaReply::NotFound,
            }
        })
    }
}

/// Delivers a message to the part of its session. Returns false if this replica has none.
fn deliver(sessions: &Sessions, forwarded: &Forwarded) -> bool {
    let session = SessionId::parse(&forwarded.session).and_then(|id| sessions.part(id));
    let message = Message::parse(forwarded.message.as_bytes()).ok();
    let (Some(session), Some(message)) = (session, message.filter(crosses)) else {
        return false;
    };
    // The service was notified where the message arrived.
    session.deliver(Instant::now().into_std(), message, ReplyFormat::Single);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_question_names_its_replica() {
        let home = |id: &str| super::home(&RequestId::from(id.to_owned()));
        let name = home("abcdefgh-0123456789abcdef.7").expect("a replica");
        assert_eq!(name.as_str(), "abcdefgh");
        for id in ["0123456789abcdef.7", "abcdefg1-0.7", "-0.7", "7"] {
            assert_eq!(home(id), None, "{id}");
        }
        assert_eq!(super::home(&RequestId::Integer(7)), None);
    }

    #[test]
    fn a_message_of_64_kib_crosses_and_a_larger_one_does_not() {
        let id = SessionId::new([7; 16]);
        assert!(entry(id, &[b' '; MAX_BYTES]).is_ok());
        let error = entry(id, &[b' '; MAX_BYTES + 1]).expect_err("too large");
        assert!(matches!(error, ForwardError::TooLarge(bytes) if bytes == MAX_BYTES + 1));
    }
}
