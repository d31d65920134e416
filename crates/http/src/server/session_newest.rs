//! Replicas notify each other of the GET streams of a session, so that the newest alone receives a change.
//!
//! The news have each opening. A replica with an older stream is silent from then on, and replies that it is. Only then the
//! end of the newer stream is news, too: so one stream costs one entry. Each mistake is a second notice, never a lost one: if
//! entries are lost or a replica is gone, the older stream receives all changes again.

use std::sync::Weak;

use pintle_runtime::fleet::{FleetEvent, FleetEvents};

use super::session::{Opened, StreamFact, StreamNotice, publish_fact};
use super::sessions::Sessions;

/// Acts on a fact from another replica.
pub(super) fn apply(sessions: &Sessions, notice: &StreamNotice) {
    let (Some(fleet), Some((id, fact))) = (sessions.bounds.fleet(), notice.read()) else {
        return;
    };
    let (session, own) = (sessions.part(id), fleet.replica());
    let reply = match (fact, session) {
        (StreamFact::Opened(opened), Some(session)) => session.opened_elsewhere(opened, own),
        (StreamFact::Closed(opened), Some(session)) => {
            session.closed_elsewhere(|other| other <= opened)
        }
        (StreamFact::IsOlder(opened), session) if opened.replica == own => {
            let is_open = session.is_some_and(|session| session.note_older(opened));
            // It has ended meanwhile.
            (!is_open).then_some(StreamFact::Closed(opened))
        }
        _ => None,
    };
    if let Some(fact) = reply {
        publish_fact(fleet, id, fact);
    }
}

/// Sends changes on the streams here whose newer one was at a replica that is gone. Ends with the replica or the endpoint.
pub(super) async fn follow_replicas(mut events: FleetEvents, sessions: Weak<Sessions>) {
    while let Some(event) = events.next().await {
        let Some(sessions) = sessions.upgrade() else {
            return;
        };
        match event {
            FleetEvent::Gone(replica) => release(&sessions, |other| other.replica == replica),
            FleetEvent::Missed(_) => release(&sessions, |_| true),
            _ => {}
        }
    }
}

/// Sends changes on the streams here whose newer one may be gone.
pub(super) fn release(sessions: &Sessions, is_gone: impl Fn(Opened) -> bool) {
    for session in sessions.all() {
        session.publish(session.closed_elsewhere(&is_gone));
    }
}
