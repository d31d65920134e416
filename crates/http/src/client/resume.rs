//! The next step after a stream ends: a state machine without sockets and without a clock.
//!
//! Up to 2025-11-25 a connection may end while its stream continues: a client that has the id of an
//! event requests the later ones. Since 2026-07-28 the early end of a stream ends its request.
//!
//! Spec: [2025-11-25, Transports, Resumability][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

use std::time::Duration;

use crate::client::answer::ResponseError;
use crate::client::backoff::{Backoff, Jitter};
use crate::client::head::last_event_id_of;

/// The purpose of a stream. Closed: no other streams exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The answer to a request; the revision can resume it.
    Reply,
    /// The answer to a request of a revision without resumption.
    ModernReply,
    /// The messages of a session that belong to no request.
    Session,
}

/// One logical stream, over all connections that carried a piece of it.
#[derive(Debug)]
pub(crate) struct Resume {
    purpose: Purpose,
    backoff: Backoff,
    /// Maximum number of connections in a row without progress, unless the stream is lasting.
    max_failures: u32,
    last_id: Option<Box<str>>,
    retry: Option<Duration>,
    /// Connections in a row without progress, which decide the pause.
    failures: u32,
    /// Those of them after which a server may not have the stream.
    doubts: u32,
    /// Whether the server has sent something on the stream of a session, or has held a connection open.
    has_worked: bool,
    /// The last connection was so short that the next must not follow at once.
    was_short: bool,
}

/// How one connection of a stream ended. Closed: it ends in one of these ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The answer arrived, so the stream is complete.
    Answered,
    /// The connection ended, cleanly or not. Its messages were counted before.
    Cut,
    /// The connection was not established.
    Unreachable,
    /// The server refused to resume the stream.
    Refused(ResponseError),
}

/// The next step. Closed: the driver handles each one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing: the stream is complete.
    Done,
    /// Request the rest after this delay.
    Ask(Duration),
    /// Stop: the rest of the stream is lost.
    GiveUp(ResumeError),
}

/// The reason why a stream is lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResumeError {
    /// The stream ended before the answer and cannot be resumed.
    #[error("the stream ended before the answer")]
    Ended,
    /// Repeated attempts to resume the stream failed.
    #[error("the stream ended before the answer, and {0} attempts to resume it failed")]
    TooOften(u32),
    /// The server does not resume the stream.
    #[error("the server does not resume the stream")]
    Refused(#[source] ResponseError),
}

impl Resume {
    /// Creates the state of a stream that is not open yet. The stream fails after `max_failures`
    /// connections in a row without progress.
    pub(crate) fn new(purpose: Purpose, backoff: Backoff, max_failures: u32) -> Self {
        Self {
            purpose,
            backoff,
            max_failures,
            last_id: None,
            retry: None,
            failures: 0,
            doubts: 0,
            has_worked: false,
            was_short: false,
        }
    }

    /// Returns the id of the last event.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Records the result of a connection. A message or another last id is progress.
    pub(crate) fn note(&mut self, last_id: Option<&str>, retry: Option<Duration>, messages: u64) {
        if messages > 0 || self.last_id.as_deref() != last_id {
            self.progress();
        }
        if self.last_id.as_deref() != last_id {
            self.last_id = last_id.map(Box::from);
        }
        self.retry = retry.or(self.retry);
    }

    /// Records how long a connection was open. A quiet stream of a session that the server or a proxy cuts at times
    /// has not failed. After a very short connection, the next one waits, even after progress.
    pub(crate) fn lasted(&mut self, open: Duration) {
        if self.purpose != Purpose::Session {
            return;
        }
        self.was_short = open < self.backoff.first;
        if !self.was_short {
            self.progress();
        }
    }

    fn progress(&mut self) {
        (self.failures, self.doubts) = (0, 0);
        self.has_worked = true;
    }

    /// Returns the next step after the end of a connection.
    pub(crate) fn ended(&mut self, end: End, jitter: Jitter) -> Next {
        match end {
            End::Answered => Next::Done,
            End::Refused(trouble) if self.begins_anew_after(&trouble) => {
                self.last_id = None;
                self.again(None, false, jitter)
            }
            End::Refused(trouble) if trouble.is_permanent() => {
                Next::GiveUp(ResumeError::Refused(trouble))
            }
            End::Refused(trouble) => {
                self.again(trouble.retry_after(), trouble.is_passing(), jitter)
            }
            End::Cut => self.again(None, false, jitter),
            End::Unreachable => self.again(None, true, jitter),
        }
    }

    /// Returns true if the server does not know the last event of a session's stream. Another process of it
    /// may have sent that event. A new stream has the later messages.
    fn begins_anew_after(&self, trouble: &ResponseError) -> bool {
        let is_unknown = matches!(
            trouble,
            ResponseError::Status {
                status: 400..500,
                ..
            }
        );
        let is_session = self.purpose == Purpose::Session && self.last_id.is_some();
        is_session && is_unknown && trouble.is_permanent()
    }

    /// `is_passing` is true if the server, or a proxy in front of it, is away or busy.
    fn again(&mut self, retry_after: Option<Duration>, is_passing: bool, jitter: Jitter) -> Next {
        if !self.can_go_on() {
            return Next::GiveUp(ResumeError::Ended);
        }
        if !is_passing || self.purpose != Purpose::Session {
            if self.doubts >= self.max_failures && !self.is_lasting() {
                return Next::GiveUp(ResumeError::TooOften(self.doubts));
            }
            self.doubts = self.doubts.saturating_add(1);
        }
        let asked = retry_after.max(self.retry);
        let wait = self.backoff.wait(self.failures, asked, jitter);
        self.failures = self.failures.saturating_add(1);
        Next::Ask(match self.was_short {
            true => wait.max(self.backoff.first),
            false => wait,
        })
    }

    /// Returns true for the stream of a session that has worked. Its subscriptions would become silent without an
    /// error, so the client tries again after ever longer pauses.
    fn is_lasting(&self) -> bool {
        self.purpose == Purpose::Session && self.has_worked
    }

    /// A reply without the id of an event cannot be asked for: it would be another stream.
    fn can_go_on(&self) -> bool {
        match self.purpose {
            Purpose::Session => true,
            Purpose::Reply => self
                .last_id
                .as_deref()
                .is_some_and(|id| last_event_id_of(id).is_some()),
            Purpose::ModernReply => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BACKOFF: Backoff = Backoff {
        first: Duration::from_secs(1),
        most: Duration::from_secs(30),
        asked: (Duration::from_millis(100), Duration::from_secs(300)),
    };

    fn stream(purpose: Purpose) -> Resume {
        Resume::new(purpose, BACKOFF, 5)
    }

    fn cut(stream: &mut Resume) -> Next {
        stream.ended(End::Cut, Jitter(u16::MAX))
    }

    fn refused(status: u16, retry_after: Option<u64>) -> End {
        End::Refused(ResponseError::Status {
            status,
            retry_after: retry_after.map(Duration::from_secs),
        })
    }

    const SECOND: Duration = Duration::from_secs(1);

    // spec: 2025-11-25 TRANS-HTTP-17, TRANS-RESUME-04
    #[test]
    fn a_reply_with_an_event_id_is_asked_for_and_one_without_is_lost() {
        let mut reply = stream(Purpose::Reply);
        assert_eq!(cut(&mut reply), Next::GiveUp(ResumeError::Ended));
        reply.note(Some("e-1"), None, 0);
        assert_eq!(cut(&mut reply), Next::Ask(SECOND));
        assert_eq!(reply.last_id(), Some("e-1"));
        assert_eq!(reply.ended(End::Answered, Jitter(0)), Next::Done);
        let mut odd = stream(Purpose::Reply);
        odd.note(Some("a\u{1}b"), None, 0);
        assert_eq!(
            cut(&mut odd),
            Next::GiveUp(ResumeError::Ended),
            "no header can say it"
        );
    }

    // hardening: H-158
    #[test]
    fn a_session_that_is_cut_at_once_is_not_hurried_after() {
        let mut session = stream(Purpose::Session);
        for _ in 0..20 {
            session.note(None, Some(SECOND / 10), 1);
            session.lasted(Duration::ZERO);
            assert_eq!(session.ended(End::Cut, Jitter(0)), Next::Ask(SECOND));
        }
        session.note(None, None, 1);
        session.lasted(SECOND * 2);
        assert_eq!(session.ended(End::Cut, Jitter(0)), Next::Ask(SECOND / 10));
    }

    // spec: 2026-07-28 N-HTTP-18, N-HTTP-19
    #[test]
    fn a_modern_reply_is_never_asked_for_again() {
        let mut reply = stream(Purpose::ModernReply);
        reply.note(Some("e-1"), Some(SECOND), 3);
        assert_eq!(cut(&mut reply), Next::GiveUp(ResumeError::Ended));
    }

    // spec: 2025-11-25 TRANS-HTTP-36, TRANS-HTTP-19
    #[test]
    fn the_wait_of_the_server_counts_until_it_names_another() {
        let mut session = stream(Purpose::Session);
        session.note(None, Some(SECOND / 2), 0);
        assert_eq!(session.ended(End::Cut, Jitter(0)), Next::Ask(SECOND / 2));
        session.note(None, None, 1);
        assert_eq!(session.ended(End::Cut, Jitter(0)), Next::Ask(SECOND / 2));
        session.note(None, Some(SECOND * 3), 1);
        assert_eq!(session.ended(End::Cut, Jitter(0)), Next::Ask(SECOND * 3));
    }

    // hardening: H-158
    #[test]
    fn connections_that_bring_nothing_are_counted_and_news_forgives_them() {
        let mut reply = stream(Purpose::Reply);
        reply.note(Some("e-1"), None, 0);
        let mut waits = Vec::new();
        // The same id again is not progress.
        for id in ["e-1", "e-1", "e-2", "e-2", "e-2"] {
            if let Next::Ask(wait) = cut(&mut reply) {
                waits.push(wait.as_secs());
            }
            reply.note(Some(id), None, 0);
        }
        assert_eq!(waits, [1, 2, 4, 1, 2]);
        for _ in 0..3 {
            assert!(matches!(cut(&mut reply), Next::Ask(_)));
        }
        assert_eq!(cut(&mut reply), Next::GiveUp(ResumeError::TooOften(5)));
    }

    #[test]
    fn a_quiet_stream_of_a_session_may_be_cut_as_often_as_it_takes() {
        let mut session = stream(Purpose::Session);
        for _ in 0..20 {
            session.lasted(BACKOFF.most);
            assert!(matches!(cut(&mut session), Next::Ask(_)));
        }
        let mut reply = stream(Purpose::Reply);
        reply.note(Some("e-1"), None, 0);
        let tries = (0..20).take_while(|_| {
            reply.lasted(BACKOFF.most);
            matches!(cut(&mut reply), Next::Ask(_))
        });
        assert_eq!(tries.count(), 5, "a reply is waited for");
    }

    #[test]
    fn the_stream_of_a_session_that_has_worked_is_resumed_without_limit() {
        let by_event = |session: &mut Resume| session.note(Some("e-1"), None, 0);
        let by_time = |session: &mut Resume| session.lasted(SECOND);
        let beginnings: [fn(&mut Resume); 2] = [by_event, by_time];
        for begin in beginnings {
            let mut session = stream(Purpose::Session);
            begin(&mut session);
            let ends = [End::Cut, End::Unreachable, refused(502, None)];
            let mut waits = Vec::new();
            for end in ends.iter().cycle().take(60) {
                session.lasted(Duration::ZERO);
                let Next::Ask(wait) = session.ended(end.clone(), Jitter(u16::MAX)) else {
                    panic!("given up after {waits:?}");
                };
                waits.push(wait.as_secs());
            }
            assert_eq!(waits[..6], [1, 2, 4, 8, 16, 30]);
            assert!(waits[6..].iter().all(|wait| *wait == 30), "{waits:?}");
        }
    }

    #[test]
    fn the_stream_of_a_session_is_requested_while_its_server_is_away() {
        let mut session = stream(Purpose::Session);
        let away = [
            End::Unreachable,
            refused(502, None),
            refused(503, None),
            refused(429, None),
        ];
        for end in away.iter().cycle().take(40) {
            let next = session.ended(end.clone(), Jitter(u16::MAX));
            assert!(matches!(next, Next::Ask(_)), "{end:?}");
        }
        let doubted = (0..20).take_while(|_| matches!(cut(&mut session), Next::Ask(_)));
        assert_eq!(doubted.count(), 5);
        let mut reply = stream(Purpose::Reply);
        reply.note(Some("e-1"), None, 0);
        let again = |_: &i32| matches!(reply.ended(End::Unreachable, Jitter(0)), Next::Ask(_));
        assert_eq!(
            (0..20).take_while(again).count(),
            5,
            "a reply is waited for"
        );
    }

    // hardening: H-159
    #[test]
    fn the_stream_of_a_session_that_never_worked_is_given_up() {
        let mut session = stream(Purpose::Session);
        let tries = (0..20).take_while(|_| {
            session.lasted(Duration::from_millis(999));
            matches!(cut(&mut session), Next::Ask(_))
        });
        assert_eq!(tries.count(), 5);
    }

    #[test]
    fn a_connection_that_was_open_for_a_while_is_progress() {
        let mut session = stream(Purpose::Session);
        for _ in 0..20 {
            session.lasted(SECOND);
            assert_eq!(cut(&mut session), Next::Ask(SECOND));
        }
    }

    // hardening: H-159
    #[test]
    fn a_rejection_ends_the_stream_and_a_busy_server_sets_the_delay() {
        let mut session = stream(Purpose::Session);
        assert_eq!(
            session.ended(refused(503, Some(20)), Jitter(0)),
            Next::Ask(SECOND * 20)
        );
        assert!(matches!(
            session.ended(refused(500, None), Jitter(0)),
            Next::Ask(_)
        ));
        assert!(matches!(
            session.ended(End::Unreachable, Jitter(0)),
            Next::Ask(_)
        ));
        let no = session.ended(refused(400, None), Jitter(0));
        assert!(matches!(no, Next::GiveUp(ResumeError::Refused(_))));
        let lost = session.ended(End::Refused(ResponseError::SessionLost), Jitter(0));
        assert_eq!(
            lost,
            Next::GiveUp(ResumeError::Refused(ResponseError::SessionLost))
        );
    }
    #[test]
    fn a_session_stream_begins_anew_once_if_its_last_event_is_unknown() {
        let mut session = stream(Purpose::Session);
        session.note(Some("e-1"), None, 1);
        assert_eq!(
            session.ended(refused(400, None), Jitter(u16::MAX)),
            Next::Ask(SECOND)
        );
        assert_eq!(session.last_id(), None);
        let again = session.ended(refused(400, None), Jitter(0));
        assert!(matches!(again, Next::GiveUp(ResumeError::Refused(_))));
    }

    #[test]
    fn a_reply_whose_last_event_is_unknown_is_lost() {
        let mut reply = stream(Purpose::Reply);
        reply.note(Some("e-1"), None, 1);
        let refused = reply.ended(refused(400, None), Jitter(0));
        assert!(matches!(refused, Next::GiveUp(ResumeError::Refused(_))));
    }
}
