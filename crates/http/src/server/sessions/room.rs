//! Eviction: at the limit, a new session replaces the one that was idle longest.
//!
//! A search reads every session, and the endpoint waits meanwhile. So one search finds several candidates, and one
//! that finds none is not repeated before a session can have been idle for long enough.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::SessionTable;
use crate::rules::session_id::SessionId;
use crate::server::session::Session;

/// A session that was idle for less than this is not evicted.
const SHORT_IDLE: Duration = Duration::from_secs(60);
/// The shortest pause after a search that found none, because sessions may be used just before they are found.
const MIN_SEARCH_INTERVAL: Duration = Duration::from_secs(1);
/// Candidates that one search finds at most.
const MAX_CANDIDATES: usize = 64;

/// The sessions to be evicted next, of all peers or of one.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// With the instant since which they are idle; the longest idle first.
    candidates: VecDeque<(Instant, SessionId)>,
    /// No search finds any before this instant.
    next_search: Option<Instant>,
}

impl Room {
    /// Finds the session of this room that is idle longest; none if it is not idle for long enough.
    pub(super) fn make(
        &mut self,
        sessions: &SessionTable,
        now: Instant,
        is_of_room: &dyn Fn(&Session) -> bool,
    ) -> Option<Arc<Session>> {
        loop {
            let Some((since, id)) = self.candidates.pop_front() else {
                if !self.search(sessions, now, is_of_room) {
                    return None;
                }
                continue;
            };
            // A session that was used or has ended meanwhile is no longer a candidate.
            if let Some(session) = sessions.get(&id)
                && session.idle_since() == Some(since)
            {
                tracing::debug!(session = ?id, ?since, "an idle session is evicted for a new one");
                return Some(Arc::clone(session));
            }
        }
    }

    /// Searches for candidates; returns false if it finds no session.
    fn search(
        &mut self,
        sessions: &SessionTable,
        now: Instant,
        is_of_room: &dyn Fn(&Session) -> bool,
    ) -> bool {
        if self.next_search.is_some_and(|next| now < next) {
            return false;
        }
        let mut longest = now;
        let mut found = Vec::new();
        for session in sessions.values().filter(|session| is_of_room(session)) {
            let Some(since) = session.idle_since() else {
                continue;
            };
            longest = longest.min(since);
            if now.saturating_duration_since(since) > SHORT_IDLE {
                found.push((since, session.id()));
            }
        }
        if found.is_empty() {
            self.next_search = Some((longest + SHORT_IDLE).max(now + MIN_SEARCH_INTERVAL));
            return false;
        }
        if found.len() > MAX_CANDIDATES {
            found.select_nth_unstable(MAX_CANDIDATES);
            found.truncate(MAX_CANDIDATES);
        }
        found.sort_unstable();
        self.candidates = found.into();
        true
    }

    /// When sessions may be searched again.
    #[cfg(test)]
    pub(super) fn next_search(&self) -> Option<Instant> {
        self.next_search
    }
}
