//! Instructions per call, counted under valgrind (callgrind), compared with their budgets.
//!
//! ```text
//! cargo run --release --package pintle-bench --bin instructions [PATH]...
//! ```
//!
//! Each path is gone in a process of its own, which valgrind watches from the first measured step to
//! the last: what starts up and what warms up is not counted. Frugal servers that clients are measured
//! against run in another process, uncounted. The budgets are those of the build that CI makes.
//!
//! Ends with 1 when a path is over its budget or far below it, and with 2 when something could not be
//! counted: without valgrind, or in a debug build. Linux on x86-64 only.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people"
)]

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, Command, ExitCode, Stdio};

use pintle_bench::budget;
use pintle_bench::frugal::{self, Wire};
use pintle_bench::path::{Path, walk};
use pintle_bench::payload;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Valgrind counts only inside of this function.
const COUNTED: &str = "instructions::counted*";

/// Lets the C library copy memory in the same way on every processor: in loops, whatever the length.
const COPIES: &str = "glibc.cpu.x86_rep_movsb_threshold=1099511627776:\
    glibc.cpu.x86_rep_stosb_threshold=1099511627776:\
    glibc.cpu.x86_non_temporal_threshold=1099511627776";

/// Percent that a count may be below its budget. Beyond that the budget is lowered, so that a gain
/// is kept.
const SLACK: u64 = 15;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["--walk", path] => go(path).map(|()| true),
        ["--serve", wire] => serve(wire).map(|()| true),
        ref paths => compare(paths),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::from(2)
        }
    }
}

/// Counts every path that is asked for, or all; whether all keep their budgets. A path without a budget is only printed.
fn compare(asked: &[&str]) -> Result<bool> {
    if cfg!(debug_assertions) {
        return Err("a debug build says nothing; run it with --release".into());
    }
    let mut all_keep = true;
    println!("{:<18} {:>12} {:>12}", "path", "counted", "budget");
    for path in chosen(asked)? {
        let (counted, budget) = (count(path)?, budget::of(path).instructions);
        let verdict = match budget {
            Some(budget) if counted > budget => "  over",
            Some(budget) if is_budgeted() && counted * 100 < budget * (100 - SLACK) => {
                "  far below: lower the budget"
            }
            _ => "",
        };
        let budget = budget.map_or("-".to_owned(), |budget| budget.to_string());
        println!("{:<18} {counted:>12} {budget:>12}{verdict}", path.as_str());
        all_keep &= verdict.is_empty();
    }
    Ok(all_keep)
}

/// Returns true if this is the build of the budgets, in the folder of its profile. Optimization across
/// crates needs fewer instructions.
fn is_budgeted() -> bool {
    let program = std::env::current_exe();
    program.is_ok_and(|path| path.components().any(|part| part.as_os_str() == "release"))
}

fn chosen(asked: &[&str]) -> Result<Vec<Path>> {
    let find = |name: &&str| Path::ALL.into_iter().find(|path| path.as_str() == *name);
    match asked {
        [] => Ok(Path::ALL.to_vec()),
        asked => asked
            .iter()
            .map(|name| find(name).ok_or_else(|| format!("there is no path {name}").into()))
            .collect(),
    }
}

/// Goes a path under valgrind, and gives the instructions per step.
fn count(path: Path) -> Result<u64> {
    let out = std::env::temp_dir().join(format!("instructions-{}", std::process::id()));
    let walked = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", "--collect-atstart=no"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(std::env::current_exe()?)
        .args(["--walk", path.as_str()])
        .env("GLIBC_TUNABLES", COPIES)
        .output()
        .map_err(|error| format!("valgrind, which is needed, cannot be started: {error}"))?;
    if !walked.status.success() {
        let said = String::from_utf8_lossy(&walked.stderr);
        return Err(format!("{} went wrong: {said}", path.as_str()).into());
    }
    let total = total(&out);
    std::fs::remove_file(&out)?;
    match total? {
        0 => Err(format!("nothing was counted of {}", path.as_str()).into()),
        total => Ok(total / steps(path) as u64),
    }
}

fn total(out: &std::path::Path) -> Result<u64> {
    let text = std::fs::read_to_string(out)?;
    let total = text.lines().find_map(|line| {
        let total = line
            .strip_prefix("summary:")
            .or(line.strip_prefix("totals:"))?;
        total.trim().parse().ok()
    });
    total.ok_or_else(|| "valgrind has written no total".into())
}

/// Large answers are few: each takes what hundreds of small ones do.
fn steps(path: Path) -> usize {
    match path {
        Path::StdioText1m | Path::HttpText1m | Path::HttpImage1m => 5,
        Path::StdioText64k | Path::HttpText64k => 50,
        Path::Start100Tools | Path::StdioProgress | Path::HttpProgress | Path::SessionProgress => {
            20
        }
        _ => 200,
    }
}

/// Runs a path under valgrind.
fn go(path: &str) -> Result<()> {
    let path = chosen(&[path])?[0];
    // Large payloads are built on first use, which must not be counted.
    let _ = (payload::text_1m(), payload::text_64k(), payload::image_1m());
    let servers = RefCell::new(Vec::new());
    let start = |wire| {
        let (server, address) = Server::start(wire).expect("a frugal server");
        servers.borrow_mut().push(server);
        address
    };
    walk(path, steps(path), &start, counted);
    Ok(())
}

/// The name of this function is what valgrind looks for.
#[inline(never)]
fn counted(steps: &mut dyn FnMut()) {
    steps();
}

/// A frugal server in a process of its own; it ends with this one.
struct Server(Child);

impl Server {
    fn start(wire: Wire) -> Result<(Self, String)> {
        let wire = match wire {
            Wire::Lines => "lines",
            Wire::Http => "http",
        };
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--serve", wire])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = child.stdout.take().ok_or("no output")?;
        let mut address = String::new();
        BufReader::new(said).read_line(&mut address)?;
        Ok((Self(child), address.trim().to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(wire: &str) -> Result<()> {
    let wire = match wire {
        "lines" => Wire::Lines,
        _ => Wire::Http,
    };
    println!("{}", frugal::serve(wire));
    // Waits until the parent process has ended.
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
