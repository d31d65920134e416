//! Figures: latencies and operations per second. `cargo test --release -p pintle-redis -- --ignored figures --nocapture`

use std::sync::Arc;
use std::time::{Duration, Instant};

use pintle_redis::RedisStore;
use pintle_store::{
    ExpectedTail, Expiry, Precondition, Prefix, Retention, Store, StoreLimits, StoreTime,
};
use tokio::task::JoinSet;

use crate::support::{Engine, NOW, fresh, key};

const ROUNDS: usize = 5_000;
const WRITERS: usize = 64;

async fn put(store: &RedisStore, name: &str) {
    let (name, expiry) = (key(name), Expiry::At(StoreTime::from_millis(60_000)));
    let put = store.put(
        NOW,
        &name,
        vec![b'x'; 512].into(),
        Precondition::Any,
        expiry,
    );
    put.await.expect("puts");
}

async fn append(store: &RedisStore, name: &str) {
    let (log, events) = (key(name), [vec![b'x'; 300].into()]);
    let (tail, all) = (ExpectedTail::Any, Retention::default());
    let expiry = Expiry::At(StoreTime::from_millis(60_000));
    let append = store.append(NOW, &log, &events, tail, all, expiry);
    append.await.expect("appends");
}

async fn get(store: &RedisStore, name: &str) {
    store.get(NOW, &key(name)).await.expect("gets");
}

async fn add(store: &RedisStore, name: &str) {
    let sum = store.add(NOW, &key(name), 1, Expiry::Never).await;
    sum.expect("adds");
}

/// Prints one line, past the test harness.
fn report(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn report_latency(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[times.len() * part / 1_000].as_micros();
    report(&format!(
        "{name}: median {} µs, p99 {} µs",
        at(500),
        at(990)
    ));
}

macro_rules! measure {
    ($store:expr, $operation:ident) => {{
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let began = Instant::now();
            $operation(&$store, "one.a").await;
            times.push(began.elapsed());
        }
        report_latency(stringify!($operation), times);
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for writer in 0..WRITERS {
            let store = Arc::clone(&$store);
            tasks.spawn(async move {
                for _ in 0..ROUNDS / 10 {
                    $operation(&store, &format!("{writer}.a")).await;
                }
            });
        }
        tasks.join_all().await;
        let each = (WRITERS * (ROUNDS / 10)) as f64 / began.elapsed().as_secs_f64();
        report(&format!(
            "{} by {WRITERS}: {each:.0} a second",
            stringify!($operation)
        ));
    }};
}

/// Measures the time from the beginning of a put until a watcher of another opening has woken.
async fn wake_ups(writer: &RedisStore, reader: &RedisStore) {
    let prefix = Prefix::from(key("watched"));
    let mut changes = reader.changed(&prefix).await.expect("watches");
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        put(writer, "watched").await;
        changes.next().await.expect("the store is open");
        times.push(began.elapsed());
    }
    report_latency("put and wake-up elsewhere", times);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures, and checks nothing"]
async fn figures() {
    let Some(engine) = Engine::start(&[]) else {
        return;
    };
    let url = engine.url(&fresh("figures")) + "&operation_timeout=60000";
    let open = || RedisStore::connect(&url, StoreLimits::default());
    let store = Arc::new(open().await.expect("connects"));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    report(&format!("load of the machine: {}", load.trim()));
    measure!(store, get);
    measure!(store, put);
    measure!(store, append);
    measure!(store, add);
    let reader = open().await.expect("connects");
    wake_ups(&store, &reader).await;
}
