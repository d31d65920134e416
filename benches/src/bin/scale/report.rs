//! The measurements, as text.

use std::fmt::Write as _;
use std::path::Path;

use pintle_bench::process::Result;
use pintle_bench::table::{self, Spread, figure};

use crate::Command;
use crate::measure::Figures;

/// All rows, and the servers of their cells.
pub(crate) struct Report {
    names: Vec<String>,
    rounds: usize,
    /// The name and the cells of each row.
    rows: Vec<(String, Vec<[String; 2]>)>,
}

impl Report {
    pub(crate) fn new(commands: &[Command], rounds: usize) -> Self {
        Self {
            names: commands.iter().map(Command::name).collect(),
            rounds,
            rows: Vec::new(),
        }
    }

    /// Adds a row with the figures of each server, and returns it for a terminal.
    pub(crate) fn add(&mut self, name: String, servers: Vec<Option<Vec<Figures>>>) -> String {
        let ours = servers.first().and_then(Option::as_deref);
        let cells: Vec<_> = (0..)
            .zip(&servers)
            .map(|(nth, rounds): (usize, _)| cells_of(rounds.as_deref(), ours.filter(|_| nth > 0)))
            .collect();
        let mut line = format!("{name:<52}");
        for (server, [cpu, latency]) in self.names.iter().zip(&cells) {
            let _ = write!(line, "  {server} {cpu}; {latency}");
        }
        self.rows.push((name, cells));
        line
    }

    /// Puts the table into a file, in place of the one that is there.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        table::write(file, "scale", &self.table())
    }

    fn table(&self) -> String {
        let mut table = format!("Medians of {} rounds, in microseconds.\n\n|", self.rounds);
        for name in &self.names {
            let _ = write!(table, " | {name}, CPU | p50, p99");
        }
        let _ = writeln!(table, " |\n|---|{}", "--:|--:|".repeat(self.names.len()));
        for (name, cells) in &self.rows {
            let _ = writeln!(table, "| {name} | {} |", cells.concat().join(" | "));
        }
        table
    }
}

/// The CPU time of a server, with its ratio to ours in the same round, and its latency.
fn cells_of(rounds: Option<&[Figures]>, ours: Option<&[Figures]>) -> [String; 2] {
    let Some(rounds) = rounds else {
        return ["–".into(), "–".into()];
    };
    let median = |of: fn(&Figures) -> f64| Spread::of(rounds.iter().map(of).collect()).median;
    let mut cpu = figure(median(|figures| figures.cpu));
    if let Some(ours) = ours {
        let pairs = rounds.iter().zip(ours);
        let ratios = pairs.map(|(its, ours)| its.cpu / ours.cpu).collect();
        let _ = write!(cpu, " (×{:.2})", Spread::of(ratios).median);
    }
    let latency = [median(|figures| figures.p50), median(|figures| figures.p99)];
    [cpu, latency.map(figure).join(", ")]
}
