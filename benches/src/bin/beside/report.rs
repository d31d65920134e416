//! The measurements, as text.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pintle_bench::process::Result;
use pintle_bench::table::{self, Spread, figure};

/// All rows, and whose they are.
pub(crate) struct Report {
    names: Vec<String>,
    rounds: usize,
    pub(crate) rows: Vec<Row>,
}

/// A measured request, with the cost at each server.
pub(crate) struct Row {
    name: String,
    cells: Vec<Cell>,
}

/// Cost at one server: microseconds, and the ratio to ours, which has no such figure.
struct Cell {
    time: Spread,
    ratio: Option<Spread>,
}

impl Row {
    /// Of at least one round, each with the time of each server.
    pub(crate) fn new(name: String, rounds: Vec<Vec<f64>>) -> Self {
        let cell = |nth: usize| Cell {
            time: Spread::of(rounds.iter().map(|round| round[nth]).collect()),
            ratio: (nth > 0)
                .then(|| Spread::of(rounds.iter().map(|round| round[nth] / round[0]).collect())),
        };
        let cells = (0..rounds[0].len()).map(cell).collect();
        Self { name, cells }
    }
}

impl Report {
    pub(crate) fn new(commands: &[PathBuf], rounds: usize) -> Result<Self> {
        let name = |command: &PathBuf| {
            let name = command.file_name().ok_or("a command without a name")?;
            Ok(name.to_string_lossy().into_owned())
        };
        let names: Result<_> = commands.iter().map(name).collect();
        Ok(Self {
            names: names?,
            rounds,
            rows: Vec::new(),
        })
    }

    /// A row for a terminal.
    pub(crate) fn line(&self, row: &Row) -> String {
        let mut line = format!("{:<34}", row.name);
        for (name, cell) in self.names.iter().zip(&row.cells) {
            let _ = write!(line, "  {name} {}", cell.text());
        }
        line
    }

    /// Puts the table into a file, in place of the one that is there.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        table::write(file, "beside", &self.table())
    }

    fn table(&self) -> String {
        let mut table = format!("Medians of {} rounds, in microseconds.\n\n", self.rounds);
        let _ = writeln!(table, "| | {} |", self.names.join(" | "));
        let _ = writeln!(table, "|---|{}", "---|".repeat(self.names.len()));
        for row in &self.rows {
            let cells: Vec<_> = row.cells.iter().map(Cell::text).collect();
            let _ = writeln!(table, "| {} | {} |", row.name, cells.join(" | "));
        }
        table
    }
}

impl Cell {
    fn text(&self) -> String {
        let time = figure(self.time.median);
        match &self.ratio {
            Some(Spread {
                least,
                median,
                most,
            }) => {
                format!("{time} (×{median:.2}, {least:.2} to {most:.2})")
            }
            None => time,
        }
    }
}
