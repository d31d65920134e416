//! The settings of a session that replicas share, at one part of it.

use std::time::{Duration, Instant};

use pintle_runtime::{SessionKey, SessionState};

use super::Session;
use crate::server::HAS_REPLICAS;

/// The beginning of a part of a shared session.
#[derive(Debug, Clone, Copy)]
pub(in crate::server) struct NewPart {
    /// The tag of its events.
    // Random, because each part counts its own events.
    pub(in crate::server) tag: u32,
    pub(in crate::server) key: SessionKey,
}

/// The shared settings of a part.
#[derive(Default)]
pub(super) struct Settings {
    /// The record that was applied, if there was one.
    applied: Option<Box<SessionState>>,
    /// How often the settings came in doubt, so that a request must read the record.
    doubts: u64,
    /// The doubts that a reading has ended.
    settled: u64,
    /// The doubts whose reading has failed. Another one follows without a request.
    unread: u64,
    /// Whether the last reading of the record has failed.
    is_unread: bool,
    /// Whether the engine may have settings that the record does not have.
    pub(super) is_ahead: bool,
}

impl Settings {
    fn generation(&self) -> u64 {
        self.applied.as_ref().map_or(0, |it| it.generation)
    }

    fn is_doubted(&self) -> bool {
        self.doubts > self.settled
    }
}

impl Session {
    /// Returns the key of the session, if replicas share it.
    pub(in crate::server) fn key(&self) -> Option<SessionKey> {
        self.key.filter(|_| HAS_REPLICAS)
    }

    /// Returns true if replicas share the session.
    pub(in crate::server) fn is_shared(&self) -> bool {
        self.key().is_some()
    }

    /// Records a use. Returns true if replicas share the session, and the last check was `interval` ago or the
    /// state is in doubt; the caller then reads the state.
    pub(in crate::server) fn needs_check(&self, now: Instant, interval: Duration) -> bool {
        let mut state = self.lock();
        state.last_use = now;
        let state = &mut *state;
        let Some(last) = &mut state.last_check else {
            return false;
        };
        let settings = &state.settings;
        let must_read = settings.doubts > settings.settled.max(settings.unread);
        let is_due = must_read || now.saturating_duration_since(*last) >= interval;
        if is_due {
            *last = now;
        }
        is_due
    }

    /// Returns true if a request or a stream is open, and the record was last read a quarter of its time ago. The caller
    /// then reads the record.
    pub(in crate::server) fn is_late(&self, now: Instant) -> bool {
        let Some(key) = self.key else { return false };
        let mut state = self.lock();
        let is_used = !state.lanes.is_unused();
        let Some(last) = &mut state.last_check else {
            return false;
        };
        let is_late = is_used && now.saturating_duration_since(*last) >= key.ttl() / 4;
        if is_late {
            *last = now;
        }
        is_late
    }

    /// Returns the generation of the settings.
    pub(in crate::server) fn generation(&self) -> u64 {
        self.lock().settings.generation()
    }

    /// Makes the next request read the state.
    pub(in crate::server) fn doubt(&self) {
        self.lock().settings.doubts += 1;
    }

    /// Returns how often the settings came in doubt. A reading that begins now ends these doubts.
    pub(in crate::server) fn doubts(&self) -> u64 {
        self.lock().settings.doubts
    }

    /// Records that the record could not be read. `doubts` is the number at the begin of the reading.
    pub(in crate::server) fn note_unread(&self, doubts: u64) {
        let settings = &mut self.lock().settings;
        settings.is_unread = true;
        settings.unread = settings.unread.max(doubts);
    }

    /// Returns true if the record must be read without a request: the last reading has failed, or the settings are in doubt
    /// and a stream may need them, or no other replica may have them.
    pub(in crate::server) fn awaits_settings(&self) -> bool {
        let state = self.lock();
        let settings = &state.settings;
        let is_needed = state.lanes.has_listeners() || settings.applied.is_some();
        let is_shared = state.last_check.is_some() && !state.is_over;
        is_shared && (settings.is_unread || (settings.is_doubted() && is_needed))
    }

    /// Returns the settings of this part if the store has lost them, so that its record is another one.
    pub(in crate::server) fn lost_settings(&self, record: &SessionState) -> Option<SessionState> {
        let state = self.lock();
        let applied = state.settings.applied.as_deref();
        let is_lost = |own: &&SessionState| record.generation <= own.generation && record != *own;
        applied
            .filter(is_lost)
            .filter(|_| !record.is_ended)
            .cloned()
    }

    /// Makes the next request replace the settings of the engine, because the record may not have them. Returns the number
    /// of doubts.
    pub(in crate::server) fn doubt_settings(&self) -> u64 {
        let settings = &mut self.lock().settings;
        settings.is_ahead = true;
        settings.doubts += 1;
        settings.doubts
    }

    /// Applies the settings of a record, unless the part has newer ones. `doubts` is the number at the begin of the reading:
    /// the record may be older than a doubt that came later.
    pub(in crate::server) fn apply(&self, shared: &SessionState, doubts: u64) {
        self.change(|state| {
            let settings = &mut state.settings;
            let is_newer = shared.generation > settings.generation();
            if is_newer || settings.is_ahead {
                let uris = shared.subscribed.iter().map(String::as_str);
                state
                    .engine
                    .set_session_settings(shared.level.clone(), uris);
            }
            let applied = match is_newer {
                true => Some(Box::new(shared.clone())),
                false => settings.applied.take(),
            };
            *settings = Settings {
                applied,
                doubts: settings.doubts,
                settled: settings.settled.max(doubts),
                ..Settings::default()
            };
        });
    }
}
