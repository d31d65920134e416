//! `pintle bench`: how fast a tool of a server answers.

mod compare;
mod histogram;
mod measure;
mod plot;
mod svg;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::attempt::or_interrupted;
use super::{Invocation, converse_at, next_step};
use crate::args::{Call, Format, ServerSpec};
use crate::conversation::{Conversation, ConversationOptions, Opening};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::page::{Page, Row};
use crate::screen::{Look, Screen, Style};

use compare::{Comparison, compare, name};
use histogram::Histogram;
use measure::{BenchResult, Load};
use plot::{Curve, plot};

/// A measurement: a call, its number or time, and its concurrency.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) call: Call,
    pub(crate) end: BenchEnd,
    pub(crate) concurrency: usize,
    pub(crate) warm_up: u32,
    /// The file that gets the plot.
    pub(crate) svg: Option<PathBuf>,
    /// The server to compare with, and the number of rounds.
    pub(crate) rival: Option<(ServerSpec, u32)>,
}

/// End of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchEnd {
    /// Ends after this number of calls.
    Calls(u32),
    /// Ends after this time.
    Time(Duration),
}

/// Columns of the bars of a histogram.
const BARS: usize = 40;

/// Measures a tool of one server, or of two in turns.
pub(super) async fn start(invocation: &Invocation, bench: &Bench) -> Result<(), CliError> {
    let server = invocation.required_server()?;
    match &bench.rival {
        None => converse_at(server, invocation, &invocation.action).await,
        Some((rival, rounds)) => compare_at(invocation, bench, [server, rival], *rounds).await,
    }
}

/// Measures the latency of a tool, and prints the result.
pub(crate) async fn run(conversation: &Conversation, bench: &Bench) -> Result<(), CliError> {
    let load = Load::prepare(conversation, bench).await?;
    let found = load.measure(bench.end, "", &conversation.live).await?;
    let curves = [curve("", &found)];
    draw(bench, &curves)?;
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, &found.data(bench)),
        Format::Text => {
            let mut page = Page::new(screen.output);
            let beside = format!("{} at a time", bench.concurrency);
            found.show(&mut page, &bench.call.tool, &beside);
            page.gap();
            for line in drawn(&found.latencies, screen.output) {
                page.line(&line);
            }
            output::result(with_plot(page, &curves).as_bytes())
        }
    }
}

async fn compare_at(
    invocation: &Invocation,
    bench: &Bench,
    servers: [&ServerSpec; 2],
    rounds: u32,
) -> Result<(), CliError> {
    let [first, second] = servers.map(|server| open(invocation, server));
    // One after the other, because each may ask for consent.
    let first = or_interrupted(first).await?;
    let second = or_interrupted(second).await;
    let found = match &second {
        Ok(second) => or_interrupted(compare([&first, second], bench, rounds)).await,
        Err(_) => Ok(Comparison::default()),
    };
    first.live.clear();
    first.close().await;
    second?.close().await;
    report(invocation, bench, servers.map(name), &found?)
}

async fn open(invocation: &Invocation, server: &ServerSpec) -> Result<Conversation, CliError> {
    let options = ConversationOptions {
        server,
        settings: &invocation.settings,
        format: invocation.format,
        checks_output: true,
        watches_cache: false,
        uses_shared: false,
    };
    let opening = Opening::new(options, Screen::look())?;
    let opened = opening.open().await;
    if opened.is_err() {
        opening.report_hidden();
    }
    opened.map_err(|failure| failure.with_next(|| next_step(server)))
}

fn report(
    invocation: &Invocation,
    bench: &Bench,
    names: [String; 2],
    found: &Comparison,
) -> Result<(), CliError> {
    let curves = [0, 1].map(|server| curve(&names[server], &found.totals[server]));
    draw(bench, &curves)?;
    let screen = Screen::look();
    match invocation.format {
        Format::Json => {
            let targets = names.iter().zip(&found.totals).map(|(name, total)| {
                let mut data = total.data(bench);
                data["target"] = json!(name);
                data
            });
            let targets: Vec<_> = targets.collect();
            output::json(
                &screen,
                &json!({ "targets": targets, "ratios": found.data() }),
            )
        }
        Format::Text => {
            let mut page = Page::new(screen.output);
            let beside = format!("{}, {} at a time", bench.call.tool, bench.concurrency);
            for (name, total) in names.iter().zip(&found.totals) {
                total.show(&mut page, name, &beside);
            }
            found.show(&mut page);
            output::result(with_plot(page, &curves).as_bytes())
        }
    }
}

fn curve<'c>(name: &'c str, found: &'c BenchResult) -> Curve<'c> {
    let latencies = &found.latencies;
    Curve { name, latencies }
}

/// Writes the plot to the file of `--svg`.
fn draw(bench: &Bench, curves: &[Curve<'_>]) -> Result<(), CliError> {
    let Some(file) = &bench.svg else {
        return Ok(());
    };
    let title = format!("{}, {} at a time", bench.call.tool, bench.concurrency);
    let written = fs::write(file, svg::svg(&title, curves));
    written.map_err(|error| unwritable(file, &error))
}

fn unwritable(file: &Path, error: &std::io::Error) -> CliError {
    CliError::new(Exit::Failed, format!("{}: {error}", file.display()))
}

fn with_plot(mut page: Page, curves: &[Curve<'_>]) -> String {
    page.gap();
    for line in plot(curves, page.look()) {
        page.line(&line);
    }
    page.into_text()
}

impl BenchResult {
    fn data(&self, bench: &Bench) -> Value {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let latencies = &self.latencies;
        let at = |part| micros(latencies.at(part));
        let buckets = latencies
            .buckets()
            .map(|(up_to, count)| json!({ "upToMicroseconds": micros(up_to), "calls": count }));
        json!({
            "tool": bench.call.tool,
            "concurrency": bench.concurrency,
            "calls": latencies.count(),
            "toolErrors": self.failed,
            "seconds": self.took.as_secs_f64(),
            "callsPerSecond": self.each_second(),
            "microseconds": {
                "min": micros(latencies.min()), "mean": micros(latencies.mean()),
                "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p999": at(0.999),
                "max": micros(latencies.max()),
            },
            "histogram": buckets.collect::<Vec<_>>(),
        })
    }

    /// Adds the calls, the throughput and the percentiles to a page.
    fn show(&self, page: &mut Page, heading: &str, beside: &str) {
        let latencies = &self.latencies;
        page.heading(heading, beside);
        let calls = format!("{} in {:.2} s", latencies.count(), self.took.as_secs_f64());
        let mut rows = vec![
            Row::new("calls", calls),
            Row::new("throughput", format!("{:.0} calls/s", self.each_second())),
        ];
        if self.failed > 0 {
            rows.push(Row::new("tool errors", self.failed.to_string()));
        }
        for (name, time) in [
            ("min", latencies.min()),
            ("mean", latencies.mean()),
            ("p50", latencies.at(0.5)),
            ("p90", latencies.at(0.9)),
            ("p99", latencies.at(0.99)),
            ("p99.9", latencies.at(0.999)),
            ("max", latencies.max()),
        ] {
            rows.push(Row::new(name, shown(time)));
        }
        page.rows(2, &rows);
    }
}

/// A line for each doubling of the time, with a bar.
fn drawn(latencies: &Histogram, look: Look) -> Vec<String> {
    let doublings = latencies.doublings();
    let most = doublings
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
    let lines = doublings.iter().map(|(up_to, count)| {
        let full = (*count as f64 / most as f64 * BARS as f64).ceil() as usize;
        let bar = look.paint(Style::Good, &"#".repeat(full));
        format!("  < {:>9}  {bar} {count}", shown(*up_to))
    });
    lines.collect()
}

fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..1_000.0 => format!("{micros:.1} µs"),
        ..1_000_000.0 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.2} s", micros / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_fitting_units() {
        let shown = |micros| shown(Duration::from_micros(micros));
        assert_eq!(
            [shown(5), shown(1500), shown(2_500_000)],
            ["5.0 µs", "1.50 ms", "2.50 s"]
        );
    }

    #[test]
    fn a_histogram_is_drawn_by_doublings() {
        let mut latencies = Histogram::default();
        for micros in [3, 3, 3, 3, 9] {
            latencies.add(Duration::from_micros(micros));
        }
        let lines = drawn(&latencies, Look::PLAIN);
        assert_eq!(
            lines.first().map(|line| line.matches('#').count()),
            Some(BARS)
        );
        assert!(
            lines.last().is_some_and(|line| line.ends_with(" 1")),
            "{lines:?}"
        );
        assert!(drawn(&Histogram::default(), Look::PLAIN).is_empty());
    }
}
