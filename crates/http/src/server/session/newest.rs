//! Which replica has the newest GET stream of a session.
//!
//! Each message of the server belongs on one stream. Each part of a session has the changes that replicas announce. So an
//! older stream at another replica is silent about them while there is a newer one.

use pintle_runtime::fleet::{Fleet, ReplicaId, ReplicaMessage};
use serde::{Deserialize, Serialize};

use super::lanes::{Remaining, Resumed};
use super::{Session, State, StreamLayout};
use crate::rules::event_id::EventId;
use crate::rules::session_id::SessionId;

/// The kind of the entries in the news.
pub(in crate::server) const STREAM_FACT: &str = "session-newest";

/// The opening of a stream. A later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::server) struct Opened {
    /// Milliseconds of the clock of the store.
    pub(in crate::server) time: u64,
    pub(in crate::server) replica: ReplicaId,
}

/// A fact that the streams of a session at other replicas need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::server) enum StreamFact {
    Opened(Opened),
    /// A stream is silent, because another replica opened this one later.
    IsOlder(Opened),
    Closed(Opened),
}

/// A fact about a stream, as an entry of the news.
#[derive(Serialize, Deserialize)]
pub(in crate::server) struct StreamNotice {
    /// 32 hexadecimal digits.
    session: String,
    what: What,
    time: u64,
    replica: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum What {
    Opened,
    IsOlder,
    Closed,
}

impl StreamNotice {
    fn new(session: SessionId, fact: StreamFact) -> Self {
        let (what, opened) = match fact {
            StreamFact::Opened(opened) => (What::Opened, opened),
            StreamFact::IsOlder(opened) => (What::IsOlder, opened),
            StreamFact::Closed(opened) => (What::Closed, opened),
        };
        Self {
            session: session.to_string(),
            what,
            time: opened.time,
            replica: opened.replica.to_string(),
        }
    }

    /// Returns the session and the fact. `None` if the notice is not valid.
    pub(in crate::server) fn read(&self) -> Option<(SessionId, StreamFact)> {
        let replica = self.replica.parse().ok()?;
        let opened = Opened {
            time: self.time,
            replica,
        };
        let fact = match self.what {
            What::Opened => StreamFact::Opened(opened),
            What::IsOlder => StreamFact::IsOlder(opened),
            What::Closed => StreamFact::Closed(opened),
        };
        Some((SessionId::parse(&self.session)?, fact))
    }
}

/// The newest stream here, and a newer one elsewhere.
#[derive(Debug)]
pub(super) struct NewestStream {
    own: Opened,
    other: Option<Opened>,
    /// Whether a stream elsewhere is silent because of the one here.
    has_older: bool,
}

impl NewestStream {
    fn new(own: Opened) -> Self {
        Self {
            own,
            other: None,
            has_older: false,
        }
    }
}

/// Publishes a fact about a stream. It does not wait.
pub(in crate::server) fn publish_fact(fleet: &Fleet, session: SessionId, fact: StreamFact) {
    let notice = StreamNotice::new(session, fact);
    if let Ok(entry) = ReplicaMessage::new(STREAM_FACT, &notice) {
        fleet.publish(entry);
    }
}

impl State {
    /// Forgets the stream here if none is open. Returns its end if a stream elsewhere waits for it.
    pub(super) fn close_newest(&mut self) -> Option<StreamFact> {
        if self.newest.is_none() || self.lanes.has_listeners() {
            return None;
        }
        let closed = self.newest.take()?;
        self.engine.send_changes_elsewhere(false);
        closed.has_older.then_some(StreamFact::Closed(closed.own))
    }
}

impl Session {
    /// Opens a stream for messages that belong to no request.
    pub(super) fn listen(&self) -> (Remaining, Option<EventId>) {
        let listening = self.change(|state| state.lanes.listen(&self.bounds));
        self.announce();
        listening
    }

    /// Continues a stream after an event.
    pub(super) fn resume(&self, after: EventId) -> Option<Resumed> {
        let resumed = self.change(|state| state.lanes.resume(after, &self.bounds.replay))?;
        if matches!(resumed.rest, Remaining::Unsolicited(..)) {
            self.announce();
        }
        Some(resumed)
    }

    fn announce(&self) {
        if let Some(fleet) = self.bounds.fleet() {
            self.publish(self.open_newest(fleet.now().as_millis(), fleet.replica()));
        }
    }

    /// Publishes a fact about a stream of this session. It does not wait.
    pub(in crate::server) fn publish(&self, fact: Option<StreamFact>) {
        if let (Some(fact), Some(fleet)) = (fact, self.bounds.fleet()) {
            publish_fact(fleet, self.id, fact);
        }
    }

    /// Records a stream that has just opened here. Returns the fact for the other replicas.
    fn open_newest(&self, now: u64, replica: ReplicaId) -> Option<StreamFact> {
        if !self.is_shared() || self.layout != StreamLayout::ManyStreams {
            return None;
        }
        self.change(|state| {
            let newest = state.newest.get_or_insert_with(|| {
                let own = Opened { time: now, replica };
                Box::new(NewestStream::new(own))
            });
            let other = newest
                .other
                .take()
                .map_or(0, |other| other.time.saturating_add(1));
            newest.own.time = now.max(other);
            state.engine.send_changes_elsewhere(false);
            Some(StreamFact::Opened(newest.own))
        })
    }

    /// Acts on a stream that another replica has opened.
    pub(in crate::server) fn opened_elsewhere(
        &self,
        opened: Opened,
        replica: ReplicaId,
    ) -> Option<StreamFact> {
        self.change(|state| {
            if !state.lanes.has_listeners() {
                return None;
            }
            let newest = state.newest.get_or_insert_with(|| {
                // It opened before this replica joined the others.
                Box::new(NewestStream::new(Opened { time: 0, replica }))
            });
            if opened < newest.own {
                return Some(StreamFact::Opened(newest.own));
            }
            newest.other = newest.other.max(Some(opened));
            state.engine.send_changes_elsewhere(true);
            Some(StreamFact::IsOlder(opened))
        })
    }

    /// Records that a stream elsewhere is silent because of a stream here. Returns false if that one has ended.
    pub(in crate::server) fn note_older(&self, own: Opened) -> bool {
        let mut state = self.lock();
        let is_open = state.lanes.has_listeners();
        match &mut state.newest {
            Some(newest) if is_open => {
                newest.has_older |= newest.own >= own;
                true
            }
            _ => false,
        }
    }

    /// Sends changes on the stream here again, if the newer one elsewhere is gone. All are sent, because some may have been
    /// lost with that one.
    pub(in crate::server) fn closed_elsewhere(
        &self,
        is_gone: impl Fn(Opened) -> bool,
    ) -> Option<StreamFact> {
        self.change(|state| {
            let newest = state.newest.as_mut()?;
            newest.other.take_if(|other| is_gone(*other))?;
            state.engine.send_changes_elsewhere(false);
            state.engine.publish_all();
            // A third stream may be silent from now on.
            Some(StreamFact::Opened(newest.own))
        })
    }
}
