//! Instructions of a whole server process per call, for the build that is published.
//!
//! ```text
//! cargo build --profile dist --package pintle-bench --no-default-features --features programs --bin bench-server --bin bound
//! cargo run --release --package pintle-bench --bin shipped -- target/dist/bench-server target/dist/bound
//! ```
//!
//! Each row starts the server under valgrind (callgrind) twice, for few calls and for many. The
//! difference between the two totals is the cost of the calls between. It includes the HTTP library,
//! the runtime and the C library. Calls are in flight together, as the row states.
//!
//! The second program does the least that the protocol asks of each row over HTTP. Its share is its
//! count as a percentage of the count of the server.
//!
//! The size is that of the server without symbols.
//!
//! The limits are in `benches/shipped.txt`. The exit code is 1 if a row or the size exceeds its limit, or is far below
//! it. The same if a row over HTTP has less than its share. The exit code is 2 if a row could not be counted. Linux on x86-64 only.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people"
)]

mod calls;
mod server;
mod size;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use calls::Row;
use server::Server;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// One line per row: its name, the most instructions of a call, and the least share in percent.
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
    let mut programs = std::env::args_os().skip(1).map(PathBuf::from);
    let usage = "usage: shipped SERVER BOUND";
    let (server, bound) = programs.next().zip(programs.next()).ok_or(usage)?;
    let mut all_keep = keeps_size(&server)?;
    println!(
        "{:<20} {:>10} {:>10} {:>10} {:>6} {:>6}",
        "row", "counted", "limit", "bound", "share", "least"
    );
    for row in Row::ALL {
        all_keep &=
            keeps(row, &server, &bound).map_err(|error| format!("{}: {error}", row.name()))?;
    }
    Ok(all_keep)
}

/// Prints the counts of a row; returns whether it keeps its limit and its share.
fn keeps(row: Row, server: &Path, bound: &Path) -> Result<bool> {
    let name = row.name();
    let counted = count(server, row)?;
    if row.is_stdio() {
        let [limit] = figures_of(name)?;
        let verdict = verdict(counted, limit);
        println!("{name:<20} {counted:>10} {limit:>10}{verdict}");
        return Ok(verdict.is_empty());
    }
    let [limit, least] = figures_of(name)?;
    let bound = count(bound, row)?;
    let share = bound * 100 / counted;
    let verdict = match verdict(counted, limit) {
        "" if share < least => "  less than its share of the bound",
        verdict => verdict,
    };
    println!("{name:<20} {counted:>10} {limit:>10} {bound:>10} {share:>6} {least:>6}{verdict}");
    Ok(verdict.is_empty())
}

/// Compares a figure with its limit. The text is empty if the figure is neither over its limit nor far below it.
fn verdict(figure: u64, limit: u64) -> &'static str {
    match figure {
        figure if figure > limit => "  over",
        figure if figure * 100 < limit * (100 - SLACK) => "  far below: lower the limit",
        _ => "",
    }
}

/// Prints the size of the server; returns whether it keeps its limit.
fn keeps_size(server: &Path) -> Result<bool> {
    let bytes = size::loaded_bytes(server)?;
    let [limit] = figures_of("size")?;
    let verdict = verdict(bytes, limit);
    println!("size of the server: {bytes} bytes, limit {limit}{verdict}");
    Ok(verdict.is_empty())
}

/// The figures of a row.
fn figures_of<const N: usize>(name: &str) -> Result<[u64; N]> {
    let mut lines = LIMITS.lines().map(str::split_whitespace);
    let found = lines.find_map(|mut words| (words.next() == Some(name)).then_some(words));
    let figures = found
        .into_iter()
        .flatten()
        .map(|word| word.replace('_', "").parse());
    let figures: std::result::Result<Vec<u64>, _> = figures.collect();
    let figures = figures.ok().and_then(|figures| figures.try_into().ok());
    figures.ok_or_else(|| format!("shipped.txt has no figures for {name}").into())
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
