//! How long a task lives: at work, while it waits for answers, and after its end.
//!
//! A task that works is not ended by its ttl, unless its client has set that ttl. The ttl is the time
//! that a question waits for its answer, and the time that the end of a task can be read.

use std::fmt;
use std::time::Duration;

use pintle_store::StoreTime;

use super::options::TaskOptions;
use super::record::TaskRecord;

/// When a task fails unless it makes progress, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deadline {
    pub(super) at: StoreTime,
    reason: Overdue,
}

/// Why a task fails at its deadline. Closed: these are the bounds on its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overdue {
    /// It has run for as long as a task may run.
    Run(Duration),
    /// It has outlived the ttl that its client has set.
    Ttl(Duration),
    /// Its questions have waited for as long as questions may wait.
    Answers(Duration),
}

impl TaskRecord {
    /// When the task fails unless it ends, is answered or asks again before.
    pub(crate) fn deadline(&self, options: &TaskOptions) -> Deadline {
        let (ttl, longest) = (self.ttl(), options.run_timeout);
        let longest = Deadline {
            at: self.created() + longest,
            reason: Overdue::Run(longest),
        };
        let (from, reason) = if self.is_ttl_requested {
            (self.created(), Overdue::Ttl(ttl))
        } else if !self.questions.is_empty() {
            (self.updated(), Overdue::Answers(ttl))
        } else {
            return longest;
        };
        let at = from + ttl;
        if at < longest.at {
            Deadline { at, reason }
        } else {
            longest
        }
    }

    /// Until when the record is stored: its ttl after the end of the task, and long enough before it.
    pub(crate) fn stored_until(&self, options: &TaskOptions) -> StoreTime {
        let end = match &self.end {
            Some(_) => self.updated(),
            None => self.created() + options.run_timeout,
        };
        end + self.ttl()
    }

    /// How long after its creation the task is certain to be found, which grows while it works.
    pub(super) fn ttl_at(&self, now: StoreTime) -> Duration {
        let is_at_work = self.end.is_none() && self.questions.is_empty();
        let from = match &self.end {
            None if self.is_ttl_requested => self.created(),
            None if is_at_work => self.updated().max(now),
            _ => self.updated(),
        };
        let age = from.as_millis().saturating_sub(self.created().as_millis());
        Duration::from_millis(age).saturating_add(self.ttl())
    }
}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason {
            Overdue::Run(time) => write!(f, "the task has run for {time:?}, the longest it may"),
            Overdue::Ttl(time) => write!(f, "the task has not ended within its ttl of {time:?}"),
            Overdue::Answers(time) => write!(f, "no answer has arrived within {time:?}"),
        }
    }
}
