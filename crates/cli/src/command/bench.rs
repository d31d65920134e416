//! `pintle bench`: how fast a tool of a server answers.

mod histogram;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pintle::client::Client;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::call;
use crate::args::{Call, Format};
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::live::bar;
use crate::output;
use crate::page::{Page, Row};
use crate::screen::{Look, Style};

use histogram::Histogram;

/// A measurement: a call, its number or time, and its concurrency.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) call: Call,
    pub(crate) end: BenchEnd,
    pub(crate) concurrency: usize,
    pub(crate) warm_up: u32,
}

/// End of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchEnd {
    /// Ends after this number of calls.
    Calls(u32),
    /// Ends after this time.
    Time(Duration),
}

/// Interval between two drawings of the bar.
const TICK: Duration = Duration::from_millis(100);

/// Columns of the bars of a histogram.
const BARS: usize = 40;

/// Measures the latency of a tool, and prints the result.
pub(crate) async fn run(conversation: &Conversation, bench: &Bench) -> Result<(), CliError> {
    let tool = call::find(conversation, &bench.call.tool).await?;
    let arguments = call::built(conversation, &bench.call, &tool)?;
    let arguments = serde_json::value::to_raw_value(&arguments).map_err(std::io::Error::from)?;
    let arguments: Arc<RawValue> = arguments.into();
    for _ in 0..bench.warm_up {
        conversation
            .client
            .call_tool(&bench.call.tool, &*arguments)
            .await?;
    }
    let found = measure(conversation, bench, arguments).await?;
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, &found.data(bench)),
        Format::Text => output::result(found.text(bench, screen.output).as_bytes()),
    }
}

/// State that concurrent callers share.
struct Race {
    began: Instant,
    end: BenchEnd,
    started: AtomicU32,
    ended: AtomicU64,
}

impl Race {
    /// Whether to make another call.
    fn goes_on(&self) -> bool {
        match self.end {
            BenchEnd::Calls(calls) => self.started.fetch_add(1, Ordering::Relaxed) < calls,
            BenchEnd::Time(time) => self.began.elapsed() < time,
        }
    }

    /// Returns the completed part, from 0 to 1.
    fn part(&self) -> f64 {
        match self.end {
            BenchEnd::Calls(calls) => self.ended.load(Ordering::Relaxed) as f64 / f64::from(calls),
            BenchEnd::Time(time) => self.began.elapsed().as_secs_f64() / time.as_secs_f64(),
        }
    }

    fn line(&self) -> String {
        let ended = self.ended.load(Ordering::Relaxed);
        let each = ended as f64 / self.began.elapsed().as_secs_f64().max(f64::EPSILON);
        let part = self.part().clamp(0.0, 1.0);
        format!(
            "{} {:3.0}%  {ended} calls  {each:.0}/s",
            bar(part, 24),
            part * 100.0
        )
    }
}

/// Result of a measurement.
#[derive(Debug, Default)]
struct BenchResult {
    latencies: Histogram,
    failed: u64,
    took: Duration,
}

async fn measure(
    conversation: &Conversation,
    bench: &Bench,
    arguments: Arc<RawValue>,
) -> Result<BenchResult, CliError> {
    let race = Arc::new(Race {
        began: Instant::now(),
        end: bench.end,
        started: AtomicU32::new(0),
        ended: AtomicU64::new(0),
    });
    let mut callers = JoinSet::new();
    for _ in 0..bench.concurrency {
        let (client, tool) = (conversation.client.clone(), bench.call.tool.clone());
        callers.spawn(make_calls(
            client,
            tool,
            Arc::clone(&arguments),
            Arc::clone(&race),
        ));
    }
    let mut found = BenchResult::default();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            ended = callers.join_next() => match ended {
                None => break,
                Some(Ok(caller)) => found.add(caller?),
                Some(Err(panicked)) => return Err(std::io::Error::other(panicked).into()),
            },
            _ = ticks.tick() => conversation.live.draw(&race.line()),
        }
    }
    found.took = race.began.elapsed();
    conversation.live.clear();
    Ok(found)
}

/// One caller: makes a call after the other. What ends a conversation ends the measurement.
async fn make_calls(
    client: Client,
    tool: String,
    arguments: Arc<RawValue>,
    race: Arc<Race>,
) -> Result<BenchResult, CliError> {
    let mut found = BenchResult::default();
    while race.goes_on() {
        let began = Instant::now();
        let result = client.call_tool(&tool, &*arguments).await?;
        found.latencies.add(began.elapsed());
        found.failed += u64::from(result.has_failed());
        race.ended.fetch_add(1, Ordering::Relaxed);
    }
    Ok(found)
}

impl BenchResult {
    fn add(&mut self, other: Self) {
        self.latencies.merge(&other.latencies);
        self.failed += other.failed;
    }

    fn each_second(&self) -> f64 {
        self.latencies.count() as f64 / self.took.as_secs_f64().max(f64::EPSILON)
    }

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

    fn text(&self, bench: &Bench, look: Look) -> String {
        let mut page = Page::new(look);
        let latencies = &self.latencies;
        page.heading(
            &bench.call.tool,
            &format!("{} at a time", bench.concurrency),
        );
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
        page.gap();
        for line in drawn(latencies, look) {
            page.line(&line);
        }
        page.into_text()
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
