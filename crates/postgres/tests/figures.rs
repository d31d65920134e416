//! Measures latencies and operations per second:
//! `cargo test --release -p pintle-postgres --test integration figures -- --ignored --nocapture`.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pintle_postgres::PostgresStore;
use pintle_store::{ExpectedTail, Expiry, Key, Position, Precondition, Prefix, Retention, Store};
use tokio::task::JoinSet;

use crate::support::{Engine, NOW, fresh, key, open};

/// Operations of each measurement.
const COUNT: usize = 2_000;

/// Writers at the same time, for the operations per second.
const WRITERS: usize = 64;

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 100].as_micros();
    let text = format!("{name:<34} p50 {:>6} us  p99 {:>6} us\n", at(50), at(99));
    write(&text);
}

fn write(text: &str) {
    std::io::stderr()
        .write_all(text.as_bytes())
        .expect("writes");
}

async fn put(store: &PostgresStore, key: &Key, value: &Bytes) {
    let put = store.put(NOW, key, value.clone(), Precondition::Any, Expiry::Never);
    put.await.expect("puts");
}

async fn append(store: &PostgresStore, log: &Key, tail: Position, value: &Bytes) -> Position {
    let (tail, all) = (ExpectedTail::At(tail), Retention::default());
    let append = store.append(
        NOW,
        log,
        std::slice::from_ref(value),
        tail,
        all,
        Expiry::Never,
    );
    append.await.expect("appends")
}

async fn latencies(store: &PostgresStore, value: &Bytes) {
    let (record, log) = (key("record"), key("log"));
    let (mut puts, mut gets, mut appends, mut adds) = (vec![], vec![], vec![], vec![]);
    let mut tail = Position::START;
    for _ in 0..COUNT {
        let start = Instant::now();
        put(store, &record, value).await;
        puts.push(start.elapsed());
        let start = Instant::now();
        store.get(NOW, &record).await.expect("gets");
        gets.push(start.elapsed());
        let start = Instant::now();
        tail = append(store, &log, tail, value).await;
        appends.push(start.elapsed());
        let start = Instant::now();
        store
            .add(NOW, &record, 1, Expiry::Never)
            .await
            .expect("adds");
        adds.push(start.elapsed());
    }
    print("put", puts);
    print("get", gets);
    print("append", appends);
    print("add", adds);
}

/// From the start of a put to the wake-up at another opening.
async fn wake_ups(store: &PostgresStore, other: &PostgresStore, value: &Bytes) {
    let record = key("wake");
    let mut changes = other
        .changed(&Prefix::from(record.clone()))
        .await
        .expect("watches");
    let mut times = Vec::new();
    for _ in 0..COUNT / 4 {
        let start = Instant::now();
        put(store, &record, value).await;
        changes.next().await.expect("a change");
        times.push(start.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    print("put to wake-up elsewhere", times);
}

async fn per_second(name: &str, stores: &[Arc<PostgresStore>], value: &Bytes, is_append: bool) {
    let start = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (store, value) = (Arc::clone(&stores[writer % stores.len()]), value.clone());
        writers.spawn(async move {
            let name = key(&format!("many.{writer}"));
            let mut tail = Position::START;
            for _ in 0..COUNT / 8 {
                match is_append {
                    true => tail = append(&store, &name, tail, &value).await,
                    false => put(&store, &name, &value).await,
                }
            }
        });
    }
    writers.join_all().await;
    let rate = (WRITERS * (COUNT / 8)) as f64 / start.elapsed().as_secs_f64();
    write(&format!("{name:<34} {rate:>7.0} a second\n"));
    for writer in 0..WRITERS {
        let name = key(&format!("many.{writer}"));
        stores[0].forget(NOW, &name).await.expect("forgets");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures, and asserts nothing about the time"]
async fn latencies_and_rates() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    engine.run("ALTER SYSTEM SET fsync = on").await;
    engine.run("SELECT pg_reload_conf()").await;
    let schema = fresh("figures");
    let url = engine
        .url(&schema)
        .replace("connections=2", "connections=8");
    let mut stores = Vec::new();
    for _ in 0..3 {
        stores.push(Arc::new(open(&url).await));
    }
    let value = Bytes::from(vec![b'x'; 600]);
    latencies(&stores[0], &value).await;
    wake_ups(&stores[0], &stores[1], &value).await;
    for count in [1, 3] {
        let stores = &stores[..count];
        per_second(&format!("put, {count} openings"), stores, &value, false).await;
        per_second(&format!("append, {count} openings"), stores, &value, true).await;
    }
    engine.run("ALTER SYSTEM RESET fsync").await;
    engine.run("SELECT pg_reload_conf()").await;
}
