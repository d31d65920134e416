//! Servers at scale: connections, worker threads, tools and sizes of results.
//!
//! ```text
//! cargo build --profile dist --package pintle-bench
//! target/dist/scale [--rounds N] [--milliseconds N] [--rows TEXT] [--write FILE] COMMAND...
//! ```
//!
//! Each command is started as `COMMAND stdio` or `COMMAND http HOST:PORT stateful|stateless`, with the
//! settings `tools=N` and `threads=N`. It serves `/mcp` and has the tools of `scale-server`. That server
//! lies beside this program and comes first. A command in quotes may have further words, which follow the
//! settings.
//!
//! A row has the CPU time of each server per request, and the latency at the 50th and the 99th percentile.
//! They are in microseconds, and each is the median over the rounds, in which the servers take turns. Each
//! round starts a server anew, warms it up, and calls it for half a second. The load comes from one thread,
//! which checks each response: its id, its size, and that it is not an error. Connections have one request at
//! a time, and a pipe has several in flight. Server and load share the machine, and neither is bound to a
//! core, so the latency includes the time of the load itself.
//!
//! A server that fails a row has a dash there, and the reason is printed. `--rows` selects rows whose names
//! contain a text. `--write` also puts the table into a file, between two marker lines. Linux only.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it is a program for people"
)]

mod answer;
mod http;
mod measure;
mod pipe;
mod report;
mod row;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use measure::{Figures, figures};
use pintle_bench::process::Result;
use report::Report;
use row::Row;

fn main() -> Result<()> {
    let begin = Instant::now();
    let options = Options::read(std::env::args().skip(1))?;
    let mut report = Report::new(&options.commands, options.rounds);
    for row in Row::all() {
        if row.name().contains(&options.selected) {
            let rounds = options.rounds_of(row);
            println!("{}", report.add(row.name(), rounds));
        }
    }
    println!("{} s", begin.elapsed().as_secs());
    match &options.written {
        Some(file) => report.write(file),
        None => Ok(()),
    }
}

/// A server: its program, and the words after the settings.
pub(crate) struct Command {
    pub(crate) program: PathBuf,
    pub(crate) words: Vec<String>,
}

/// Arguments of the command line.
struct Options {
    rounds: usize,
    time: Duration,
    selected: String,
    written: Option<PathBuf>,
    commands: Vec<Command>,
}

impl Options {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self> {
        let own = Command {
            program: std::env::current_exe()?.with_file_name("scale-server"),
            words: Vec::new(),
        };
        let mut options = Self {
            rounds: 5,
            time: Duration::from_millis(500),
            selected: String::new(),
            written: None,
            commands: vec![own],
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} has no value"));
            match word.as_str() {
                "--rounds" => options.rounds = value()?.parse()?,
                "--milliseconds" => options.time = Duration::from_millis(value()?.parse()?),
                "--rows" => options.selected = value()?,
                "--write" => options.written = Some(value()?.into()),
                command => options.commands.push(Command::read(command)?),
            }
        }
        match options.rounds {
            0 => Err("at least one round".into()),
            _ => Ok(options),
        }
    }

    /// Measures every server in each round, another one first each time. Returns the figures of each server
    /// round by round, or `None` for a server that failed.
    fn rounds_of(&self, row: Row) -> Vec<Option<Vec<Figures>>> {
        let mut servers = vec![Some(Vec::new()); self.commands.len()];
        for round in 0..self.rounds {
            for turn in 0..self.commands.len() {
                let nth = (turn + round) % self.commands.len();
                let Some(measured) = &mut servers[nth] else {
                    continue;
                };
                match figures(&self.commands[nth], row, self.time) {
                    Ok(figures) => measured.push(figures),
                    Err(reason) => {
                        println!("{}: {}: {reason}", row.name(), self.commands[nth].name());
                        servers[nth] = None;
                    }
                }
            }
        }
        servers
    }
}

impl Command {
    fn read(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        Ok(Self {
            program: words.next().ok_or("a command without a program")?.into(),
            words: words.map(str::to_owned).collect(),
        })
    }

    /// The name in the table.
    pub(crate) fn name(&self) -> String {
        let program = self.program.file_name().unwrap_or_default();
        let mut name = program.to_string_lossy().into_owned();
        for word in &self.words {
            name += &format!(" {word}");
        }
        name
    }
}
