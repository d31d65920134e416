//! The costs of several servers with one store: `cargo xtask chaos measure`. One program sends each request to the next server,
//! without a proxy.

pub(crate) mod http;
mod killed;
pub(crate) mod operations;
mod percentiles;
pub(crate) mod sessions;
mod store_costs;
mod usage;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use pintle::model::Revision;

use self::http::{Connection, Era, Request};
use crate::plan::{Engine, Plan};
use crate::processes::Processes;
use crate::replicas::Replicas;
use percentiles::Percentiles;
use usage::Usage;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Requests in progress at a time.
const CLIENTS: usize = 16;
/// The time of one row, after a part of it as preparation.
const TIME: Duration = Duration::from_secs(4);
const PREPARATION: Duration = Duration::from_secs(1);
const STORES: [Engine; 4] = [
    Engine::Nothing,
    Engine::Sqlite,
    Engine::Redis,
    Engine::Postgres,
];

/// Prints all tables.
pub(crate) fn run() -> Result<()> {
    println!("| state | servers | revision | calls/s | CPU of the servers a call | p50 | p99 |");
    println!("|---|--:|---|--:|--:|--:|--:|");
    for store in STORES {
        for count in 1..=3 {
            measure_echo(store, count)?;
        }
    }
    println!("\n| request | operations of the store |\n|---|---|");
    operations::print(&Replicas::start(Engine::Redis, 3)?)?;
    store_costs::print()?;
    println!("\n| 3 servers, p50 and p99 | Redis | PostgreSQL |\n|---|--:|--:|");
    let figures: Vec<_> = [Engine::Redis, Engine::Postgres]
        .map(|store| Replicas::start(store, 3).and_then(|replicas| sessions::measure(&replicas)))
        .into_iter()
        .collect::<Result<_>>()?;
    for (redis, postgres) in figures[0].iter().zip(&figures[1]) {
        println!("| {} | {} | {} |", redis.0, redis.1, postgres.1);
    }
    Ok(())
}

/// Prints how long the calls of a killed server take to end, behind the proxy.
pub(crate) async fn run_killed() -> pintle::Result<()> {
    println!("\n| calls of a killed server | calls | p50 | p99 |\n|---|--:|--:|--:|");
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let plan = Plan::default();
        let started = tokio::task::spawn_blocking(move || Processes::start(&plan)).await?;
        let processes = started.map_err(|error| error.to_string())?;
        let times = killed::measure(processes, revision).await?;
        println!(
            "| {} | {} | {} | {} |",
            revision.as_str(),
            times.count(),
            times.of(50),
            times.of(99)
        );
    }
    Ok(())
}

/// Measures both eras. Without a store, servers do not share sessions.
fn measure_echo(store: Engine, count: usize) -> Result<()> {
    let replicas = Replicas::start(store, count)?;
    for era in [Era::Legacy, Era::Modern] {
        if store == Engine::Nothing && count > 1 && era == Era::Legacy {
            continue;
        }
        let measured = echo(&replicas, era)?;
        println!(
            "| {} | {count} | {} | {:.0} | {:.0} µs | {} | {} |",
            store.name(),
            era.revision(),
            measured.rate,
            measured.cpu_micros,
            measured.times.of(50),
            measured.times.of(99),
        );
    }
    Ok(())
}

struct Measured {
    rate: f64,
    cpu_micros: f64,
    times: Percentiles,
}

fn echo(replicas: &Replicas, era: Era) -> Result<Measured> {
    let (addresses, stop) = (replicas.addresses(), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| {
            let (addresses, stop) = (addresses.clone(), Arc::clone(&stop));
            thread::spawn(move || call_each_in_turn(&addresses, number, era, &stop))
        })
        .collect();
    sleep(PREPARATION);
    let (before, began) = (Usage::of(&replicas.ids())?, Instant::now());
    sleep(TIME);
    let (after, ended) = (Usage::of(&replicas.ids())?, Instant::now());
    stop.store(true, Ordering::Relaxed);
    let mut times = Vec::new();
    for client in clients {
        let calls = client.join().map_err(|_| "a client panicked")??;
        let counted = calls
            .iter()
            .filter(|(at, time)| *at >= began && *at + *time <= ended);
        times.extend(counted.map(|(_, time)| *time));
    }
    #[expect(clippy::cast_precision_loss, reason = "a count below 2^52")]
    let calls = times.len() as f64;
    Ok(Measured {
        rate: calls / (ended - began).as_secs_f64(),
        cpu_micros: (after.cpu - before.cpu).as_secs_f64() * 1e6 / calls,
        times: Percentiles::new(times),
    })
}

/// Sends calls of one client until the end, each to the next server. Returns the begin and the time of each.
fn call_each_in_turn(
    addresses: &[SocketAddr],
    number: usize,
    era: Era,
    stop: &AtomicBool,
) -> Result<Vec<(Instant, Duration)>> {
    let open = |address: &SocketAddr| Connection::open(*address);
    let mut connections = addresses.iter().map(open).collect::<Result<Vec<_>>>()?;
    let first = number % connections.len();
    let session = match era {
        Era::Legacy => Some(connections[first].initialize()?),
        Era::Modern => None,
    };
    let mut calls = Vec::new();
    let mut next = first;
    while !stop.load(Ordering::Relaxed) {
        let request = Request::echo(session.as_deref());
        let began = Instant::now();
        let count = connections.len();
        connections[next % count].result(&request)?;
        calls.push((began, began.elapsed()));
        next += 1;
    }
    Ok(calls)
}
