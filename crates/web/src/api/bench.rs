//! A short measurement of a tool, on a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use pintle_client::Client;
use pintle_model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::Answered;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::options::WebOptions;

/// Interval between two events of progress.
const TICK: Duration = Duration::from_millis(200);
/// Relative width of a bucket of the histogram.
const BUCKET: f64 = 1.03;

#[derive(Deserialize)]
pub(super) struct Measured {
    /// The number of the measurement, which its progress events repeat.
    op: u64,
    name: String,
    #[serde(default)]
    arguments: JsonObject,
    calls: u32,
    callers: u32,
}

/// Calls a tool many times. Its messages are not in the timeline, because the connection is another one.
pub(super) async fn bench(backend: &Backend, asked: Measured) -> Answered {
    asked.check(&backend.options)?;
    let _permit = backend.admit()?;
    let client = backend.session()?.beside().await?;
    let measured = measure(backend, &client, Arc::new(asked)).await;
    client.close().await;
    Ok(json!({ "result": measured? }))
}

impl Measured {
    fn check(&self, options: &WebOptions) -> Result<(), Failure> {
        let too_many = |what: &str, max: u32| {
            let message = format!("a measurement has 1 to {max} {what}");
            Err(Failure::new(StatusCode::BAD_REQUEST, message))
        };
        match (self.calls, self.callers) {
            (calls, _) if !(1..=options.max_bench_calls).contains(&calls) => {
                too_many("calls", options.max_bench_calls)
            }
            (_, callers) if !(1..=options.max_bench_callers).contains(&callers) => {
                too_many("callers", options.max_bench_callers)
            }
            _ => Ok(()),
        }
    }
}

/// State that concurrent callers share.
struct Race {
    asked: Arc<Measured>,
    until: Instant,
    started: AtomicU32,
    ended: AtomicU32,
}

async fn measure(
    backend: &Backend,
    client: &Client,
    asked: Arc<Measured>,
) -> Result<Value, Failure> {
    let began = Instant::now();
    let race = Arc::new(Race {
        until: began + backend.options.max_bench_time,
        started: AtomicU32::new(0),
        ended: AtomicU32::new(0),
        asked: Arc::clone(&asked),
    });
    let mut callers = JoinSet::new();
    for _ in 0..asked.callers {
        callers.spawn(make_calls(client.clone(), Arc::clone(&race)));
    }
    let (mut times, mut failed) = (Vec::new(), 0);
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            ended = callers.join_next() => match ended {
                None => break,
                Some(Ok(caller)) => {
                    let (own, own_failed) = caller?;
                    times.extend(own);
                    failed += own_failed;
                }
                Some(Err(error)) => return Err(Failure::of(&error)),
            },
            _ = ticks.tick() => backend.feed.add(&json!({
                "type": "progress", "op": asked.op,
                "progress": { "progress": race.ended.load(Ordering::Relaxed), "total": asked.calls },
            })),
        }
    }
    Ok(report(&asked, times, failed, began.elapsed()))
}

/// Makes one call after the other. An error ends the measurement; a tool that fails is counted.
async fn make_calls(client: Client, race: Arc<Race>) -> Result<(Vec<Duration>, u32), Failure> {
    let (mut times, mut failed) = (Vec::new(), 0);
    let asked = &race.asked;
    while race.started.fetch_add(1, Ordering::Relaxed) < asked.calls && Instant::now() < race.until
    {
        let began = Instant::now();
        let result = client.call_tool(&asked.name, &asked.arguments).await?;
        times.push(began.elapsed());
        failed += u32::from(result.has_failed());
        race.ended.fetch_add(1, Ordering::Relaxed);
    }
    Ok((times, failed))
}

/// The members of `pintle bench --json`.
fn report(asked: &Measured, mut times: Vec<Duration>, failed: u32, took: Duration) -> Value {
    times.sort_unstable();
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let at = |part: f64| {
        let rank = (part * times.len() as f64).ceil() as usize;
        micros(
            times
                .get(rank.saturating_sub(1))
                .copied()
                .unwrap_or_default(),
        )
    };
    let sum: Duration = times.iter().sum();
    let count = times.len() as f64;
    json!({
        "tool": asked.name,
        "concurrency": asked.callers,
        "calls": times.len(),
        "toolErrors": failed,
        "seconds": took.as_secs_f64(),
        "callsPerSecond": count / took.as_secs_f64().max(f64::EPSILON),
        "microseconds": {
            "min": at(0.0), "mean": micros(sum) / count.max(1.0),
            "p50": at(0.5), "p90": at(0.9), "p99": at(0.99), "p999": at(0.999), "max": at(1.0),
        },
        "histogram": histogram(&times),
    })
}

/// Counts sorted times in buckets whose widths grow with them.
fn histogram(times: &[Duration]) -> Vec<Value> {
    let (mut buckets, mut rest) = (Vec::new(), times);
    while let Some(first) = rest.first() {
        let end = first.mul_f64(BUCKET).max(*first);
        let count = rest.partition_point(|time| *time <= end);
        let up_to = end.as_secs_f64() * 1e6;
        buckets.push(json!({ "upToMicroseconds": up_to, "calls": count }));
        rest = &rest[count..];
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let asked = Measured {
            op: 1,
            name: "add".to_owned(),
            arguments: JsonObject::new(),
            calls: 1000,
            callers: 2,
        };
        let times: Vec<_> = (1..=1000).rev().map(Duration::from_micros).collect();
        let found = report(&asked, times, 3, Duration::from_secs(2));
        let micros = &found["microseconds"];
        for (name, value) in [
            ("min", 1.0),
            ("p50", 500.0),
            ("p99", 990.0),
            ("max", 1000.0),
        ] {
            assert_eq!(micros[name], value, "{name}");
        }
        assert_eq!(
            (&found["callsPerSecond"], &found["toolErrors"]),
            (&json!(500.0), &json!(3))
        );
        let buckets = found["histogram"].as_array().expect("buckets");
        let calls: u64 = buckets
            .iter()
            .filter_map(|bucket| bucket["calls"].as_u64())
            .sum();
        assert_eq!(calls, 1000);
        assert!(buckets.len() < 200, "{}", buckets.len());
    }

    #[test]
    fn no_calls_have_no_buckets() {
        assert!(histogram(&[]).is_empty());
        assert_eq!(histogram(&[Duration::ZERO; 3]).len(), 1);
    }
}
