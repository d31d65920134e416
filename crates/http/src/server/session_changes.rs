//! Changes of a session that all its replicas apply: the settings of its client, and its end.
//!
//! A record of the store has the settings and the end. The replica that receives a change writes the record, and
//! then notifies the others: by requests to those that are present, and by the news for all. A replica with a part
//! of the session reads the record and applies it; its generation decides whether it is newer. The client
//! receives the answer after the replies, so its next request finds the change everywhere.
//!
//! A replica that creates a part reads the record before. A notice that arrives meanwhile makes it read again.

use std::sync::Weak;
use std::time::Duration;

use pintle_runtime::fleet::{Fleet, Recipient, ReplicaId, ReplicaMessage, ReplicaReply};
use pintle_runtime::{BoxFuture, SessionKey, SessionState, SharedSessions};
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::session::Session;
use super::sessions::Sessions;
use crate::rules::session_id::SessionId;

/// The kind of the messages, and of the entries in the news.
pub(super) const KIND: &str = "session-changed";
/// The number of replicas that the answer to a client waits for. The others learn the change from the news.
const MAX_AWAITED: usize = 64;
/// The pause between two searches for sessions whose record must be read.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(60);
/// How long an answer waits for the other replicas.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// A notice that the record of a session has changed.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Changed {
    /// 32 hexadecimal digits.
    session: String,
    /// The generation of the record, or a later one.
    generation: u64,
}

/// Reads the records of the sessions that are in use here without requests, so that they do not expire. Ends with the
/// endpoint.
pub(super) async fn renew(shared: Weak<dyn SharedSessions>, sessions: Weak<Sessions>) {
    loop {
        sleep(RENEWAL_INTERVAL).await;
        let (Some(shared), Some(sessions)) = (shared.upgrade(), sessions.upgrade()) else {
            return;
        };
        for session in sessions.to_renew(Instant::now().into_std()) {
            reload(&*shared, &sessions, &session).await;
        }
    }
}

/// Applies the changes that other replicas announce.
pub(super) struct SessionChanges {
    pub(super) shared: Weak<dyn SharedSessions>,
    pub(super) sessions: Weak<Sessions>,
}

impl SessionChanges {
    /// Applies the record of a session, if this replica has a part of it that is older.
    pub(super) async fn apply(&self, changed: &Changed) -> ReplicaReply {
        let (Some(shared), Some(sessions)) = (self.shared.upgrade(), self.sessions.upgrade())
        else {
            return ReplicaReply::NotFound;
        };
        sessions.note_change();
        let session = SessionId::parse(&changed.session).and_then(|id| sessions.part(id));
        let Some(session) = session else {
            return ReplicaReply::NotFound;
        };
        if session.generation() < changed.generation {
            // Also if this future is dropped, the next request reads the record.
            sessions.doubt(&session);
            reload(&*shared, &sessions, &session).await;
        }
        ReplicaReply::Done
    }
}

impl Recipient for SessionChanges {
    fn receive(&self, _from: ReplicaId, message: ReplicaMessage) -> BoxFuture<'_, ReplicaReply> {
        Box::pin(async move {
            match message.read::<Changed>() {
                Ok(changed) => self.apply(&changed).await,
                Err(_) => ReplicaReply::NotFound,
            }
        })
    }
}

/// The result of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reloaded {
    /// The session has ended.
    Ended,
    /// The part has the settings of the record.
    Applied,
    /// The store does not answer. The session continues, because an end is rare, and the absence of a store is not
    /// the client's mistake.
    Unread,
}

/// Reads the record of a session, and applies it to the part.
pub(super) async fn reload(
    shared: &dyn SharedSessions,
    sessions: &Sessions,
    session: &Session,
) -> Reloaded {
    // Only parts of shared sessions are read.
    let Some(key) = session.key() else {
        return Reloaded::Applied;
    };
    let doubts = session.doubts();
    let mut state = read_state(shared, sessions, key).await;
    if let Some(read) = &state
        && let Some(own) = session.lost_settings(read)
    {
        state = restore(shared, sessions, key, &own).await;
    }
    let Some(state) = state else {
        sessions.note_unread(session, doubts);
        return Reloaded::Unread;
    };
    if state.is_ended {
        sessions.end(session, Instant::now().into_std());
        return Reloaded::Ended;
    }
    session.apply(&state, doubts);
    Reloaded::Applied
}

/// Records the settings of a part that the store has lost, and notifies the other replicas. `None` if the store does not
/// answer.
pub(super) async fn restore(
    shared: &dyn SharedSessions,
    sessions: &Sessions,
    key: SessionKey,
    own: &SessionState,
) -> Option<SessionState> {
    let id = SessionId::new(key.number.to_be_bytes());
    match shared.restore(key, own).await {
        Ok(state) => {
            tracing::info!(session = ?id, "the settings of a session are recorded again");
            if let Some(fleet) = sessions.bounds.fleet()
                && let Some(message) = message(id, state.generation)
            {
                fleet.publish(message);
            }
            Some(state)
        }
        Err(error) => {
            tracing::warn!(%error, session = ?id, "the settings of a session are not recorded again");
            None
        }
    }
}

/// Reads the record of a session. `None` if the store does not answer.
pub(super) async fn read_state(
    shared: &dyn SharedSessions,
    sessions: &Sessions,
    key: SessionKey,
) -> Option<SessionState> {
    match shared.state(key).await {
        Ok(state) => {
            sessions.outage.end();
            Some(state)
        }
        Err(error) => {
            if sessions.outage.begin(Instant::now().into_std()) {
                let session = SessionId::new(key.number.to_be_bytes());
                tracing::warn!(%error, ?session, "cannot read the states of sessions");
            }
            None
        }
    }
}

/// Waits for the replies of the other replicas to a change, at most [`MAX_WAIT`].
pub(super) async fn replies(fleet: &Fleet, message: &ReplicaMessage) {
    // The news have the change for replicas that are slow.
    let _ = timeout(MAX_WAIT, request_all(fleet, message)).await;
}

/// The notice that the record of a session has changed.
pub(super) fn message(id: SessionId, generation: u64) -> Option<ReplicaMessage> {
    let session = id.to_string();
    let changed = Changed {
        session,
        generation,
    };
    ReplicaMessage::new(KIND, &changed).ok()
}

/// Sends a message to the present replicas, and waits for their replies.
async fn request_all(fleet: &Fleet, message: &ReplicaMessage) {
    // The latest list may lack a replica that has just started.
    let replicas = match fleet.list_replicas().await {
        Ok(listed) => listed,
        Err(_) => fleet.replicas(),
    };
    let mut requests = JoinSet::new();
    for replica in replicas.into_iter().take(MAX_AWAITED) {
        let (fleet, message) = (fleet.clone(), message.clone());
        requests.spawn(async move { fleet.request(replica, message).await });
    }
    while let Some(reply) = requests.join_next().await {
        if let Ok(Err(error)) = reply {
            tracing::debug!(%error, "a replica did not confirm a change of a session");
        }
    }
}
