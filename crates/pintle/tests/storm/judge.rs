//! The rules for the end of a call. Each excuse names the fault, the replica and the time.

use std::time::Duration;

use tokio::time::Instant;

use super::client::{Call, Ended, Sent, Trace};
use super::replica::{Replica, Replicas};

/// How long a replica may feel a fault of its link: it tries to join again every 5 s, for at most 10 s.
const AFTER_FAULT: Duration = Duration::from_secs(15);
/// How long a replica can repeat an answer that the store lost.
const REPEATED: Duration = Duration::from_secs(120);

/// A part of the error for a call whose replica is gone.
const GONE: &str = "the replica that ran this request is gone";

/// A call that has ended.
pub(super) struct Done {
    pub(super) call: std::sync::Arc<Call>,
    pub(super) ended: Ended,
    pub(super) at: Instant,
}

/// Returns the failure of a call, or `None` if it ended as its faults allow.
pub(super) fn failure(replicas: &Replicas, done: &Done) -> Option<String> {
    let trace = done.call.trace.lock().expect("no panic");
    let effects = replicas.effects.lock().expect("no panic");
    let effects = effects.get(&done.call.key).copied().unwrap_or_default();
    let facts = Facts {
        losses: &replicas.losses.lock().expect("no panic"),
        trace: &trace,
        done,
    };
    let is_explained = match &done.ended {
        Ended::Right => effects == 1,
        Ended::Wrong(_) => false,
        Ended::Error(text) if text.contains(GONE) => facts.is_home_away(),
        Ended::Error(_) => effects == 0 && facts.error(),
        Ended::Status(400) => facts.has_no_log(),
        Ended::Status(503) => facts.is_away(trace.calls.last()?),
        // The call ended with its session, and the replica that was asked did not know that.
        Ended::Status(204) => facts.is_ended(),
        Ended::Status(404) => facts.is_ended() || facts.has_no_key(),
        Ended::Status(_) => false,
        Ended::Cut => facts.is_ended(),
        Ended::Killed => trace.calls.last()?.replica.was_killed(done.at),
        Ended::Hung => facts.is_lost(),
        Ended::NotAccepted => {
            let mut answers = trace.answers.iter();
            facts.is_home_away() || answers.all(|answer| facts.is_away(answer))
        }
        Ended::Left => done.call.cut.is_some(),
    };
    let (key, ended) = (&done.call.key, &done.ended);
    let failed = || format!("{key}: {ended:?}, {effects} effects{}", facts.timeline());
    (effects > 1 || !is_explained).then(failed)
}

struct Facts<'a> {
    losses: &'a [Instant],
    trace: &'a Trace,
    done: &'a Done,
}

impl Facts<'_> {
    /// The requests of the call, and the faults of their replicas.
    fn timeline(&self) -> String {
        let mut text = format!("; losses {:?}", self.losses);
        let calls = self.trace.calls.iter().map(|sent| ("call", sent));
        for (kind, sent) in calls.chain(self.trace.answers.iter().map(|it| ("answer", it))) {
            text += &format!("\n    {kind} {sent:?}");
        }
        text
    }

    /// The client ended the session before this call ended.
    fn is_ended(&self) -> bool {
        let session = self.done.call.session.as_ref();
        let sent = session.and_then(|session| session.end_sent.get());
        sent.is_some_and(|sent| *sent <= self.done.at)
    }

    /// The replica of a request did not reach the store, or was killed.
    fn is_away(&self, sent: &Sent) -> bool {
        let from = sent.from.checked_sub(AFTER_FAULT).unwrap_or(sent.from);
        sent.replica.was_away(from, sent.to.max(self.done.at))
    }

    /// The replica that ran the call was killed, or other replicas could count it as gone.
    fn is_home_away(&self) -> bool {
        self.trace.calls.first().is_some_and(|it| self.is_away(it))
    }

    /// The log of the stream was lost, or its replica could not write it.
    fn has_no_log(&self) -> bool {
        let began = self.trace.calls.first().map(|sent| sent.from);
        let mut losses = self.losses.iter();
        losses.any(|loss| began.is_some_and(|began| began <= *loss)) || self.is_home_away()
    }

    /// A replica of this call began with a store that had lost the key of the id or the state.
    fn has_no_key(&self) -> bool {
        let sent = self.trace.calls.iter().chain(&self.trace.answers);
        let mut replicas = sent.map(|sent| &sent.replica);
        replicas.any(|replica| began_after(replica, self.losses))
    }

    /// The store lost the key, another replica wrote a new one, and the last replica of this call cannot read it.
    fn cannot_read_keys(&self) -> bool {
        let is_lost = self.losses.iter().any(|loss| *loss <= self.done.at);
        is_lost && self.trace.calls.last().is_some_and(|it| self.is_away(it))
    }

    /// The answer of a call of 2026-07-28 does not open, or the session of the call ended.
    fn error(&self) -> bool {
        match self.done.call.session {
            Some(_) => self.is_ended(),
            None => self.has_no_key() || self.cannot_read_keys(),
        }
    }

    /// The store lost the answer, and the replica that accepted it could not repeat it.
    fn is_lost(&self) -> bool {
        let accepted = self.trace.answers.iter().rfind(|it| it.status == Some(202));
        accepted.is_some_and(|answer| {
            let last = answer.to + REPEATED;
            let mut losses = self.losses.iter();
            losses.any(|loss| {
                answer.to <= *loss && *loss <= last && answer.replica.was_away(*loss, last)
            })
        })
    }
}

/// Whether a replica may have other keys than those before a loss.
pub(super) fn began_after(replica: &Replica, losses: &[Instant]) -> bool {
    losses.iter().any(|loss| *loss <= replica.started)
}
