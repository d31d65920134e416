//! Requests of sessions by a seed: when, of which session, to which server.

use pintle_testkit::Rng;

use super::workload::Workload;

/// From a question to its answer, in seconds.
const THOUGHT: f64 = 0.05;

/// Kind of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// The handshake of a new session.
    Open,
    Call,
    /// A call that asks a question, and the server that receives the answer.
    Ask {
        answered_at: usize,
    },
    /// DELETE by the client.
    End,
    /// The client is gone without DELETE.
    Leave,
}

/// A request of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Request {
    /// Seconds from the begin.
    pub(super) at: f64,
    pub(super) session: u64,
    pub(super) server: usize,
    pub(super) kind: Kind,
}

/// The requests of some sessions without an end. Calls and ends of sessions have exponential pauses.
pub(super) struct Traffic<'a> {
    workload: &'a Workload,
    rng: Rng,
    now: f64,
    /// The open sessions.
    slots: Vec<u64>,
    /// Sessions that ended, and whose place is still empty.
    waiting: Vec<usize>,
    next_session: u64,
    next_server: usize,
}

impl<'a> Traffic<'a> {
    /// Begins with so many sessions, each of which has the rate of the workload.
    pub(super) fn new(workload: &'a Workload, sessions: usize) -> Self {
        Self {
            workload,
            rng: Rng::new(workload.seed),
            now: 0.0,
            slots: vec![0; sessions],
            waiting: (0..sessions).collect(),
            next_session: 0,
            next_server: 0,
        }
    }

    /// Returns a number from 0 up to 1.
    fn share(&mut self) -> f64 {
        let bits = (self.rng.number() >> 11) as f64;
        bits / (1_u64 << 53) as f64
    }

    /// Returns the next server in turn, or that of the session.
    fn server(&mut self, session: u64) -> usize {
        let servers = self.workload.servers;
        if self.workload.is_hashed {
            let hash = session.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
            return usize::try_from(hash).unwrap_or(0) % servers;
        }
        self.next_server = (self.next_server + 1) % servers;
        self.next_server
    }

    fn open(&mut self, slot: usize) -> Request {
        self.next_session += 1;
        self.slots[slot] = self.next_session;
        self.request(self.next_session, Kind::Open)
    }

    fn request(&mut self, session: u64, kind: Kind) -> Request {
        let server = self.server(session);
        Request {
            at: self.now,
            session,
            server,
            kind,
        }
    }

    fn call(&mut self, session: u64) -> Request {
        let mut request = self.request(session, Kind::Call);
        if self.share() < self.workload.questions {
            // Between a question and its answer, others have their turns.
            let answered_at = match self.workload.is_hashed {
                true => request.server,
                false => self.rng.below(self.workload.servers),
            };
            request.kind = Kind::Ask { answered_at };
        }
        request
    }

    fn end(&mut self, slot: usize) -> Request {
        self.waiting.push(slot);
        let kind = match self.share() < self.workload.deletes {
            true => Kind::End,
            false => Kind::Leave,
        };
        self.request(self.slots[slot], kind)
    }
}

impl Iterator for Traffic<'_> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if let Some(slot) = self.waiting.pop() {
            return Some(self.open(slot));
        }
        let sessions = self.workload.sessions as f64;
        let (calls, ends) = (self.workload.calls / sessions, 1.0 / self.workload.lifetime);
        let rate = (calls + ends) * self.slots.len() as f64;
        self.now -= (1.0 - self.share()).ln() / rate;
        let slot = self.rng.below(self.slots.len());
        Some(match self.share() * (calls + ends) < calls {
            true => self.call(self.slots[slot]),
            false => self.end(slot),
        })
    }
}

impl Request {
    /// When the client answers the question of this call.
    pub(super) fn answered(&self) -> f64 {
        self.at + THOUGHT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_requests() {
        let workload = Workload::default();
        let first: Vec<_> = Traffic::new(&workload, 10).take(200).collect();
        let second: Vec<_> = Traffic::new(&workload, 10).take(200).collect();
        assert_eq!(first, second);
        assert!(first[..10].iter().all(|it| it.kind == Kind::Open));
        assert!(first.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }

    #[test]
    fn a_hashed_session_has_one_server() {
        let workload = Workload {
            is_hashed: true,
            ..Workload::default()
        };
        let requests: Vec<_> = Traffic::new(&workload, 10).take(2_000).collect();
        let of_third = requests.iter().filter(|it| it.session == 3);
        let servers: std::collections::HashSet<_> = of_third.map(|it| it.server).collect();
        assert_eq!(servers.len(), 1);
        let all: std::collections::HashSet<_> = requests.iter().map(|it| it.server).collect();
        assert_eq!(all.len(), 3);
    }
}
