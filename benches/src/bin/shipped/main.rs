//! Instructions of a whole server process per call, for the build that is published.
//!
//! ```text
//! cargo build --profile dist --package pintle-bench --bin bench-server
//! cargo run --release --package pintle-bench --bin shipped -- target/dist/bench-server
//! ```
//!
//! Each row starts the server under valgrind (callgrind) twice, for few calls and for many. The
//! difference between the two totals is the cost of the calls between. It includes the HTTP library,
//! the runtime and the C library. Calls are in flight together, as the row states.
//!
//! The limits are in `benches/shipped.txt`. The exit code is 1 if a row exceeds its limit or is far below
//! it. The exit code is 2 if a row could not be counted. Linux on x86-64 only.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people"
)]

mod calls;
mod server;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use calls::Row;
use server::Server;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// One line per row: its name and the most instructions of a call.
const LIMITS: &str = include_str!("../../../shipped.txt");

/// Percent that a count may be below its limit. Beyond that the limit is lowered, so that a gain is
/// kept.
const SLACK: u64 = 15;

fn main() -> ExitCode {
    match compare() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("shipped: {error}");
            ExitCode::from(2)
        }
    }
}

/// Counts every row; returns whether all keep their limits.
fn compare() -> Result<bool> {
    let program: PathBuf = std::env::args_os()
        .nth(1)
        .ok_or("usage: shipped SERVER")?
        .into();
    let mut all_keep = true;
    println!("{:<20} {:>10} {:>10}", "row", "counted", "limit");
    for row in Row::ALL {
        let limit = limit_of(row)?;
        let counted = count(&program, row).map_err(|error| format!("{}: {error}", row.name()))?;
        let verdict = match counted {
            counted if counted > limit => "  over",
            counted if counted * 100 < limit * (100 - SLACK) => "  far below: lower the limit",
            _ => "",
        };
        println!("{:<20} {counted:>10} {limit:>10}{verdict}", row.name());
        all_keep &= verdict.is_empty();
    }
    Ok(all_keep)
}

fn limit_of(row: Row) -> Result<u64> {
    let mut lines = LIMITS.lines().map(str::split_whitespace);
    let found = lines.find_map(|mut words| {
        let is_named = words.next() == Some(row.name());
        is_named.then(|| words.next()?.replace('_', "").parse().ok())?
    });
    found.ok_or_else(|| format!("shipped.txt has no limit for {}", row.name()).into())
}

/// Returns the instructions per call.
fn count(program: &Path, row: Row) -> Result<u64> {
    let [few, many] = row.rounds();
    let difference = total(program, row, many)?.checked_sub(total(program, row, few)?);
    let calls = ((many - few) * row.in_flight()) as u64;
    Ok(difference.ok_or("more calls took fewer instructions")? / calls)
}

/// Returns the instructions of a process that answers `rounds` rounds of calls.
fn total(program: &Path, row: Row, rounds: usize) -> Result<u64> {
    let mut server = Server::start(program, row)?;
    for _ in 0..rounds {
        server.call_all(row)?;
    }
    server.total()
}
