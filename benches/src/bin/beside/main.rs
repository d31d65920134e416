//! Servers side by side: CPU time per request, in rounds in which they take turns.
//!
//! ```text
//! cargo build --profile dist --package pintle-bench
//! target/dist/beside [--rounds N] [--requests N] [--write FILE] COMMAND...
//! ```
//!
//! Each command is started as `COMMAND stdio` and as `COMMAND http HOST:PORT stateful|stateless`.
//! It serves `/mcp` and has the tools and the text of `bench-server`. That server lies beside this
//! program and comes first. A row has the CPU time of each server per request, in microseconds, as
//! the median over the rounds. Beside it is the ratio to ours in the same round: median, minimum
//! and maximum. Times move with the machine; ratios hardly do. `--write` also puts the table into a
//! file, between two marker lines. Linux only.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people"
)]

mod asked;
mod peer;
mod report;

use std::path::PathBuf;

use asked::{Ask, Wire};
use peer::Peer;
use pintle_bench::process::Result;
use report::{Report, Row};

fn main() -> Result<()> {
    let options = Options::read(std::env::args().skip(1))?;
    let mut report = Report::new(&options.commands, options.rounds)?;
    for wire in Wire::ALL {
        for ask in Ask::ALL {
            let row = options.row(wire, ask)?;
            println!("{}", report.line(&row));
            report.rows.push(row);
        }
    }
    match &options.written {
        Some(file) => report.write(file),
        None => Ok(()),
    }
}

/// Arguments of the command line.
struct Options {
    rounds: usize,
    requests: usize,
    written: Option<PathBuf>,
    commands: Vec<PathBuf>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let own = std::env::current_exe()?.with_file_name("bench-server");
        let mut options = Self {
            rounds: 7,
            requests: 5_000,
            written: None,
            commands: vec![own],
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--rounds" => options.rounds = words.next().ok_or("how many?")?.parse()?,
                "--requests" => options.requests = words.next().ok_or("how many?")?.parse()?,
                "--write" => options.written = Some(words.next().ok_or("where to?")?.into()),
                command => options.commands.push(command.into()),
            }
        }
        match options.rounds {
            0 => Err("at least one round".into()),
            _ => Ok(options),
        }
    }

    fn row(&self, wire: Wire, ask: Ask) -> Result<Row> {
        let requests = (self.requests / ask.weight()).max(20);
        let rounds: Result<Vec<_>> = (0..self.rounds)
            .map(|round| self.round(round, wire, ask, requests))
            .collect();
        Ok(Row::new(
            format!("{}, {}", wire.name(), ask.name()),
            rounds?,
        ))
    }

    /// Measures every server once, another one first each time; in the order of the commands.
    fn round(&self, round: usize, wire: Wire, ask: Ask, requests: usize) -> Result<Vec<f64>> {
        let mut times = vec![0.0; self.commands.len()];
        for turn in 0..self.commands.len() {
            let nth = (turn + round) % self.commands.len();
            let mut peer = Peer::start(&self.commands[nth], wire)?;
            // A tenth to warm up.
            peer.ask(ask, requests.div_ceil(10))?;
            let before = peer.cpu()?;
            peer.ask(ask, requests)?;
            let taken = peer.cpu()? - before;
            times[nth] = taken.as_secs_f64() * 1e6 / requests as f64;
        }
        Ok(times)
    }
}
