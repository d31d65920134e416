//! A plan for many servers: `cargo xtask chaos capacity`. It simulates the requests of sessions by a seed, counts the
//! operations of the store that they cause, and multiplies them by measured costs. `--check` plays the same requests
//! against three servers, and compares the counts.

mod check;
mod costs;
mod fleet;
mod simulation;
mod traffic;
mod workload;

use costs::{
    CALL_MICROS, END_BYTES, ENTRY_BYTES, MESSAGE_BYTES, PART_BYTES, POSTGRES, REDIS, STREAM_BYTES,
};
use fleet::{Load, Rates};
use simulation::{Caused, simulate};
use workload::Workload;

/// How long a record of a session stays, in seconds. A session is recorded at its end, and each half of this time.
const RECORD_TTL: f64 = 3_600.0;
/// How long the log of a stream stays after its last message, in seconds.
const STREAM_TTL: f64 = 600.0;
/// Events of the news, and of an inbox. A log in use does not expire, and drops its oldest events.
const MAX_LOG_EVENTS: f64 = 10_000.0;
/// How long a server has a part of an idle session, and how many.
const IDLE: f64 = 1_800.0;
const MAX_PARTS: f64 = 10_000.0;

/// Runs the command. Returns false if a check finds a difference.
pub(crate) fn run(words: &[String]) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
    if let [only] = words
        && only == "--check"
    {
        return check::run();
    }
    let workload = Workload::read(words)?;
    let caused = simulate(&workload);
    print(&workload, &caused, &fleet::load(&workload, &caused));
    Ok(true)
}

fn print(workload: &Workload, caused: &Caused, load: &Load) {
    let requests = caused.calls + workload.modern;
    let causes = [
        ("sessions: first and later readings", load.sessions),
        ("streams of replies", load.streams),
        ("news of changes and ends", load.news),
        ("records of ended sessions", load.ends),
        ("answers elsewhere and ends, in inboxes", load.inboxes),
        ("presence and clocks", load.idle),
    ];
    println!("| operations of the store | in a second | a call | cores of Redis | of PostgreSQL |");
    println!("|---|--:|--:|--:|--:|");
    for (name, rates) in causes {
        row(name, &rates, requests, workload.servers);
    }
    let all = causes
        .iter()
        .fold(Rates::default(), |sum, it| sum.plus(it.1));
    row("all", &all, requests, workload.servers);
    println!("\n| bytes | |\n|---|--:|");
    for (name, bytes) in memory(workload, caused, load) {
        println!("| {name} | {} |", megabytes(bytes));
    }
    let cores = requests * CALL_MICROS / 1e6;
    println!("\nAll servers need about {cores:.1} cores for calls that do nothing.");
}

fn row(name: &str, rates: &Rates, requests: f64, servers: usize) {
    let (sum, redis, postgres) = (
        rates.sum(),
        REDIS.cores(rates, servers),
        POSTGRES.cores(rates, servers),
    );
    let share = sum / requests.max(1.0);
    println!("| {name} | {sum:.0} | {share:.3} | {redis:.3} | {postgres:.3} |");
}

/// Returns the bytes of the store by their content, and those of a server.
fn memory(workload: &Workload, caused: &Caused, load: &Load) -> [(&'static str, f64); 6] {
    let servers = workload.servers as f64;
    let of_log = |events: f64, bytes| match events > 0.0 {
        true => MAX_LOG_EVENTS * bytes,
        false => 0.0,
    };
    let news = of_log(load.entries, ENTRY_BYTES);
    let inboxes = servers * of_log(load.messages, MESSAGE_BYTES);
    let traffic = load.entries * servers * ENTRY_BYTES + load.messages * MESSAGE_BYTES;
    [
        (
            "records of sessions, of an hour",
            (caused.ends + fleet::renewals(workload)) * RECORD_TTL * END_BYTES,
        ),
        (
            "streams of replies, of 10 minutes",
            caused.streams * STREAM_TTL * STREAM_BYTES,
        ),
        ("news, at most", news),
        ("inboxes, at most", inboxes),
        (
            "messages from the store to the servers, in a second",
            traffic,
        ),
        (
            "parts of sessions in a server",
            parts(workload) * PART_BYTES,
        ),
    ]
}

/// Returns the parts of sessions in one server, with those of ended sessions that stay for the idle time.
fn parts(workload: &Workload) -> f64 {
    let (servers, sessions) = (workload.servers as f64, workload.sessions as f64);
    let rate = workload.calls / sessions / servers * if workload.is_hashed { servers } else { 1.0 };
    let gone = sessions / workload.lifetime * (1.0 - workload.deletes) * IDLE;
    let reached = 1.0 - (-rate * IDLE.min(workload.lifetime)).exp();
    let share = if workload.is_hashed {
        1.0 / servers
    } else {
        reached
    };
    ((sessions + gone) * share).min(MAX_PARTS)
}

fn megabytes(bytes: f64) -> String {
    match bytes {
        large if large >= 1e9 => format!("{:.1} GB", large / 1e9),
        small if small < 1e6 => format!("{:.0} kB", small / 1e3),
        middle => format!("{:.1} MB", middle / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit() {
        assert_eq!(megabytes(2_500.0), "2 kB");
        assert_eq!(megabytes(2.34e6), "2.3 MB");
        assert_eq!(megabytes(5.0e9), "5.0 GB");
    }

    #[test]
    fn parts_are_limited_and_a_hash_divides_them() {
        let mut workload = Workload {
            servers: 20,
            sessions: 100_000,
            calls: 20_000.0,
            ..Workload::default()
        };
        assert!((parts(&workload) - MAX_PARTS).abs() < 1e-9);
        workload.is_hashed = true;
        assert!((parts(&workload) - 5_000.0).abs() < 1e-9);
    }
}
