//! A plot of percentiles: the latency up to each part of the calls, for one server or two.
//!
//! Each part of the horizontal axis has ten times fewer calls above it than the one before: 90 %, 99 %, 99.9 %.
//! So the slowest calls are as visible as the others. The vertical axis is logarithmic.

use std::time::Duration;

use super::histogram::Histogram;
use super::shown;
use crate::screen::{Look, Style};
use crate::text;

/// Lines of the plot, without its axis.
const LINES: usize = 12;
/// Least and most columns of the plot, without its labels.
const COLUMNS: (usize, usize) = (24, 64);
/// Columns of the labels on the left.
const LABEL: usize = 11;
/// Columns of each name below the plot.
const NAME: usize = 28;
/// The mark of each curve.
const MARKS: [char; 2] = ['*', 'o'];
/// The mark where both curves are.
const BOTH: char = '+';
/// The parts with a label on the horizontal axis.
const PARTS: [(f64, &str); 6] = [
    (0.5, "50"),
    (0.9, "90"),
    (0.99, "99"),
    (0.999, "99.9"),
    (0.9999, "99.99"),
    (0.99999, "99.999"),
];

/// The latencies of one server.
#[derive(Clone, Copy)]
pub(super) struct Curve<'c> {
    pub(super) name: &'c str,
    pub(super) latencies: &'c Histogram,
}

/// The ranges of both axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axes {
    /// Length of the horizontal axis: 1 ends at 90 %, 2 at 99 %, and so on.
    nines: f64,
    low: f64,
    high: f64,
}

impl Axes {
    /// Returns axes that have room for all curves; `None` if no call was counted.
    pub(super) fn of(curves: &[Curve<'_>]) -> Option<Self> {
        let curves = curves.iter().filter(|curve| curve.latencies.count() > 0);
        let most = curves.clone().map(|curve| curve.latencies.count()).max()?;
        let low = curves.clone().map(|curve| curve.latencies.min()).min()?;
        let high = curves.map(|curve| curve.latencies.max()).max()?;
        let low = (low.as_secs_f64() * 1e9).max(1.0).ln();
        let high = (high.as_secs_f64() * 1e9).max(1.0).ln();
        // A single value is in the middle.
        let margin = if high - low < 0.2 { 0.1 } else { 0.0 };
        Some(Self {
            nines: (most as f64).log10().clamp(1.0, 5.0),
            low: low - margin,
            high: high + margin,
        })
    }

    /// Returns the part of the calls at a position from 0 to 1.
    pub(super) fn part_at(&self, x: f64) -> f64 {
        1.0 - 10_f64.powf(-x * self.nines)
    }

    /// Returns the position of a part of the calls, from 0 to 1.
    fn x(&self, part: f64) -> f64 {
        -(1.0 - part).log10() / self.nines
    }

    /// Returns the height of a time, from 0 to 1.
    pub(super) fn y(&self, time: Duration) -> f64 {
        let time = (time.as_secs_f64() * 1e9).max(1.0).ln();
        ((time - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// Returns the time at a height from 0 to 1.
    pub(super) fn time_at(&self, y: f64) -> Duration {
        let nanos = (self.low + y * (self.high - self.low)).exp();
        Duration::from_nanos(nanos.round() as u64)
    }

    /// Returns the labels of the horizontal axis with their positions.
    pub(super) fn labels(&self) -> impl Iterator<Item = (f64, &'static str)> + '_ {
        let parts = PARTS.iter().map(|(part, label)| (self.x(*part), *label));
        parts.filter(|(x, _)| *x <= 1.0 + 1e-9)
    }
}

impl Curve<'_> {
    /// Returns the time up to a part of the calls.
    pub(super) fn at(&self, part: f64) -> Duration {
        match part <= 0.0 {
            true => self.latencies.min(),
            false => self.latencies.at(part),
        }
    }
}

/// Returns the lines of the plot for a terminal; none if no call was counted.
pub(super) fn plot(curves: &[Curve<'_>], look: Look) -> Vec<String> {
    let Some(axes) = Axes::of(curves) else {
        return Vec::new();
    };
    let columns = look.columns.saturating_sub(LABEL + 3);
    let columns = columns.clamp(COLUMNS.0, COLUMNS.1);
    let cells = cells(curves, &axes, columns);
    let mut lines = vec![format!("{:>LABEL$}", "latency")];
    for (row, cells) in cells.iter().enumerate() {
        let y = 1.0 - row as f64 / (LINES - 1) as f64;
        let label = match row % 3 == 0 || row == LINES - 1 {
            true => shown(axes.time_at(y)),
            false => String::new(),
        };
        let cells: String = cells.iter().collect();
        let cells = look.paint(Style::Good, cells.trim_end());
        lines.push(format!("{label:>LABEL$} |{cells}").trim_end().to_owned());
    }
    lines.push(format!("{:>LABEL$} +{}", "", "-".repeat(columns)));
    lines.push(axis(&axes, columns));
    if curves.len() > 1 {
        let names = curves.iter().zip(MARKS);
        let names = names.map(|(curve, mark)| {
            let name: String = text::line(curve.name).chars().take(NAME).collect();
            format!("{mark} {name}")
        });
        let names = names.collect::<Vec<_>>().join("   ");
        lines.push(format!("{:>LABEL$}  {names}   {BOTH} both", ""));
    }
    lines
}

fn cells(curves: &[Curve<'_>], axes: &Axes, columns: usize) -> Vec<Vec<char>> {
    let mut cells = vec![vec![' '; columns]; LINES];
    for (curve, mark) in curves.iter().zip(MARKS) {
        if curve.latencies.count() == 0 {
            continue;
        }
        let mut before = None;
        for column in 0..columns {
            let part = axes.part_at(column as f64 / (columns - 1) as f64);
            let y = axes.y(curve.at(part));
            let row = ((1.0 - y) * (LINES - 1) as f64).round() as usize;
            // A step of several lines is drawn as a whole.
            let from = before.map_or(row, |before: usize| row.max(before.saturating_sub(1)));
            for line in cells.iter_mut().take(from + 1).skip(row) {
                put(&mut line[column], mark);
            }
            before = Some(row);
        }
    }
    cells
}

fn put(cell: &mut char, mark: char) {
    *cell = match *cell {
        ' ' => mark,
        other if other == mark => mark,
        _ => BOTH,
    };
}

/// The labels of the horizontal axis. One that would touch the label before is left out.
fn axis(axes: &Axes, columns: usize) -> String {
    let mut line = format!("{:>LABEL$}  0", "");
    for (x, label) in axes.labels() {
        let middle = LABEL + 2 + (x * (columns - 1) as f64).round() as usize;
        let begin = middle.saturating_sub(label.len() / 2);
        if begin > line.len() {
            line.push_str(&" ".repeat(begin - line.len()));
            line.push_str(label);
        }
    }
    line + " % of calls"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(times: impl IntoIterator<Item = u64>) -> Histogram {
        let mut latencies = Histogram::default();
        for micros in times {
            latencies.add(Duration::from_micros(micros));
        }
        latencies
    }

    #[test]
    fn a_plot_rises_from_the_fastest_to_the_slowest_call() {
        let latencies = counted((1..=1000).map(|micros| micros * 10));
        let curve = Curve {
            name: "a",
            latencies: &latencies,
        };
        let lines = plot(&[curve], Look::PLAIN);
        assert_eq!(lines.len(), LINES + 3, "{lines:#?}");
        assert!(lines[1].starts_with("   10.00 ms |"), "{lines:#?}");
        assert!(lines[1].ends_with('*'), "{lines:#?}");
        assert!(lines[LINES].starts_with("    10.0 µs |*"), "{lines:#?}");
        let axis = lines.last().expect("an axis");
        for label in ["0", "50", "90", "99", "99.9", "% of calls"] {
            assert!(axis.contains(label), "{label}: {axis}");
        }
        assert!(!axis.contains("99.99"), "{axis}");
        // Each column has a mark, because steps are drawn as a whole.
        let marked = |column: usize| {
            lines[1..=LINES]
                .iter()
                .any(|line| line.chars().nth(column) == Some('*'))
        };
        assert!((LABEL + 2..LABEL + 2 + COLUMNS.1).all(marked), "{lines:#?}");
    }

    #[test]
    fn two_curves_have_marks_and_names() {
        let (fast, slow) = (counted([10; 50]), counted([10_000; 50]));
        let curves = [("fast\u{1b}", &fast), ("slow", &slow)]
            .map(|(name, latencies)| Curve { name, latencies });
        let text = plot(&curves, Look::PLAIN).join("\n");
        for part in ["* fast\\u{1b}   o slow   + both", "|oooo", "|****"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let same = [curves[0], curves[0]];
        assert!(plot(&same, Look::PLAIN).join("\n").contains("|++++"));
    }

    #[test]
    fn odd_measurements_have_a_plot_or_none() {
        fn curve(latencies: &Histogram) -> Curve<'_> {
            let name = "a";
            Curve { name, latencies }
        }
        let none = counted([]);
        assert!(plot(&[curve(&none)], Look::PLAIN).is_empty());
        let mut longest = counted([0]);
        longest.add(Duration::MAX);
        for latencies in [counted([5]), counted([0; 3]), longest] {
            assert!(!plot(&[curve(&latencies)], Look::PLAIN).is_empty());
            assert!(!plot(&[curve(&latencies), curve(&none)], Look::PLAIN).is_empty());
        }
        let narrow = Look {
            columns: 20,
            ..Look::PLAIN
        };
        assert!(!plot(&[curve(&counted([1, 2]))], narrow).is_empty());
    }
}
