//! Servers side by side: CPU time per request, in rounds in which they take turns.
//!
//! ```text
//! cargo build --release --package pintle-bench
//! target/release/beside [--rounds N] [--requests N] COMMAND...
//! ```
//!
//! Each command is started as `COMMAND stdio` and as `COMMAND http HOST:PORT stateful|stateless`, serves
//! `/mcp`, and has the tools `echo` and `big_text` among a hundred, as `bench-server` has, which lies
//! beside this program and comes first. A row has the CPU time of each server per request, in
//! microseconds, as the median over the rounds, and how many times ours that is in the same round:
//! median, and from the least to the most. Times move with the machine; ratios hardly do. Linux only.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people"
)]

mod asked;
mod peer;

use std::path::PathBuf;

use asked::{Ask, Wire};
use peer::Peer;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What is measured. Closed: the figures that PERFORMANCE.md has a table of.
const WORK: [(Wire, Ask, usize); 8] = [
    (Wire::Stdio, Ask::Echo, 1),
    (Wire::Stdio, Ask::List, 10),
    (Wire::Stdio, Ask::Text, 20),
    (Wire::Session, Ask::Echo, 1),
    (Wire::Session, Ask::List, 10),
    (Wire::Modern, Ask::Echo, 1),
    (Wire::Modern, Ask::List, 10),
    (Wire::Modern, Ask::Text, 20),
];

fn main() -> Result<()> {
    let options = Options::read(std::env::args().skip(1))?;
    println!("{} rounds", options.rounds);
    for (wire, ask, weight) in WORK {
        let requests = (options.requests / weight).max(10);
        let mut rounds = Vec::new();
        for round in 0..options.rounds {
            rounds.push(options.round(round, wire, ask, requests)?);
        }
        println!("{} {}", wire.name(), ask.name());
        for (nth, command) in options.commands.iter().enumerate() {
            let times = rounds.iter().map(|round| round[nth]).collect();
            let ratios = rounds.iter().map(|round| round[nth] / round[0]).collect();
            let (time, ratio) = (Spread::of(times), Spread::of(ratios));
            println!(
                "  {:>9.1} us  x{:.2} ({:.2}-{:.2})  {}",
                time.median,
                ratio.median,
                ratio.least,
                ratio.most,
                command.display()
            );
        }
    }
    Ok(())
}

/// What the command line asks for.
struct Options {
    rounds: usize,
    requests: usize,
    commands: Vec<PathBuf>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let own = std::env::current_exe()?.with_file_name("bench-server");
        let mut options = Self {
            rounds: 7,
            requests: 5_000,
            commands: vec![own],
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--rounds" => options.rounds = words.next().ok_or("how many?")?.parse()?,
                "--requests" => options.requests = words.next().ok_or("how many?")?.parse()?,
                command => options.commands.push(command.into()),
            }
        }
        match options.rounds {
            0 => Err("at least one round".into()),
            _ => Ok(options),
        }
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

/// Where figures lie.
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    /// Of at least one figure.
    fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        Self {
            least: figures[0],
            median: figures[figures.len() / 2],
            most: figures[figures.len() - 1],
        }
    }
}
