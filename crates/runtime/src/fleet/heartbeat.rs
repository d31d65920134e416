//! The renewals of a presence: what to write, and when. No I/O.

use std::time::Duration;

use pintle_store::{Precondition, StoreTime, Version};
use tokio::time::Instant;

use super::event::FleetEvent;

/// The presence of this replica, from the results of its renewals.
#[derive(Debug)]
pub(super) struct Heartbeat {
    interval: Duration,
    due: Instant,
    version: Option<Version>,
    expires: StoreTime,
    is_lapsed: bool,
    lapses: u64,
    offline_since: Option<StoreTime>,
    /// Whether the last renewal met another version.
    had_conflict: bool,
}

/// One renewal that was sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attempt {
    pub(super) sent: Instant,
    pub(super) expires: StoreTime,
}

/// The result of a renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renewal {
    Written(Version),
    Conflict(Option<Version>),
    Failed,
}

impl Heartbeat {
    /// Begins with a presence that was written.
    pub(super) fn new(interval: Duration, written: Attempt, version: Version) -> Self {
        Self {
            interval,
            due: written.sent + interval,
            version: Some(version),
            expires: written.expires,
            is_lapsed: false,
            lapses: 0,
            offline_since: None,
            had_conflict: false,
        }
    }

    /// The instant of the next renewal.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    pub(super) fn condition(&self) -> Precondition {
        self.version
            .map_or(Precondition::Absent, Precondition::Version)
    }

    /// Returns the number of the presence while it is current.
    pub(super) fn term(&self, now: StoreTime) -> Option<u64> {
        (!self.is_lapsed && now < self.expires).then_some(self.lapses)
    }

    pub(super) fn offline_since(&self) -> Option<StoreTime> {
        self.offline_since
    }

    /// Notices that the presence has expired.
    pub(super) fn check(&mut self, now: StoreTime) -> Option<FleetEvent> {
        (!self.is_lapsed && now >= self.expires).then(|| self.lapse())
    }

    /// Records the result of a renewal, and returns the changes.
    pub(super) fn settle(
        &mut self,
        attempt: Attempt,
        renewal: Renewal,
        now: StoreTime,
    ) -> [Option<FleetEvent>; 2] {
        match renewal {
            Renewal::Written(version) => self.written(attempt, version),
            Renewal::Conflict(found) => self.conflict(attempt, found),
            Renewal::Failed => [self.failed(attempt, now), None],
        }
    }

    fn written(&mut self, attempt: Attempt, version: Version) -> [Option<FleetEvent>; 2] {
        self.version = Some(version);
        self.expires = attempt.expires;
        self.due = attempt.sent + self.interval;
        self.had_conflict = false;
        let renewed = std::mem::take(&mut self.is_lapsed).then_some(FleetEvent::Renewed);
        [self.answered(), renewed]
    }

    /// Another version is that of an earlier renewal without an answer, because no other replica has this
    /// name. Renews at once, but waits after the second conflict.
    fn conflict(&mut self, attempt: Attempt, found: Option<Version>) -> [Option<FleetEvent>; 2] {
        let pause = if self.had_conflict {
            self.pause()
        } else {
            Duration::ZERO
        };
        self.due = attempt.sent + pause;
        self.had_conflict = true;
        self.version = found;
        let lapsed = (found.is_none() && !self.is_lapsed).then(|| self.lapse());
        [self.answered(), lapsed]
    }

    fn failed(&mut self, attempt: Attempt, now: StoreTime) -> Option<FleetEvent> {
        self.due = attempt.sent + self.pause();
        let is_new = self.offline_since.is_none();
        self.offline_since.get_or_insert(now);
        is_new.then_some(FleetEvent::Offline)
    }

    fn answered(&mut self) -> Option<FleetEvent> {
        self.offline_since.take().map(|_| FleetEvent::Online)
    }

    fn lapse(&mut self) -> FleetEvent {
        self.is_lapsed = true;
        self.lapses += 1;
        FleetEvent::Lapsed
    }

    /// The pause before a renewal is repeated.
    fn pause(&self) -> Duration {
        self.interval / 3
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests;
