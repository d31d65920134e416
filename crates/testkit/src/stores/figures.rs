//! Latencies and rates of any store.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pintle_store::{
    ExpectedTail, Expiry, Key, Namespace, Position, Precondition, Prefix, Retention, Store,
    StoreError, StoreTime,
};
use tokio::task::JoinSet;

const SPACE: Namespace = Namespace::fixed("figures");
const NOW: StoreTime = StoreTime::from_millis(0);
/// Bytes of each value: about one record of a session.
const VALUE_BYTES: usize = 600;
/// Writers at the same time, for the rates.
const WRITERS: usize = 64;

/// The figures of a store with several openings.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Figures {
    /// Number of openings.
    pub openings: usize,
    /// Latency of a put.
    pub put: Latency,
    /// Latency of a get.
    pub get: Latency,
    /// Latency of an append at a known tail.
    pub append: Latency,
    /// Latency of an addition.
    pub add: Latency,
    /// Time from the start of a put to the wake-up of a watcher at the last opening.
    pub wake_up: Latency,
    /// Puts a second of 64 writers.
    pub puts_a_second: u64,
    /// Appends a second of 64 writers, each to a log of its own.
    pub appends_a_second: u64,
}

/// Times of one operation.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Latency {
    /// Half of the operations take no longer.
    pub p50: Duration,
    /// All but one of a hundred operations take no longer.
    pub p99: Duration,
}

/// Measures a store, with `count` operations of each kind. `openings` are openings of the same store;
/// writers spread over them.
///
/// # Errors
///
/// The first error of the store.
///
/// # Panics
///
/// If `openings` is empty.
pub async fn measure(openings: &[Arc<dyn Store>], count: usize) -> Result<Figures, StoreError> {
    let (first, last) = (&openings[0], &openings[openings.len() - 1]);
    let mut times = Operations::default();
    times.measure(&**first, count).await?;
    let wake_up = wake_ups(&**first, &**last, count).await?;
    Ok(Figures {
        openings: openings.len(),
        put: Latency::of(times.put),
        get: Latency::of(times.get),
        append: Latency::of(times.append),
        add: Latency::of(times.add),
        wake_up: Latency::of(wake_up),
        puts_a_second: rate(openings, count, Work::Puts).await?,
        appends_a_second: rate(openings, count, Work::Appends).await?,
    })
}

#[derive(Default)]
struct Operations {
    put: Vec<Duration>,
    get: Vec<Duration>,
    append: Vec<Duration>,
    add: Vec<Duration>,
}

impl Operations {
    async fn measure(&mut self, store: &dyn Store, count: usize) -> Result<(), StoreError> {
        let (name, mut tail) = (key("one"), Position::START);
        for _ in 0..count {
            self.put.push(timed(put(store, &name)).await?.0);
            self.get.push(timed(store.get(NOW, &name)).await?.0);
            let (time, position) = timed(append(store, &name, tail)).await?;
            tail = position;
            self.append.push(time);
            let add = store.add(NOW, &name, 1, Expiry::Never);
            self.add.push(timed(add).await?.0);
        }
        Ok(())
    }
}

async fn timed<T>(
    operation: impl Future<Output = Result<T, StoreError>>,
) -> Result<(Duration, T), StoreError> {
    let start = Instant::now();
    let value = operation.await?;
    Ok((start.elapsed(), value))
}

/// Waits for one wake-up after each put. A wake-up without a change does not count.
async fn wake_ups(
    writer: &dyn Store,
    reader: &dyn Store,
    count: usize,
) -> Result<Vec<Duration>, StoreError> {
    let name = key("watched");
    let mut changes = reader.changed(&Prefix::from(name.clone())).await?;
    let mut times = Vec::new();
    for _ in 0..(count / 10).max(1) {
        let start = Instant::now();
        let version = put(writer, &name).await?;
        loop {
            if changes.next().await.is_none() {
                return Ok(times);
            }
            let woken = start.elapsed();
            let record = reader.get(NOW, &name).await?;
            if record.is_some_and(|record| record.version == version) {
                times.push(woken);
                break;
            }
        }
    }
    Ok(times)
}

#[derive(Debug, Clone, Copy)]
enum Work {
    Puts,
    Appends,
}

/// Returns the operations a second of all writers together.
async fn rate(openings: &[Arc<dyn Store>], count: usize, work: Work) -> Result<u64, StoreError> {
    let each = count.div_ceil(WRITERS);
    let mut writers = JoinSet::new();
    let start = Instant::now();
    for number in 0..WRITERS {
        let store = Arc::clone(&openings[number % openings.len()]);
        writers.spawn(write(store, number, each, work));
    }
    for written in writers.join_all().await {
        written?;
    }
    let operations = (each * WRITERS) as f64;
    Ok((operations / start.elapsed().as_secs_f64()) as u64)
}

async fn write(
    store: Arc<dyn Store>,
    number: usize,
    count: usize,
    work: Work,
) -> Result<(), StoreError> {
    let (name, mut tail) = (key(&format!("writer.{number}")), Position::START);
    for _ in 0..count {
        match work {
            Work::Puts => drop(put(&*store, &name).await?),
            Work::Appends => tail = append(&*store, &name, tail).await?,
        }
    }
    Ok(())
}

fn key(name: &str) -> Key {
    Key::new(&SPACE, name).expect("the names are valid")
}

fn value() -> Bytes {
    Bytes::from_static(&[b'x'; VALUE_BYTES])
}

async fn put(store: &dyn Store, key: &Key) -> Result<pintle_store::Version, StoreError> {
    let put = store.put(NOW, key, value(), Precondition::Any, Expiry::Never);
    put.await
}

async fn append(store: &dyn Store, log: &Key, tail: Position) -> Result<Position, StoreError> {
    let (events, tail, all) = ([value()], ExpectedTail::At(tail), Retention::default());
    let append = store.append(NOW, log, &events, tail, all, Expiry::Never);
    append.await
}

impl Latency {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |part: usize| {
            let place = (times.len().saturating_sub(1)) * part / 100;
            times.get(place).copied().unwrap_or_default()
        };
        let (p50, p99) = (at(50), at(99));
        Self { p50, p99 }
    }
}

impl fmt::Display for Latency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |time: Duration| time.as_nanos() as f64 / 1_000.0;
        let (p50, p99) = (micros(self.p50), micros(self.p99));
        write!(f, "p50 {p50:.1} us, p99 {p99:.1} us")
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        writeln!(f, "load             {}", load.trim())?;
        writeln!(f, "openings         {}", self.openings)?;
        writeln!(f, "put              {}", self.put)?;
        writeln!(f, "get              {}", self.get)?;
        writeln!(f, "append           {}", self.append)?;
        writeln!(f, "add              {}", self.add)?;
        writeln!(f, "put to wake-up   {}", self.wake_up)?;
        writeln!(f, "puts a second    {}", self.puts_a_second)?;
        writeln!(f, "appends a second {}", self.appends_a_second)
    }
}
