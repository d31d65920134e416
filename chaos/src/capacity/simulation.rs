//! The operations that the requests of sessions cause, by the rules of the servers.

use std::collections::HashMap;

use super::traffic::{Kind, Request, Traffic};
use super::workload::Workload;

/// A server reads the record of a session at its first request, and at the first one after this time.
const CHECK_INTERVAL: f64 = 5.0;
/// A simulation of more sessions has so many of them. Sessions do not depend on each other.
const MAX_SESSIONS: usize = 2_000;
/// A simulation has about so many requests, after as many sessions have ended as it has.
const REQUESTS: f64 = 1_000_000.0;

/// Effects of the requests of sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Caused {
    pub(super) calls: f64,
    /// Readings of the record of a session before a request.
    pub(super) readings: f64,
    /// Replies that became streams. Each has a log.
    pub(super) streams: f64,
    /// Answers that arrived at another server than their question.
    pub(super) answers_elsewhere: f64,
    /// Sessions that their client ended.
    pub(super) ends: f64,
    /// Other servers that had a part of such a session.
    pub(super) ended_parts: f64,
}

/// The parts of sessions at servers, with the time of the last reading.
#[derive(Debug, Default)]
pub(super) struct Simulation {
    parts: HashMap<u64, HashMap<usize, f64>>,
    pub(super) caused: Caused,
}

/// Returns the causes in a second, for all sessions of the workload.
pub(super) fn simulate(workload: &Workload) -> Caused {
    let sessions = workload.sessions.min(MAX_SESSIONS);
    let scale = workload.sessions as f64 / sessions as f64;
    let rate = (workload.calls + workload.sessions as f64 / workload.lifetime) / scale;
    let (begin, end) = (workload.lifetime, workload.lifetime + REQUESTS / rate);
    let mut simulation = Simulation::default();
    for request in Traffic::new(workload, sessions).take_while(|it| it.at < end) {
        if request.at < begin {
            simulation.caused = Caused::default();
        }
        simulation.act(&request);
    }
    simulation.caused.times(scale / (end - begin))
}

impl Simulation {
    /// Adds what a request causes.
    pub(super) fn act(&mut self, request: &Request) {
        match request.kind {
            Kind::Open => {
                let first = HashMap::from([(request.server, request.at)]);
                self.parts.insert(request.session, first);
            }
            Kind::Call => self.call(request),
            Kind::Ask { answered_at } => {
                self.call(request);
                self.caused.streams += 1.0;
                self.arrive(request.session, answered_at, request.answered());
                self.caused.answers_elsewhere += f64::from(u8::from(answered_at != request.server));
            }
            Kind::End => {
                self.arrive(request.session, request.server, request.at);
                let parts = self.parts.remove(&request.session).map_or(0, |it| it.len());
                self.caused.ends += 1.0;
                self.caused.ended_parts += parts.saturating_sub(1) as f64;
            }
            Kind::Leave => drop(self.parts.remove(&request.session)),
        }
    }

    fn call(&mut self, request: &Request) {
        self.caused.calls += 1.0;
        self.arrive(request.session, request.server, request.at);
    }

    /// A request arrives at a server, which may read the record of the session first.
    fn arrive(&mut self, session: u64, server: usize, at: f64) {
        let parts = self.parts.entry(session).or_default();
        let read = parts.get(&server);
        if read.is_none_or(|read| at - read >= CHECK_INTERVAL) {
            parts.insert(server, at);
            self.caused.readings += 1.0;
        }
    }
}

impl Caused {
    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            calls: self.calls * factor,
            readings: self.readings * factor,
            streams: self.streams * factor,
            answers_elsewhere: self.answers_elsewhere * factor,
            ends: self.ends * factor,
            ended_parts: self.ended_parts * factor,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64, share: f64) {
        let difference = (found - expected).abs();
        assert!(
            difference <= expected * share,
            "{found} instead of {expected}"
        );
    }

    /// Without ends, the requests of a session at a server are a Poisson process of the rate r. A reading and
    /// the requests of the next 5 seconds are a cycle of 5 + 1/r seconds.
    #[test]
    fn readings_without_ends_are_those_of_the_exact_formula() {
        for (servers, sessions, calls) in [(3, 1_000, 1_000.0), (20, 100_000, 20_000.0)] {
            let workload = Workload {
                servers,
                sessions,
                calls,
                questions: 0.0,
                lifetime: 1e6,
                ..Workload::default()
            };
            let mut long = Simulation::default();
            let most = 2_000.min(sessions);
            let traffic = Traffic::new(&workload, most);
            // The first readings are those of new parts: they are not counted.
            let warm = 200.0;
            for request in traffic.take_while(|it| it.at < 2.0 * warm) {
                if request.at < warm {
                    long.caused = Caused::default();
                }
                long.act(&request);
            }
            let rate = calls / sessions as f64 / servers as f64;
            let expected = 1.0 / (1.0 + CHECK_INTERVAL * rate);
            assert_near(long.caused.readings / long.caused.calls, expected, 0.02);
        }
    }

    #[test]
    fn a_sample_of_sessions_has_the_rates_of_all() {
        let workload = Workload {
            sessions: 50_000,
            calls: 5_000.0,
            lifetime: 100.0,
            ..Workload::default()
        };
        let caused = simulate(&workload);
        assert_near(caused.calls, 5_000.0, 0.01);
        assert_near(caused.ends, 500.0, 0.02);
        // Two of three answers arrive elsewhere.
        assert_near(caused.answers_elsewhere, 5_000.0 * 0.01 * 2.0 / 3.0, 0.05);
    }

    #[test]
    fn each_request_has_the_readings_that_the_rules_require() {
        let mut simulation = Simulation::default();
        let mut act = |at, server, kind| {
            simulation.act(&Request {
                at,
                session: 1,
                server,
                kind,
            });
            simulation.caused.readings
        };
        assert_eq!(act(0.0, 0, Kind::Open), 0.0);
        assert_eq!(act(1.0, 0, Kind::Call), 0.0, "its own server");
        assert_eq!(act(2.0, 1, Kind::Call), 1.0, "the first one there");
        assert_eq!(act(6.9, 1, Kind::Call), 1.0, "before 5 seconds");
        assert_eq!(act(7.0, 1, Kind::Call), 2.0);
        let asked = Kind::Ask { answered_at: 2 };
        assert_eq!(act(8.0, 1, asked), 3.0, "the answer is the first one there");
        assert_eq!(act(9.0, 2, Kind::End), 3.0);
        let caused = simulation.caused;
        assert_eq!((caused.answers_elsewhere, caused.ends), (1.0, 1.0));
        assert_eq!(caused.streams, 1.0);
        assert_eq!(caused.ended_parts, 2.0);
    }
}
