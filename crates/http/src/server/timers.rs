//! When sessions want to hear of time: calls run out of patience, handshakes are not confirmed.
//!
//! One task looks after all sessions. A session has one alarm at most, and none once it waits for
//! nothing, so there are never more than sessions.

use std::collections::BTreeSet;
use std::time::Instant;

use pintle_runtime::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

use crate::rules::session_id::SessionId;

/// The alarms of all sessions of one endpoint.
#[derive(Debug, Default)]
pub(super) struct Timers {
    set: Mutex<BTreeSet<(Instant, SessionId)>>,
    sooner: Notify,
}

impl Timers {
    /// Puts the alarm of a session off or forward, sets it or takes it back.
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

    /// Waits until a sooner alarm than all others was set.
    pub(super) async fn sooner(&self) {
        self.sooner.notified().await;
    }

    /// The first alarm.
    pub(super) fn next(&self) -> Option<Instant> {
        self.lock().first().map(|(at, _)| *at)
    }

    /// Takes a session whose alarm has come.
    pub(super) fn take(&self, now: Instant) -> Option<SessionId> {
        let mut set = self.lock();
        let has_come = set.first().is_some_and(|(at, _)| *at <= now);
        let (_, id) = has_come.then(|| set.pop_first()).flatten()?;
        Some(id)
    }

    // Whatever happens between two calls on the set, what a poisoned lock guards is a set.
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
        let alarms = Timers::default();
        let [one, other] =
            ["0", "1"].map(|digit| SessionId::parse(&digit.repeat(32)).expect("a name"));
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        alarms.change(one, None, Some(at(9)));
        alarms.change(other, None, Some(at(5)));
        alarms.change(one, Some(at(9)), Some(at(3)));
        assert_eq!((alarms.next(), alarms.lock().len()), (Some(at(3)), 2));
        assert_eq!(alarms.take(at(2)), None);
        assert_eq!(alarms.take(at(3)), Some(one));
        alarms.change(other, Some(at(5)), None);
        assert_eq!((alarms.next(), alarms.take(at(10))), (None, None));
    }
}
