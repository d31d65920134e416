//! The check of a plan: the same requests against three servers, whose operations are counted.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use super::fleet::{Rates, load};
use super::simulation::{Caused, Simulation};
use super::traffic::{Kind, Request, Traffic};
use super::workload::Workload;
use crate::counted::{OPERATIONS, Operation};
use crate::measure::http::{self, Connection};
use crate::measure::operations::{Operations, difference, operations};
use crate::measure::sessions::ask_and_answer;
use crate::plan::Engine;
use crate::replicas::Replicas;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SERVERS: usize = 3;
/// Seconds before the counts, and with them.
const WARM: f64 = 10.0;
const COUNTED: f64 = 30.0;
/// Threads that send requests. All requests of a session are of one thread.
const THREADS: u64 = 24;
/// Counts may differ by this share, and by a few. Readings after messages depend on the time of messages.
const TOLERANCE: f64 = 0.1;
const TOLERANCE_OF_READS: f64 = 0.3;
const FEW: f64 = 15.0;

/// Returns true if the counts are those of the plan.
pub(super) fn run() -> Result<bool> {
    let workload = Workload {
        servers: SERVERS,
        sessions: 60,
        calls: 120.0,
        questions: 0.1,
        lifetime: 15.0,
        ..Workload::default()
    };
    let all = Traffic::new(&workload, workload.sessions);
    let requests: Vec<_> = all.take_while(|it| it.at < WARM + COUNTED).collect();
    let expected = expected(&workload, &requests);
    let found = played(&Replicas::start(Engine::Redis, SERVERS)?, &requests)?;
    Ok(compare(&expected, &found))
}

/// Returns the operations of the plan.
fn expected(workload: &Workload, requests: &[Request]) -> Rates {
    let mut simulation = Simulation::default();
    for request in requests {
        if request.at < WARM {
            simulation.caused = Caused::default();
        }
        simulation.act(request);
    }
    let load = load(workload, &simulation.caused.times(1.0 / COUNTED));
    let all = [
        load.sessions,
        load.streams,
        load.news,
        load.ends,
        load.inboxes,
        load.idle,
    ];
    let sum = all.into_iter().fold(Rates::default(), Rates::plus);
    Rates(sum.0.map(|rate| rate * COUNTED))
}

/// Prints both, and returns true if they are equal, up to the tolerance.
fn compare(expected: &Rates, found: &Operations) -> bool {
    println!("| operation | planned | counted |\n|---|--:|--:|");
    let mut are_equal = true;
    for ((operation, name), found) in OPERATIONS.iter().zip(found) {
        let planned = expected.of(*operation);
        let is_equal = is_near(*operation, planned, *found);
        let mark = if is_equal { "" } else { ", differs" };
        println!("| {name} | {planned:.0} | {found:.0}{mark} |");
        are_equal &= is_equal;
    }
    are_equal
}

fn is_near(operation: Operation, planned: f64, found: f64) -> bool {
    let tolerance = match operation {
        Operation::Read => TOLERANCE_OF_READS,
        _ => TOLERANCE,
    };
    (planned - found).abs() <= planned * tolerance + FEW
}

/// Sends the requests at their time, and returns the operations after the first seconds.
fn played(replicas: &Replicas, requests: &[Request]) -> Result<Operations> {
    let (began, addresses) = (Instant::now(), replicas.addresses());
    thread::scope(|scope| {
        let players: Vec<_> = (0..THREADS)
            .map(|number| {
                let mine = requests
                    .iter()
                    .filter(move |it| it.session % THREADS == number);
                let addresses = &addresses;
                scope.spawn(move || play(mine, addresses, began))
            })
            .collect();
        sleep_until(began, WARM);
        let before = operations(replicas)?;
        sleep_until(began, WARM + COUNTED);
        let after = operations(replicas)?;
        for player in players {
            player.join().map_err(|_| "a client panicked")??;
        }
        Ok(difference(&before, &after))
    })
}

fn sleep_until(began: Instant, at: f64) {
    let due = began + Duration::from_secs_f64(at);
    sleep(due.saturating_duration_since(Instant::now()));
}

/// Sends the requests of some sessions.
fn play<'a>(
    requests: impl Iterator<Item = &'a Request>,
    addresses: &[SocketAddr],
    began: Instant,
) -> Result<()> {
    let open = |address: &SocketAddr| Connection::open(*address);
    let mut connections = addresses.iter().map(open).collect::<Result<Vec<_>>>()?;
    let mut sessions: HashMap<u64, String> = HashMap::new();
    for request in requests {
        sleep_until(began, request.at);
        let connection = &mut connections[request.server];
        let id = sessions.get(&request.session).cloned().unwrap_or_default();
        match request.kind {
            Kind::Open => {
                sessions.insert(request.session, connection.initialize()?);
            }
            Kind::Call => connection.result(&http::Request::echo(Some(&id)))?,
            Kind::Ask { answered_at } => {
                let asking = addresses[request.server];
                ask_and_answer(asking, &mut connections[answered_at], &id)?;
            }
            Kind::End => drop(connection.exchange(&http::Request::end(&id))?),
            Kind::Leave => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_beyond_the_tolerance_differs() {
        assert!(is_near(Operation::Get, 1_000.0, 1_114.0));
        assert!(!is_near(Operation::Get, 1_000.0, 1_116.0));
        assert!(is_near(Operation::Read, 1_000.0, 700.0));
        assert!(!is_near(Operation::Append, 0.0, 16.0));
    }
}
