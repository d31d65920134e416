//! `--compare`: two servers in alternating rounds, so that both are measured under the same load of the machine.

use pintle_hosts::without_query;
use serde_json::{Value, json};

use super::measure::{BenchResult, Load};
use super::{Bench, BenchEnd};
use crate::args::ServerSpec;
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::page::{Page, Row};

/// The results of both servers: the one that was named first, and the compared one.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) totals: [BenchResult; 2],
    /// For each measure, the ratio of the compared server to the first one in each round.
    ratios: Vec<(&'static str, Vec<f64>)>,
}

/// A measure of a round.
type Measure = (&'static str, fn(&BenchResult) -> f64);

/// The measures whose ratios are printed.
const MEASURES: [Measure; 5] = [
    ("mean", |found| found.latencies.mean().as_secs_f64()),
    ("p50", |found| found.latencies.at(0.5).as_secs_f64()),
    ("p90", |found| found.latencies.at(0.9).as_secs_f64()),
    ("p99", |found| found.latencies.at(0.99).as_secs_f64()),
    ("throughput", BenchResult::each_second),
];

/// Measures both servers. The order changes with each round, because a round may heat or cool the machine.
///
/// # Errors
///
/// The error of the first call that has no result.
pub(super) async fn compare(
    conversations: [&Conversation; 2],
    bench: &Bench,
    rounds: u32,
) -> Result<Comparison, CliError> {
    let [first, second] = conversations;
    let loads = [
        Load::prepare(first, bench).await?,
        Load::prepare(second, bench).await?,
    ];
    let end = bench.end.divided(rounds);
    let mut found = Comparison::default();
    for round in 0..rounds {
        let label = format!("{}/{rounds} ", round + 1);
        let mut results = [BenchResult::default(), BenchResult::default()];
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for server in order {
            let measured = loads[server].measure(end, &label, &first.live).await?;
            results[server] = measured;
        }
        found.add(&results);
    }
    Ok(found)
}

impl BenchEnd {
    /// Returns the end of one round of several.
    fn divided(self, rounds: u32) -> Self {
        match self {
            Self::Calls(calls) => Self::Calls(calls.div_ceil(rounds)),
            Self::Time(time) => Self::Time(time / rounds),
        }
    }
}

impl Default for Comparison {
    fn default() -> Self {
        let ratios = MEASURES.iter().map(|(name, _)| (*name, Vec::new()));
        Self {
            totals: Default::default(),
            ratios: ratios.collect(),
        }
    }
}

impl Comparison {
    /// Adds the results of a round.
    fn add(&mut self, results: &[BenchResult; 2]) {
        for (total, result) in self.totals.iter_mut().zip(results) {
            total.add(result);
        }
        let [first, second] = results;
        for ((_, ratios), (_, measure)) in self.ratios.iter_mut().zip(MEASURES) {
            ratios.push(measure(second) / measure(first).max(f64::MIN_POSITIVE));
        }
    }

    /// Returns the least, the median and the greatest ratio of each measure.
    pub(super) fn data(&self) -> Value {
        let ratios = self.ratios.iter().map(|(name, ratios)| {
            let [min, median, max] = spread(ratios);
            (
                (*name).to_owned(),
                json!({ "min": min, "median": median, "max": max }),
            )
        });
        Value::Object(ratios.collect())
    }

    /// Adds the ratios to a page.
    pub(super) fn show(&self, page: &mut Page) {
        let rounds = self.ratios.first().map_or(0, |(_, ratios)| ratios.len());
        page.heading("ratios", &format!("compared / first, of {rounds} rounds"));
        let rows: Vec<_> = self.ratios.iter().map(row).collect();
        page.rows(2, &rows);
    }
}

fn row((name, ratios): &(&'static str, Vec<f64>)) -> Row {
    let [min, median, max] = spread(ratios);
    let meaning = match (min > 1.0, max < 1.0) {
        (true, _) => "greater in every round",
        (_, true) => "less in every round",
        _ => "greater in some rounds",
    };
    let text = format!("min {min:.3}  median {median:.3}  max {max:.3}  {meaning}");
    Row::new(*name, text)
}

/// Returns the least value, the median and the greatest value; ones if there is no value.
fn spread(values: &[f64]) -> [f64; 3] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(1.0);
    let middle = sorted.len() / 2;
    let median = match sorted.len() % 2 {
        0 => f64::midpoint(at(middle.saturating_sub(1)), at(middle)),
        _ => at(middle),
    };
    [at(0), median, at(sorted.len().saturating_sub(1))]
}

/// Returns the name of a server in the plot.
pub(super) fn name(server: &ServerSpec) -> String {
    match server {
        ServerSpec::Named(name) => format!("@{name}"),
        ServerSpec::Url(url) => without_query(url).to_owned(),
        ServerSpec::Program(words) => words.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn result(micros: u64) -> BenchResult {
        let mut found = BenchResult {
            took: Duration::from_micros(micros),
            ..BenchResult::default()
        };
        found.latencies.add(Duration::from_micros(micros));
        found
    }

    #[test]
    fn ratios_have_a_least_a_middle_and_a_greatest() {
        let mut found = Comparison::default();
        for (first, second) in [(100, 200), (100, 400), (100, 300)] {
            found.add(&[result(first), result(second)]);
        }
        let data = found.data();
        for (part, ratio) in [("min", 2.0), ("median", 3.0), ("max", 4.0)] {
            let found = data["mean"][part].as_f64().expect("a number");
            assert!((found - ratio).abs() < 1e-9, "{data}");
        }
        let throughput = data["throughput"]["max"].as_f64().expect("a number");
        assert!((throughput - 0.5).abs() < 1e-9, "{data}");
        assert_eq!(found.totals[1].latencies.count(), 3);
        assert_eq!(found.totals[0].took, Duration::from_micros(300));
        let mut page = Page::new(crate::screen::Look::PLAIN);
        found.show(&mut page);
        let text = page.into_text();
        assert!(
            text.contains("mean        min 2.000  median 3.000  max 4.000  greater in every round"),
            "{text}"
        );
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_ones() {
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), [1.0, 2.5, 4.0]);
        assert_eq!(spread(&[]), [1.0; 3]);
        assert_eq!(spread(&[0.0, 1.0]), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_round_is_a_part_of_the_measurement() {
        assert_eq!(BenchEnd::Calls(25).divided(10), BenchEnd::Calls(3));
        let time = BenchEnd::Time(Duration::from_secs(5));
        assert_eq!(time.divided(10), BenchEnd::Time(Duration::from_millis(500)));
    }
}
