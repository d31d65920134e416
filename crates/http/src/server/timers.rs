//! Timers of sessions: for calls that time out, and handshakes that the client never confirms.
//!
//! One task serves all sessions. A session has at most one alarm, and none while it waits for nothing.

use std::collections::BTreeSet;
use std::time::Instant;

use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::rules::session_id::SessionId;

/// The timers of all sessions of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Timers {
    set: Mutex<BTreeSet<(Instant, SessionId)>>,
    sooner: Notify,
}

impl Timers {
    /// Sets, moves or removes the alarm of a session.
    pub(super) fn change(&self, id: SessionId, before: Option<Instant>, after: Option<Instant>) {
        let mut set = self.lock();
        if let Some(at) = before {
            set.remove(&(at, id));
        }
        let Some(at) = after else { return };
        set.insert((at, id));
        let is_first = set.first() == Some(&(at, id));
        drop(set);
        if is_first {
            self.sooner.notify_one();
        }
    }

    /// Waits until an alarm is set that is earlier than all others.
    pub(super) async fn sooner(&self) {
        self.sooner.notified().await;
    }

    /// Returns the first alarm.
    pub(super) fn next(&self) -> Option<Instant> {
        self.lock().first().map(|(at, _)| *at)
    }

    /// Removes and returns a session whose alarm is due.
    pub(super) fn take(&self, now: Instant) -> Option<SessionId> {
        let mut set = self.lock();
        let has_come = set.first().is_some_and(|(at, _)| *at <= now);
        let (_, id) = has_come.then(|| set.pop_first()).flatten()?;
        Some(id)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(Instant, SessionId)>> {
        self.set.lock()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_session_has_one_alarm_at_most() {
        let timers = Timers::default();
        let [one, other] =
            ["0", "1"].map(|digit| SessionId::parse(&digit.repeat(32)).expect("a name"));
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        timers.change(one, None, Some(at(9)));
        timers.change(other, None, Some(at(5)));
        timers.change(one, Some(at(9)), Some(at(3)));
        assert_eq!((timers.next(), timers.lock().len()), (Some(at(3)), 2));
        assert_eq!(timers.take(at(2)), None);
        assert_eq!(timers.take(at(3)), Some(one));
        timers.change(other, Some(at(5)), None);
        assert_eq!((timers.next(), timers.take(at(10))), (None, None));
    }
}
