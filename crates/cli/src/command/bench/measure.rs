//! A measurement: concurrent callers make calls until the end, and a line shows their progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pintle::client::Client;
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::histogram::Histogram;
use super::{Bench, BenchEnd};
use crate::command::call;
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::live::{Live, bar};

/// Interval between two drawings of the bar.
const TICK: Duration = Duration::from_millis(100);

/// Columns of the bar of progress.
const BAR: usize = 24;

/// A call that is ready to be repeated.
pub(super) struct Load {
    client: Client,
    tool: String,
    arguments: Arc<RawValue>,
    concurrency: usize,
}

/// Result of a measurement.
#[derive(Debug, Clone, Default)]
pub(super) struct BenchResult {
    pub(super) latencies: Histogram,
    pub(super) failed: u64,
    pub(super) took: Duration,
}

impl Load {
    /// Finds the tool, reads its arguments, and makes the calls before the measurement.
    ///
    /// # Errors
    ///
    /// The server does not have the tool, the arguments do not match its schema, or a call fails.
    pub(super) async fn prepare(
        conversation: &Conversation,
        bench: &Bench,
    ) -> Result<Self, CliError> {
        let tool = call::find(conversation, &bench.call.tool).await?;
        let arguments = call::built(conversation, &bench.call, &tool)?;
        let arguments =
            serde_json::value::to_raw_value(&arguments).map_err(std::io::Error::from)?;
        let load = Self {
            client: conversation.client.clone(),
            tool: bench.call.tool.clone(),
            arguments: arguments.into(),
            concurrency: bench.concurrency,
        };
        for _ in 0..bench.warm_up {
            load.client.call_tool(&load.tool, &*load.arguments).await?;
        }
        Ok(load)
    }

    /// Makes calls until the end. `label` stands before the bar.
    ///
    /// # Errors
    ///
    /// The error of the first call that has no result.
    pub(super) async fn measure(
        &self,
        end: BenchEnd,
        label: &str,
        live: &Live,
    ) -> Result<BenchResult, CliError> {
        let race = Arc::new(Race::new(end));
        let mut callers = JoinSet::new();
        for _ in 0..self.concurrency {
            let (client, tool) = (self.client.clone(), self.tool.clone());
            let (arguments, race) = (Arc::clone(&self.arguments), Arc::clone(&race));
            callers.spawn(make_calls(client, tool, arguments, race));
        }
        let mut found = BenchResult::default();
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                ended = callers.join_next() => match ended {
                    None => break,
                    Some(Ok(caller)) => found.add(&caller?),
                    Some(Err(panicked)) => return Err(std::io::Error::other(panicked).into()),
                },
                _ = ticks.tick() => live.draw(&race.line(label)),
            }
        }
        found.took = race.began.elapsed();
        live.clear();
        Ok(found)
    }
}

impl BenchResult {
    /// Adds the calls and the time of another measurement.
    pub(super) fn add(&mut self, other: &Self) {
        self.latencies.merge(&other.latencies);
        self.failed += other.failed;
        self.took += other.took;
    }

    pub(super) fn each_second(&self) -> f64 {
        self.latencies.count() as f64 / self.took.as_secs_f64().max(f64::EPSILON)
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
    fn new(end: BenchEnd) -> Self {
        Self {
            began: Instant::now(),
            end,
            started: AtomicU32::new(0),
            ended: AtomicU64::new(0),
        }
    }

    /// Whether to make another call.
    fn goes_on(&self) -> bool {
        match self.end {
            BenchEnd::Calls(calls) => self.started.fetch_add(1, Ordering::Relaxed) < calls,
            BenchEnd::Time(time) => self.began.elapsed() < time,
        }
    }

    /// Returns the completed part, from 0 to 1.
    fn part(&self, ended: u64) -> f64 {
        let part = match self.end {
            BenchEnd::Calls(calls) => ended as f64 / f64::from(calls),
            BenchEnd::Time(time) => self.began.elapsed().as_secs_f64() / time.as_secs_f64(),
        };
        part.clamp(0.0, 1.0)
    }

    fn line(&self, label: &str) -> String {
        let ended = self.ended.load(Ordering::Relaxed);
        line(label, self.part(ended), ended, self.began.elapsed())
    }
}

/// The line of progress: the bar, the calls, their rate, and the remaining time.
fn line(label: &str, part: f64, ended: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let each = ended as f64 / seconds.max(f64::EPSILON);
    let left = match part > 0.0 {
        true => format!("  {:.0} s left", (seconds / part - seconds).max(0.0)),
        false => String::new(),
    };
    let (bar, percent) = (bar(part, BAR), part * 100.0);
    format!("{label}{bar} {percent:3.0}%  {ended} calls  {each:.0}/s{left}")
}

/// One caller: makes a call after the other. An error ends the measurement.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_progress_has_the_remaining_time() {
        let half = line("1/4 ", 0.5, 40, Duration::from_secs(2));
        assert_eq!(
            half,
            "1/4 [============>           ]  50%  40 calls  20/s  2 s left"
        );
        let begin = line("", 0.0, 0, Duration::ZERO);
        assert_eq!(begin, "[>                       ]   0%  0 calls  0/s");
    }
}
