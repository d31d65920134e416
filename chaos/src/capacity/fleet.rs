//! The operations of all servers in a second.

use super::RECORD_TTL;
use super::simulation::Caused;
use super::workload::Workload;
use crate::counted::{OPERATIONS, Operation};

/// Intervals of a server in seconds: `FleetOptions` has them.
const HEARTBEAT: f64 = 3.0;
const LIST: f64 = 5.0;
const CLOCK: f64 = 30.0;
const CLOCK_PROBES: f64 = 5.0;
const POLL: f64 = 5.0;
const NEWS_DELAY: f64 = 0.02;
/// Expiry of the inbox and the news are renewed after a third of their time.
const INBOX_RENEWAL: f64 = 20.0;
const NEWS_RENEWAL: f64 = 200.0;
/// Appends of a reply with a question: its beginning with the question, and its result.
const STREAM_APPENDS: f64 = 2.0;
/// Replicas that the end of a session waits for.
const MAX_AWAITED: f64 = 64.0;
/// Operations in a second, by their kind.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rates(pub(super) [f64; OPERATIONS.len()]);

impl Rates {
    pub(super) fn of(&self, operation: Operation) -> f64 {
        self.0[operation as usize]
    }

    fn add(&mut self, operation: Operation, rate: f64) {
        self.0[operation as usize] += rate;
    }

    pub(super) fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    pub(super) fn plus(mut self, other: Self) -> Self {
        for (rate, more) in self.0.iter_mut().zip(other.0) {
            *rate += more;
        }
        self
    }
}

/// Operations and messages by their cause.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Load {
    /// Readings of the records of sessions.
    pub(super) sessions: Rates,
    /// Logs of replies that became streams.
    pub(super) streams: Rates,
    /// Changes, and ends of sessions in the news.
    pub(super) news: Rates,
    pub(super) ends: Rates,
    /// Messages to inboxes: answers at other servers, and ends of sessions.
    pub(super) inboxes: Rates,
    /// Presence, lists, the clock, and readings of logs without a message.
    pub(super) idle: Rates,
    /// Entries of the news, and messages to inboxes, in a second.
    pub(super) entries: f64,
    pub(super) messages: f64,
}

/// Returns the load of a workload whose requests caused this in a second.
pub(super) fn load(workload: &Workload, caused: &Caused) -> Load {
    let servers = workload.servers as f64;
    let others = (servers - 1.0).min(MAX_AWAITED);
    let mut load = Load {
        entries: caused.ends + workload.changes,
        // Each has a reply.
        messages: 2.0 * (caused.answers_elsewhere + caused.ends * others),
        ..Load::default()
    };
    load.sessions.add(Operation::Get, caused.readings);
    load.sessions.add(Operation::Put, renewals(workload));
    load.streams
        .add(Operation::Append, caused.streams * STREAM_APPENDS);
    load.ends = ends(workload, caused);
    load.inboxes = inboxes(workload, load.messages);
    load.idle = idle(workload, &load);
    let reads = servers * readings(load.entries, workload.round_trip);
    let appended = gathered(workload.changes / servers) * servers;
    load.news.add(Operation::Append, appended);
    load.news.add(Operation::Read, reads);
    load
}

/// Returns how often a record of a session in use is renewed, by a formula: a simulation would have to play hours. A
/// lifetime is exponential, and each half of the time of a record has one renewal.
pub(super) fn renewals(workload: &Workload) -> f64 {
    let of_session = 1.0 / ((RECORD_TTL / 2.0 / workload.lifetime).exp() - 1.0);
    workload.sessions as f64 / workload.lifetime * of_session
}

/// DELETE writes a record, lists the servers, and has an entry in the news. It also asks each server by its inbox.
fn ends(workload: &Workload, caused: &Caused) -> Rates {
    let servers = workload.servers as f64;
    let mut rates = Rates::default();
    rates.add(Operation::Put, caused.ends);
    rates.add(Operation::Get, caused.ended_parts);
    rates.add(Operation::List, caused.ends);
    let entries = gathered(caused.ends / servers) * servers;
    rates.add(Operation::Append, entries);
    rates
}

/// A request is read by its server, and the reply by the one that asked.
fn inboxes(workload: &Workload, messages: f64) -> Rates {
    let servers = workload.servers as f64;
    let mut rates = Rates::default();
    rates.add(Operation::Append, messages);
    let reads = readings(messages / servers, workload.round_trip);
    rates.add(Operation::Read, servers * reads);
    rates
}

fn idle(workload: &Workload, load: &Load) -> Rates {
    let servers = workload.servers as f64;
    let mut rates = Rates::default();
    rates.add(Operation::Put, servers / HEARTBEAT);
    rates.add(Operation::List, servers / LIST);
    rates.add(Operation::Time, servers * CLOCK_PROBES / CLOCK);
    let (news, inbox) = (load.entries > 0.0, load.messages > 0.0);
    let renewals =
        f64::from(u8::from(news)) / NEWS_RENEWAL + f64::from(u8::from(inbox)) / INBOX_RENEWAL;
    rates.add(Operation::Append, servers * renewals);
    rates
}

/// Returns how often one server reads a log with so many new events in a second. It reads after an event, and after
/// 5 seconds without one. After an event that arrives during a reading it reads at once.
fn readings(events: f64, round_trip: f64) -> f64 {
    if events <= 0.0 {
        return 1.0 / POLL;
    }
    let none_arrived = (-events * round_trip).exp();
    let wait = (1.0 - (-POLL * events).exp()) / events;
    1.0 / (round_trip + none_arrived * wait)
}

/// Returns the appends in a second of one server that gathers so many entries for 20 ms.
fn gathered(entries: f64) -> f64 {
    match entries > 0.0 {
        true => 1.0 / (NEWS_DELAY + 1.0 / entries),
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use pintle_testkit::Rng;

    use super::*;

    /// Plays events of one log and their reader.
    fn played(events: f64, round_trip: f64) -> f64 {
        let (mut rng, mut at, mut readings) = (Rng::new(7), 0.0, 0.0);
        let (mut free, mut due) = (0.0_f64, POLL);
        let end = 20_000.0;
        while at < end {
            let share = (rng.number() >> 11) as f64 / (1_u64 << 53) as f64;
            let next = at - (1.0 - share).ln() / events;
            while due < next {
                readings += 1.0;
                free = due + round_trip;
                due = free + POLL;
            }
            // An event during a reading waits for its end.
            due = due.min(next.max(free));
            at = next;
        }
        readings / end
    }

    #[test]
    fn readings_of_a_log_are_those_of_a_played_reader() {
        for (events, round_trip) in [(0.05, 0.001), (1.0, 0.001), (100.0, 0.001), (900.0, 0.002)] {
            let (expected, found) = (played(events, round_trip), readings(events, round_trip));
            let difference = (expected - found).abs() / expected;
            assert!(difference < 0.05, "{events}: {found} instead of {expected}");
        }
        assert!((readings(0.0, 0.001) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_session_in_use_is_recorded_twice_in_an_hour() {
        let of = |lifetime| {
            let workload = Workload {
                lifetime,
                ..Workload::default()
            };
            renewals(&workload) * 1_800.0 / 1_000.0
        };
        assert!((of(1e6) - 1.0).abs() < 0.01, "almost without an end");
        assert!(of(600.0) < 0.2 && of(10.0) < 1e-9, "short ones");
    }

    #[test]
    fn idle_servers_have_about_one_operation_in_a_second_each() {
        let workload = Workload::default();
        let load = load(&workload, &Caused::default());
        let sum = load.idle.plus(load.news).plus(load.inboxes).sum() / 3.0;
        assert!((0.9..1.2).contains(&sum), "{sum}");
    }
}
