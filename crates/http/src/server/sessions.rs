//! The open sessions: found by id, limited in number, and ended when idle for too long.

mod room;

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hash};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use pintle_proto::Connection;
use pintle_runtime::sync::{Mutex, MutexGuard};
use pintle_runtime::{EngineHandle, Principal, random_bytes};
use tokio::sync::watch;

use super::options::HttpOptions;
use super::outage::Outage;
use super::peers::{Excess, Peer};
use super::session::{Bounds, NewSession, Session, StreamLayout};
use super::timers::Timers;
use crate::rules::session_id::{RandomBits, SessionId};
use room::Room;

/// The pause between two searches for expired sessions. It only delays the release of memory, because
/// an expired session cannot be found.
const SWEEP: Duration = Duration::from_secs(5);

/// The table keeps the memory for this many sessions.
const FEW_SESSIONS: usize = 1_024;

/// The sessions of one endpoint.
pub(super) struct Sessions {
    state: Mutex<State>,
    most: usize,
    most_of_peer: usize,
    idle: Duration,
    pub(super) bounds: Arc<Bounds>,
    timers: Arc<Timers>,
    /// The number of notices that the record of a session changed.
    changes: AtomicU64,
    /// The time without the records of shared sessions.
    pub(super) outage: Outage,
    /// Changes when the record of a session must be read without a request.
    doubts: watch::Sender<()>,
}

/// Sessions by their ids.
type SessionTable = HashMap<SessionId, Arc<Session>, BuildHasherDefault<RandomBits>>;

#[derive(Default)]
struct State {
    session_by_id: SessionTable,
    by_peer: HashMap<Peer, OfPeer>,
    room: Room,
    is_swept: bool,
    is_closed: bool,
}

/// The sessions of one peer.
#[derive(Default)]
struct OfPeer {
    open: usize,
    room: Room,
}

/// Why no session was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenSessionError {
    /// The number of sessions is at its limit, and none can be evicted.
    Full(Excess),
    /// The operating system did not return random bytes.
    NoRandomness,
}

impl Sessions {
    pub(super) fn new(options: &HttpOptions) -> Self {
        Self {
            state: Mutex::default(),
            most: options.limits.max_sessions,
            most_of_peer: options.limits.max_sessions_per_peer,
            idle: options.limits.session_idle_timeout,
            bounds: Arc::new(Bounds::of(options)),
            timers: Arc::default(),
            changes: AtomicU64::new(0),
            outage: Outage::new(options.limits.offline_session_ttl),
            doubts: watch::Sender::default(),
        }
    }

    /// Opens a session around an engine that has performed the handshake.
    ///
    /// # Errors
    ///
    /// [`OpenSessionError`]; no session is stored then.
    pub(super) fn open(
        self: &Arc<Self>,
        engine: Connection,
        layout: StreamLayout,
        owner: Option<&Principal>,
        peer: &Peer,
        now: Instant,
    ) -> Result<Arc<Session>, OpenSessionError> {
        let new = NewSession {
            id: draw_id()?,
            owner,
            peer,
            engine,
            layout,
            part: None,
        };
        self.insert(new, now)
    }

    /// Adds a session, or returns the one of this id that another request has added meanwhile.
    ///
    /// # Errors
    ///
    /// [`OpenSessionError::Full`]; no session is stored then.
    pub(super) fn insert(
        self: &Arc<Self>,
        new: NewSession<'_>,
        now: Instant,
    ) -> Result<Arc<Session>, OpenSessionError> {
        let id = new.id;
        let mut state = self.lock();
        if let Some(session) = state.session_by_id.get(&id) {
            return Ok(Arc::clone(session));
        }
        let evicted = match state.admit_of_peer(new.peer, self.most_of_peer, now)? {
            Some(evicted) => Some(evicted),
            None => state.admit(self.most, now)?,
        };
        // Created after the check, because a session sets an alarm.
        let (bounds, timers) = (Arc::clone(&self.bounds), Arc::clone(&self.timers));
        let session = Arc::new(Session::new(new, bounds, timers, now));
        state.add(&session);
        if !std::mem::replace(&mut state.is_swept, true) {
            tokio::spawn(look_after(Arc::downgrade(self), Arc::clone(&self.timers)));
        }
        drop(state);
        if let Some(evicted) = evicted {
            evicted.end(now);
        }
        Ok(session)
    }

    /// Finds a session of a layout. One that has expired, or that another principal opened, does not
    /// exist.
    pub(super) fn find(
        &self,
        id: SessionId,
        layout: StreamLayout,
        principal: Option<&Principal>,
        now: Instant,
    ) -> Option<Arc<Session>> {
        let session = self.lock().session_by_id.get(&id).cloned()?;
        if session.layout() != layout {
            return None;
        }
        if session.is_expired(now, self.idle) {
            self.end(&session, now);
            return None;
        }
        if !session.belongs_to(principal) {
            tracing::warn!(session = ?id, "a session was named by another principal");
            return None;
        }
        Some(session)
    }

    /// Finds the part of a session that replicas share. The caller has compared the owner.
    pub(super) fn part(&self, id: SessionId) -> Option<Arc<Session>> {
        let session = self.lock().session_by_id.get(&id).cloned();
        session.filter(|session| session.is_shared())
    }

    /// Returns the parts in use whose record has not been read for so long that it may expire.
    pub(super) fn to_renew(&self, now: Instant) -> Vec<Arc<Session>> {
        let late = self.all().into_iter();
        late.filter(|session| session.is_late(now)).collect()
    }

    /// Counts a notice that the record of a session changed.
    pub(super) fn note_change(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of notices so far. If it changes while a record is read, the record may be older
    /// than the notice.
    pub(super) fn noted_changes(&self) -> u64 {
        self.changes.load(Ordering::SeqCst)
    }

    /// Makes the next request of each session that replicas share read the state, because notices may be lost.
    pub(super) fn doubt_all(&self) {
        self.note_change();
        self.all().iter().for_each(|session| session.doubt());
        self.doubts.send_replace(());
    }

    /// Returns all sessions and parts.
    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        self.lock().session_by_id.values().cloned().collect()
    }

    /// Makes the next request of a session read the state. It is also read without a request if a stream may need it.
    pub(super) fn doubt(&self, session: &Session) {
        session.doubt();
        self.doubts.send_replace(());
    }

    /// Records that the state of a session could not be read, so that it is read without a request.
    pub(super) fn note_unread(&self, session: &Session, doubts: u64) {
        session.note_unread(doubts);
        self.doubts.send_replace(());
    }

    /// Returns a receiver that changes when a session is in doubt, and closes with the sessions.
    pub(super) fn doubts(&self) -> watch::Receiver<()> {
        self.doubts.subscribe()
    }

    /// Returns the sessions whose state must be read without a request.
    pub(super) fn in_doubt(&self) -> Vec<Arc<Session>> {
        let sessions: Vec<_> = self.lock().session_by_id.values().cloned().collect();
        let waiting = sessions.into_iter();
        waiting.filter(|it| it.awaits_settings()).collect()
    }

    /// Ends a session; its id is unknown from then on. Returns false if the session has ended already,
    /// because one of several requests ends it.
    pub(super) fn end(&self, session: &Session, now: Instant) -> bool {
        let was_open = self.lock().forget(session.id());
        session.end(now);
        was_open
    }

    /// Waits until no session has an open question to its client.
    pub(super) async fn until_answered(&self) {
        let mut answered = self.bounds.answered.follow();
        while self.has_questions() {
            // The sender lives as long as this value.
            let _ = answered.changed().await;
        }
    }

    fn has_questions(&self) -> bool {
        let sessions: Vec<_> = self.lock().session_by_id.values().cloned().collect();
        sessions.iter().any(|session| session.has_questions())
    }

    /// Ends all sessions and opens no more.
    pub(super) fn close(&self) {
        let sessions = {
            let mut state = self.lock();
            state.is_closed = true;
            state.by_peer.clear();
            std::mem::take(&mut state.session_by_id)
        };
        sessions.values().for_each(|session| session.end_streams());
    }

    /// Handles the timeouts of the sessions whose alarm is due.
    fn handle_timeout(&self, now: Instant) {
        while let Some(id) = self.timers.take(now) {
            let session = self.lock().session_by_id.get(&id).cloned();
            let Some(session) = session else { continue };
            session.handle_timeout(now);
            if session.is_over() {
                self.end(&session, now);
            }
        }
    }

    /// Ends expired sessions. Returns false once no session is open.
    fn sweep(&self, now: Instant) -> bool {
        let mut state = self.lock();
        let all = state.session_by_id.values();
        let expired: Vec<_> = all
            .filter(|session| session.is_expired(now, self.idle))
            .cloned()
            .collect();
        for session in &expired {
            state.forget(session.id());
        }
        state.is_swept = !state.session_by_id.is_empty();
        let goes_on = state.is_swept;
        drop(state);
        expired.iter().for_each(|session| session.end(now));
        goes_on
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// The handle to the engines of all sessions.
impl EngineHandle for Sessions {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        let all: Vec<_> = self.lock().session_by_id.values().cloned().collect();
        all.iter().for_each(|session| session.engine(act));
    }
}

impl State {
    /// Makes sure that there is room for one more session; returns the idle one that is evicted for it.
    ///
    /// # Errors
    ///
    /// [`OpenSessionError::Full`].
    fn admit(
        &mut self,
        most: usize,
        now: Instant,
    ) -> Result<Option<Arc<Session>>, OpenSessionError> {
        if self.is_closed {
            return Err(OpenSessionError::Full(Excess::InTotal));
        }
        if self.session_by_id.len() < most {
            return Ok(None);
        }
        let evicted = self.room.make(&self.session_by_id, now, &|_| true);
        let evicted = evicted.ok_or(OpenSessionError::Full(Excess::InTotal))?;
        self.forget(evicted.id());
        Ok(Some(evicted))
    }

    /// Makes sure that a peer has room for one more session; returns its idle one that is evicted for it.
    /// A peer without a known address has no limit.
    ///
    /// # Errors
    ///
    /// [`OpenSessionError::Full`].
    fn admit_of_peer(
        &mut self,
        peer: &Peer,
        most: usize,
        now: Instant,
    ) -> Result<Option<Arc<Session>>, OpenSessionError> {
        let own = self.by_peer.get_mut(peer);
        let Some(own) = own.filter(|own| own.open >= most && *peer != Peer::Unknown) else {
            return Ok(None);
        };
        let is_own = |session: &Session| session.peer() == peer;
        let evicted = own.room.make(&self.session_by_id, now, &is_own);
        let evicted = evicted.ok_or(OpenSessionError::Full(Excess::OfPeer))?;
        self.forget(evicted.id());
        Ok(Some(evicted))
    }

    fn add(&mut self, session: &Arc<Session>) {
        let peer = session.peer().clone();
        self.by_peer.entry(peer).or_default().open += 1;
        self.session_by_id.insert(session.id(), Arc::clone(session));
    }

    /// Removes a session, and releases memory after many have left. Returns false if there is none.
    fn forget(&mut self, id: SessionId) -> bool {
        let Some(session) = self.session_by_id.remove(&id) else {
            return false;
        };
        if let Some(own) = self.by_peer.get_mut(session.peer()) {
            own.open -= 1;
            if own.open == 0 {
                self.by_peer.remove(session.peer());
            }
        }
        shrink(&mut self.session_by_id);
        shrink(&mut self.by_peer);
        true
    }
}

fn shrink<K: Eq + Hash, V>(table: &mut HashMap<K, V, impl BuildHasher>) {
    let used = table.len();
    if table.capacity() > (4 * used).max(FEW_SESSIONS) {
        table.shrink_to(2 * used);
    }
}

/// Draws the id of a new session.
///
/// # Errors
///
/// [`OpenSessionError::NoRandomness`], because no session is better than one that can be guessed.
pub(super) fn draw_id() -> Result<SessionId, OpenSessionError> {
    let random = random_bytes().map_err(|_| OpenSessionError::NoRandomness)?;
    Ok(SessionId::new(random))
}

/// Looks after the sessions for as long as there are any.
async fn look_after(sessions: Weak<Sessions>, timers: Arc<Timers>) {
    let mut next_sweep = later(SWEEP);
    loop {
        let alarm = timers.next().map(tokio::time::Instant::from_std);
        let next = alarm.map_or(next_sweep, |alarm| alarm.min(next_sweep));
        tokio::select! {
            () = tokio::time::sleep_until(next) => {}
            () = timers.sooner() => continue,
        }
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        let now = tokio::time::Instant::now();
        sessions.handle_timeout(now.into_std());
        if now >= next_sweep {
            next_sweep = later(SWEEP);
            if !sessions.sweep(now.into_std()) {
                return;
            }
        }
    }
}

fn later(wait: Duration) -> tokio::time::Instant {
    tokio::time::Instant::now() + wait
}

#[cfg(test)]
mod tests;
