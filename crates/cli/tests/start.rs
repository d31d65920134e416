//! Start time of the program in processor time. That time does not depend on the load of the
//! machine, and the program does not wait for anything at its start.

#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximum time from the start to the end of the program, which includes its first byte of output.
/// A build without optimization keeps this limit as well.
const BUDGET: Duration = Duration::from_millis(15);

/// Number of starts that are measured together, because the clock has slow ticks.
const STARTS: u32 = 20;
/// Number of measurements.
const ROUNDS: usize = 4;

/// Returns the processor time of this process's ended children so far, in ticks of 10 ms.
fn taken_by_children() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").expect("a process has this");
    // The name, in parentheses, may contain anything.
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    let ticks: u64 = fields
        .split_whitespace()
        .skip(13)
        .take(2)
        .map(|field| field.parse::<u64>().expect("a count"))
        .sum();
    Duration::from_millis(10 * ticks)
}

/// Returns the time of one start in the best round, because other processes only add to it.
fn start(arguments: &[&str], home: &Path) -> Duration {
    let round = || {
        let before = taken_by_children();
        for _ in 0..STARTS {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pintle"));
            command.args(arguments).current_dir(home).env("HOME", home);
            let output = command.stdin(Stdio::null()).output().expect("it starts");
            assert!(output.status.success(), "{output:?}");
            assert!(!(output.stdout.is_empty() && output.stderr.is_empty()));
        }
        (taken_by_children() - before) / STARTS
    };
    (0..ROUNDS).map(|_| round()).min().expect("some rounds")
}

// This file has one test only, because children are counted for the whole process.
#[test]
fn the_program_starts_within_its_budget() {
    let home = env::temp_dir().join(format!("pintle-start-{}", std::process::id()));
    fs::create_dir_all(&home).expect("a directory");
    for arguments in [&["--version"][..], &["list", "@"]] {
        let took = start(arguments, &home);
        println!("{arguments:?}: {took:?}");
        assert!(took <= BUDGET, "{arguments:?} took {took:?}");
    }
    fs::remove_dir_all(&home).expect("it is ours");
}
