use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pintle_model::{Implementation, ServerCapabilities};
use pintle_proto::{Connection, Limits, ServerProfile};

use super::{OpenSessionError, Sessions, draw_id};
use crate::HttpOptions;
use crate::server::peers::{Excess, Peer};
use crate::server::session::{Session, StreamLayout};

fn sessions(most: usize) -> Arc<Sessions> {
    let mut options = HttpOptions::default();
    options.limits.max_sessions = most;
    Arc::new(Sessions::new(&options))
}

fn open(sessions: &Arc<Sessions>, now: Instant) -> Result<Arc<Session>, OpenSessionError> {
    open_from(sessions, &Peer::Unknown, now)
}

fn open_from(
    sessions: &Arc<Sessions>,
    peer: &Peer,
    now: Instant,
) -> Result<Arc<Session>, OpenSessionError> {
    let about = Implementation::new("test", "1");
    let profile = ServerProfile::new(about, ServerCapabilities::default());
    let engine = Connection::session(Arc::new(profile), Arc::new(Limits::default()), now);
    sessions.open(engine, StreamLayout::ManyStreams, None, peer, now)
}

fn after(now: Instant, seconds: u64) -> Instant {
    now + Duration::from_secs(seconds)
}

// spec: 2025-11-25 TRANS-SESS-02, TRANS-SESS-03, SEC-17
// hardening: H-12
#[test]
fn names_are_visible_ascii_and_never_repeat() {
    let drawn: HashSet<_> = (0..20)
        .map(|_| draw_id().expect("randomness").to_string())
        .collect();
    assert_eq!(drawn.len(), 20);
    assert!(
        drawn
            .iter()
            .all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_graphic()))
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_refused_sets_no_alarm() {
    let sessions = sessions(1);
    let now = Instant::now();
    let first = open(&sessions, now).expect("room");
    for _ in 0..100 {
        assert_eq!(
            open(&sessions, now).err(),
            Some(OpenSessionError::Full(Excess::InTotal))
        );
    }
    assert!(sessions.end(&first, now));
    assert!(!sessions.end(&first, now), "it ends once");
    assert_eq!(sessions.timers.next(), None);
}

#[tokio::test(start_paused = true)]
async fn a_full_endpoint_searches_for_idle_sessions_when_there_can_be_one() {
    let sessions = sessions(2);
    let now = Instant::now();
    let next = || sessions.lock().room.next_search();
    let first = open(&sessions, now).expect("room");
    let second = open(&sessions, after(now, 5)).expect("room");
    assert_eq!(
        open(&sessions, after(now, 10)).err(),
        Some(OpenSessionError::Full(Excess::InTotal))
    );
    assert_eq!(next(), Some(after(now, 60)));
    assert_eq!(
        open(&sessions, after(now, 59)).err(),
        Some(OpenSessionError::Full(Excess::InTotal))
    );
    assert_eq!(next(), Some(after(now, 60)), "there was no other search");
    open(&sessions, after(now, 61)).expect("the first gives way");
    assert!(first.is_over() && !second.is_over());
    assert_eq!(
        open(&sessions, after(now, 61)).err(),
        Some(OpenSessionError::Full(Excess::InTotal))
    );
    assert_eq!(next(), Some(after(now, 65)));
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_is_used_meanwhile_is_not_evicted() {
    let sessions = sessions(3);
    let now = Instant::now();
    let all: Vec<_> = (0..3)
        .map(|at| open(&sessions, after(now, at)).expect("room"))
        .collect();
    open(&sessions, after(now, 100)).expect("the first gives way");
    sessions.end(&all[1], after(now, 100));
    open(&sessions, after(now, 100)).expect("there is room");
    open(&sessions, after(now, 100)).expect("the third gives way");
    assert!(all.iter().all(|session| session.is_over()));
    assert_eq!(
        open(&sessions, after(now, 100)).err(),
        Some(OpenSessionError::Full(Excess::InTotal))
    );
}

fn at(address: &str) -> Peer {
    Peer::Address(address.parse().expect("an address"))
}

#[tokio::test(start_paused = true)]
async fn a_peer_evicts_only_its_own_idle_session() {
    let mut options = HttpOptions::default();
    options.limits.max_sessions_per_peer = 2;
    let sessions = Arc::new(Sessions::new(&options));
    let now = Instant::now();
    let (own, other) = (at("192.0.2.1"), at("192.0.2.2"));
    let oldest = open_from(&sessions, &other, now).expect("room");
    let first = open_from(&sessions, &own, after(now, 1)).expect("room");
    let second = open_from(&sessions, &own, after(now, 2)).expect("room");
    let third = open_from(&sessions, &own, after(now, 3));
    assert_eq!(third.err(), Some(OpenSessionError::Full(Excess::OfPeer)));
    open_from(&sessions, &own, after(now, 62)).expect("the first is evicted");
    assert!(first.is_over() && !second.is_over() && !oldest.is_over());
    sessions.end(&second, after(now, 62));
    open_from(&sessions, &own, after(now, 62)).expect("room");
    sessions.close();
    assert!(sessions.lock().by_peer.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_peer_without_sessions_is_forgotten() {
    let sessions = sessions(10);
    let now = Instant::now();
    let session = open_from(&sessions, &at("192.0.2.1"), now).expect("room");
    assert!(sessions.end(&session, now));
    assert!(sessions.lock().by_peer.is_empty());
}
