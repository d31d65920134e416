//! A short measurement of a tool, on a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use pintle_client::Client;
use pintle_model::RawMembers;
use pintle_model::method::{CallTool, Method};
use pintle_runtime::BoxFuture;
use pintle_runtime::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

use super::calls::{named, report as report_progress};
use super::{Answered, result};
use crate::asked::Asked;
use crate::backend::Backend;
use crate::failure::Failure;
use crate::object::Object;

/// Interval between two events of progress.
const TICK: Duration = Duration::from_millis(200);
/// Relative width of a bucket of the histogram.
const BUCKET: f64 = 1.03;

/// A measurement that the page asks for.
struct Measured {
    /// The number of the measurement, which its progress events repeat.
    op: u64,
    name: String,
    calls: u64,
    callers: u64,
}

/// Calls a tool many times. Its messages are not in the timeline, because the connection is another one.
pub(super) async fn bench(backend: &Backend, asked: &Asked<'_>) -> Answered {
    let measured = Measured {
        op: asked.whole("op")?,
        name: asked.text("name")?,
        calls: asked.whole("calls")?,
        callers: asked.whole("callers")?,
    };
    within("calls", measured.calls, backend.options.max_bench_calls)?;
    within(
        "callers",
        measured.callers,
        backend.options.max_bench_callers,
    )?;
    let params = String::from_utf8_lossy(&named(asked)?).into_owned();
    let _permit = backend.admit()?;
    let client = backend.session()?.beside().await?;
    let measured = measure(backend, &client, measured, params).await;
    client.close().await;
    Ok(result(measured?))
}

fn within(what: &str, number: u64, max: u32) -> Result<(), Failure> {
    match (1..=u64::from(max)).contains(&number) {
        true => Ok(()),
        false => {
            let message = format!("a measurement has 1 to {max} {what}");
            Err(Failure::new(StatusCode::BAD_REQUEST, message))
        }
    }
}

/// State that concurrent callers share.
struct Race {
    params: String,
    calls: u64,
    until: Instant,
    started: AtomicU64,
    ended: AtomicU64,
    times: Mutex<Times>,
}

/// Nanoseconds of each call, and the calls that failed.
#[derive(Default)]
struct Times {
    nanos: Vec<u64>,
    /// Calls of a tool that reported a failure.
    failed: u64,
    /// The error that ended the measurement.
    error: Option<Failure>,
}

async fn measure(backend: &Backend, client: &Client, asked: Measured, params: String) -> Answered {
    let began = Instant::now();
    let race = Arc::new(Race {
        params,
        calls: asked.calls,
        until: began + backend.options.max_bench_time,
        started: AtomicU64::new(0),
        ended: AtomicU64::new(0),
        times: Mutex::default(),
    });
    let mut callers = JoinSet::new();
    for _ in 0..asked.callers {
        callers.spawn(make_calls(client.clone(), Arc::clone(&race)));
    }
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            ended = callers.join_next() => match ended {
                None => break,
                Some(Ok(())) => {}
                Some(Err(error)) => return Err(Failure::of(&error)),
            },
            _ = ticks.tick() => {
                let (ended, total) = (race.ended.load(Ordering::Relaxed), asked.calls);
                report_progress(&backend.feed, asked.op, ended as f64, Some(total as f64), None);
            }
        }
    }
    let times = std::mem::take(&mut *race.times.lock());
    report(&asked, times, began.elapsed())
}

/// Makes one call after the other. An error ends the measurement; a tool that fails is counted.
fn make_calls(client: Client, race: Arc<Race>) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let mut times = Times::default();
        while race.started.fetch_add(1, Ordering::Relaxed) < race.calls
            && Instant::now() < race.until
        {
            let began = Instant::now();
            match client.request_checked(CallTool::NAME, &race.params).await {
                Ok(result) => {
                    let took = began.elapsed().as_nanos();
                    times.nanos.push(u64::try_from(took).unwrap_or(u64::MAX));
                    times.failed += u64::from(has_failed(result.get()));
                    race.ended.fetch_add(1, Ordering::Relaxed);
                }
                Err(error) => {
                    race.started.store(race.calls, Ordering::Relaxed);
                    times.error = Some(error.into());
                }
            }
        }
        let mut all = race.times.lock();
        all.nanos.append(&mut times.nanos);
        all.failed += times.failed;
        all.error = all.error.take().or(times.error);
    })
}

fn has_failed(result: &str) -> bool {
    let members = RawMembers::read(result).ok();
    let flag = members.and_then(|members| members.get("isError").map(|flag| flag.get() == "true"));
    flag == Some(true)
}

/// The members of `pintle bench --json`.
fn report(asked: &Measured, times: Times, took: Duration) -> Answered {
    let Times {
        mut nanos,
        failed,
        error,
    } = times;
    if let Some(error) = error {
        return Err(error);
    }
    nanos.sort_unstable();
    let micros = |nanos: u64| nanos as f64 / 1e3;
    let count = nanos.len() as f64;
    let at = |part: f64| {
        let rank = (part * count).ceil() as usize;
        micros(
            nanos
                .get(rank.saturating_sub(1))
                .copied()
                .unwrap_or_default(),
        )
    };
    let mut shares = Object::new();
    shares.double("min", at(0.0));
    shares.double("mean", micros(nanos.iter().sum()) / count.max(1.0));
    for (name, part) in [
        ("p50", 0.5),
        ("p90", 0.9),
        ("p99", 0.99),
        ("p999", 0.999),
        ("max", 1.0),
    ] {
        shares.double(name, at(part));
    }
    let mut buckets = histogram(&nanos).into_iter().map(|(end, calls)| {
        let mut bucket = Object::new();
        bucket.double("upToMicroseconds", end / 1e3);
        bucket.whole("calls", calls as u64).end()
    });
    let seconds = took.as_secs_f64();
    let mut report = Object::new();
    report.text("tool", &asked.name);
    report.whole("concurrency", asked.callers);
    report.whole("calls", nanos.len() as u64);
    report.whole("toolErrors", failed);
    report.double("seconds", seconds);
    report.double("callsPerSecond", count / seconds.max(f64::EPSILON));
    report.raw("microseconds", shares.end());
    Ok(report.objects("histogram", &mut buckets).end())
}

/// Counts sorted times in buckets whose widths grow with them. Returns the end of each, and its number.
fn histogram(nanos: &[u64]) -> Vec<(f64, usize)> {
    let (mut buckets, mut rest) = (Vec::new(), nanos);
    while let Some(first) = rest.first() {
        let end = *first as f64 * BUCKET;
        let count = rest.partition_point(|time| *time as f64 <= end);
        buckets.push((end, count));
        rest = &rest[count..];
    }
    buckets
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn percentiles_are_those_of_the_times() {
        let asked = Measured {
            op: 1,
            name: "add".to_owned(),
            calls: 1000,
            callers: 2,
        };
        let times = Times {
            nanos: (1..=1000).rev().map(|micros| micros * 1000).collect(),
            failed: 3,
            error: None,
        };
        let found = report(&asked, times, Duration::from_secs(2)).expect("a report");
        let found: Value = serde_json::from_slice(&found).expect("JSON");
        let micros = &found["microseconds"];
        for (name, value) in [
            ("min", 1.0),
            ("p50", 500.0),
            ("p99", 990.0),
            ("max", 1000.0),
        ] {
            assert_eq!(micros[name].as_f64(), Some(value), "{name}");
        }
        assert_eq!(
            (&found["callsPerSecond"], &found["toolErrors"]),
            (&json!(500), &json!(3))
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
        assert_eq!(histogram(&[0; 3]).len(), 1);
    }

    #[test]
    fn a_tool_that_reports_a_failure_is_counted() {
        assert!(has_failed("{\"content\":[],\"isError\":true}"));
        assert!(!has_failed("{\"content\":[]}"));
    }
}
