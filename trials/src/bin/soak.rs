//! Hours of churn, and the memory that it leaves: `soak --minutes 60`.
//!
//! Clients of both eras, over HTTP and over pipes, call, listen, begin tasks, cancel and vanish.
//! Once a minute all of them pause until the server has released their state. The program compares
//! the minimum at rest in both halves of the time. It fails in three cases: memory grows; a task of
//! the runtime or a file descriptor stays behind; an answer is lost or wrong.
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::alloc::System;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pintle::client::InProcess;
use pintle::http::{HttpOptions, HttpServer, HttpService};
use pintle::runtime::BoxConnect;
use pintle_testkit::Rng;
use pintle_trials::churn::{Places, Tally, be_rude, visit};
use pintle_trials::town::town;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use tokio::runtime::Handle;
use tokio::sync::RwLock;
use tokio::time::{Instant, sleep};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// How long unused sessions and tasks are kept.
const KEPT: Duration = Duration::from_secs(10);
/// How long all clients pause. Unused sessions and tasks expire in this time, and side streams
/// (half a minute at most) end.
const REST: Duration = Duration::from_secs(40);
/// After so many minutes everything has its size: tables, pools, buffers.
const SETTLED: usize = 3;
/// Each half of the minutes after that needs so many samples.
const LOOKS: usize = 5;
/// Allowed growth of the memory at rest over the whole time, in bytes.
const GROWTH: i64 = 1 << 20;
/// Allowed growth of the resident size over the whole time, in bytes. Allocators keep freed memory.
const RESIDENT_GROWTH: i64 = 16 << 20;

fn main() -> ExitCode {
    let Some(plan) = Plan::read(std::env::args().skip(1)) else {
        println!("usage: soak [--minutes N] [--clients N] [--seed N]");
        return ExitCode::from(2);
    };
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload().downcast_ref::<&str>();
        let text = payload.copied().unwrap_or("something panicked");
        if text != "a handler panics" {
            println!("panic: {text} at {:?}", panic.location());
        }
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let soaked = match runtime {
        Ok(runtime) => runtime.block_on(soak(plan)),
        Err(error) => Err(error.into()),
    };
    match soaked {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("failed: {fault}");
            ExitCode::FAILURE
        }
    }
}

/// Arguments of the command line.
struct Plan {
    minutes: usize,
    clients: u64,
    seed: u64,
}

impl Plan {
    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut plan = Self {
            minutes: 60,
            clients: 16,
            seed: 1,
        };
        while let Some(word) = words.next() {
            let number: u64 = words.next()?.parse().ok()?;
            match word.as_str() {
                "--minutes" => plan.minutes = usize::try_from(number).ok()?.max(1),
                "--clients" => plan.clients = number.max(1),
                "--seed" => plan.seed = number,
                _ => return None,
            }
        }
        Some(plan)
    }
}

async fn soak(plan: Plan) -> Result<(), Fault> {
    let places = Arc::new(open().await?);
    let tally = Arc::new(Tally::default());
    // A client holds it to read while it runs. The loop below takes it to write, for a pause.
    let pause = Arc::new(RwLock::new(()));
    for client in 0..plan.clients {
        let (places, tally, pause) = (Arc::clone(&places), Arc::clone(&tally), Arc::clone(&pause));
        let rng = Rng::new(plan.seed.wrapping_mul(1_000).wrapping_add(client));
        tokio::spawn(keep_coming(places, rng, tally, pause));
    }
    println!("{HEAD}");
    let mut at_rest = Vec::new();
    for minute in 1..=plan.minutes {
        let next = Instant::now() + Duration::from_secs(60);
        tokio::time::sleep_until(next - REST - Duration::from_secs(2)).await;
        let busy = Held::now()?;
        let quiet = pause.write().await;
        sleep(REST).await;
        wake(&places, &tally).await;
        let rest = Held::now()?;
        drop(quiet);
        let figures = tally.figures();
        println!(
            "{minute:>6} {:>8} {:>9} {:>8} {:>7} {:>7} {:>7} {:>6}  {busy}  {rest}",
            figures.clients,
            figures.calls,
            figures.given_up,
            figures.tasks,
            figures.changes,
            figures.rude,
            figures.faults
        );
        at_rest.push(rest);
        check(&at_rest)?;
        tokio::time::sleep_until(next).await;
    }
    conclude(&at_rest);
    match tally.faults() {
        faults if faults.is_empty() => Ok(()),
        faults => {
            let count = tally.figures().faults;
            Err(format!("{count} faults:\n  {}", faults.join("\n  ")).into())
        }
    }
}

const HEAD: &str = "minute  clients     calls given up   tasks changes    rude faults  busy: resident live KiB    fds  tasks  rest: resident live KiB    fds  tasks";

async fn open() -> Result<Places, Fault> {
    let (over_http, piped) = (town(KEPT), town(KEPT));
    let handles = [over_http.handle(), piped.handle()];
    let mut options = HttpOptions::default();
    options.limits.session_idle_timeout = KEPT;
    options.limits.replay_ttl = KEPT;
    let service = HttpService::new(over_http.build()?, options);
    let server = HttpServer::bind(service, "127.0.0.1:0").await?;
    let http = server.address()?;
    tokio::spawn(server.run_until(std::future::pending()));
    Ok(Places {
        http,
        pipe: BoxConnect::new(InProcess::new(piped.build()?)),
        handles,
    })
}

async fn keep_coming(places: Arc<Places>, mut rng: Rng, tally: Arc<Tally>, pause: Arc<RwLock<()>>) {
    loop {
        let _here = pause.read().await;
        match rng.once_in(4) {
            true => be_rude(&places, &mut rng, &tally).await,
            false => visit(&places, &mut rng, &tally).await,
        }
    }
}

/// A few visits, one after the other: a visit makes the server release expired state.
async fn wake(places: &Places, tally: &Tally) {
    for seed in 0..6 {
        visit(places, &mut Rng::new(seed), tally).await;
    }
    sleep(Duration::from_secs(1)).await;
}

/// Resources that the process holds.
#[derive(Debug, Clone, Copy)]
struct Held {
    /// Resident size, in bytes.
    resident: i64,
    /// Memory that was allocated and not freed, in bytes.
    live: i64,
    descriptors: usize,
    tasks: usize,
}

impl Held {
    /// The least of each.
    fn least(looks: &[Self]) -> Option<Self> {
        let least = |one: Self, other: &Self| Self {
            resident: one.resident.min(other.resident),
            live: one.live.min(other.live),
            descriptors: one.descriptors.min(other.descriptors),
            tasks: one.tasks.min(other.tasks),
        };
        let (first, rest) = looks.split_first()?;
        Some(rest.iter().fold(*first, least))
    }

    fn now() -> std::io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<i64>().ok());
        let stats = ALLOCATOR.stats();
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        Ok(Self {
            resident: kib.unwrap_or_default() * 1_024,
            live: signed(stats.bytes_allocated) - signed(stats.bytes_deallocated),
            descriptors: std::fs::read_dir("/proc/self/fd")?.count(),
            tasks: Handle::current().metrics().num_alive_tasks(),
        })
    }
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (resident, live) = (self.resident / 1_024, self.live / 1_024);
        write!(
            f,
            "{resident:>14} {live:>8} {:>6} {:>6}",
            self.descriptors, self.tasks
        )
    }
}

/// Returns the minimum at rest in the earlier and in the later half of the settled time. Returns
/// `None` if that time is too short. A single sample may include state that is just being released;
/// the minimum does not.
fn halves(at_rest: &[Held]) -> Option<(Held, Held)> {
    let settled = at_rest.get(SETTLED..)?;
    let (earlier, later) = settled.split_at(settled.len() / 2);
    match earlier.len() >= LOOKS {
        true => Some((Held::least(earlier)?, Held::least(later)?)),
        false => None,
    }
}

/// Fails if the memory at rest grows.
fn check(at_rest: &[Held]) -> Result<(), Fault> {
    let Some((first, last)) = halves(at_rest) else {
        return Ok(());
    };
    let grown = last.live - first.live;
    if grown > GROWTH {
        return Err(format!("{grown} bytes more are held than in the earlier half").into());
    }
    let grown = last.resident - first.resident;
    if grown > RESIDENT_GROWTH {
        return Err(format!("{grown} bytes more are resident than in the earlier half").into());
    }
    if last.descriptors > first.descriptors + 4 || last.tasks > first.tasks + 4 {
        return Err(format!("descriptors or tasks stay behind: {first}, then {last}").into());
    }
    Ok(())
}

fn conclude(at_rest: &[Held]) {
    let Some((first, last)) = halves(at_rest) else {
        return println!("too short to say whether anything grows");
    };
    println!(
        "from the earlier to the later half: {:+} KiB live, {:+} KiB resident, {:+} tasks",
        (last.live - first.live) / 1_024,
        (last.resident - first.resident) / 1_024,
        last.tasks.cast_signed() - first.tasks.cast_signed()
    );
}
