//! CPU of a store for its operations, and the bytes of its content.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle::store::{
    ExpectedTail, Expiry, Key, Namespace, Page, Position, Precondition, Prefix, Retention, Store,
    StoreError, StoreTime,
};
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::Result;
use super::usage::Usage;
use crate::plan::Engine;
use crate::replicas::Replicas;

/// Operations in progress at a time.
const WRITERS: u64 = 16;
/// Operations of a row, and lists of 1,000 records.
const COUNT: u64 = 32_000;
const LISTS: u64 = 320;
const SPACE: Namespace = Namespace::fixed("costs");
const TTL: Duration = Duration::from_secs(600);
/// Bytes of a record, and of an event.
const RECORD: usize = 100;
const EVENT: usize = 300;

/// The end of an operation.
type Outcome = std::result::Result<(), StoreError>;

/// A store of its own, and its processes.
struct Costs {
    store: Arc<dyn Store>,
    replicas: Replicas,
    now: StoreTime,
}

/// Prints the CPU of an operation.
pub(super) fn print() -> Result<()> {
    println!("\n| CPU of the store for an operation | Redis | PostgreSQL |\n|---|--:|--:|");
    let handle = Handle::current();
    let redis = handle.block_on(measure(Engine::Redis))?;
    let postgres = handle.block_on(measure(Engine::Postgres))?;
    for ((name, redis), (_, postgres)) in redis.iter().zip(&postgres) {
        println!("| {name} | {redis:.1} µs | {postgres:.1} µs |");
    }
    Ok(())
}

async fn measure(engine: Engine) -> Result<Vec<(&'static str, f64)>> {
    let replicas = Replicas::start(engine, 0)?;
    let state = pintle::state(&replicas.store_url()).await?;
    let store = Arc::clone(state.store());
    let now = store.time().await?.ok_or("the store has no clock")?;
    let costs = Costs {
        store,
        replicas,
        now,
    };
    costs.rows().await
}

impl Costs {
    async fn rows(&self) -> Result<Vec<(&'static str, f64)>> {
        let now = self.now;
        let get = self.cost(COUNT, move |store, number| async move {
            store.get(now, &key("absent", number)).await.map(drop)
        });
        let get = get.await?;
        let put = self.cost(COUNT, move |store, number| put(store, now, "put", number));
        let put = put.await?;
        let remove = self.cost(COUNT, move |store, number| async move {
            let key = key("put", number);
            store.remove(now, &key, Precondition::Any).await.map(drop)
        });
        let remove = remove.await?;
        let time = self.cost(
            COUNT,
            |store, _| async move { store.time().await.map(drop) },
        );
        Ok(vec![
            ("get", get),
            ("put", put),
            ("remove", remove),
            ("list of 3 records", self.list("few", 3, COUNT / 4).await?),
            (
                "list of 1,000 records",
                self.list("many", 1_000, LISTS).await?,
            ),
            ("append", self.append(COUNT).await?),
            ("read of an event", self.read(COUNT).await?),
            ("time", time.await?),
        ])
    }

    async fn list(&self, group: &'static str, records: u64, count: u64) -> Result<f64> {
        let now = self.now;
        for number in 0..records {
            put(Arc::clone(&self.store), now, group, number).await?;
        }
        let listed = self.cost(count, move |store, _| async move {
            let prefix = Prefix::new(&SPACE, &format!("{group}.")).expect("a valid prefix");
            store.list(now, &prefix, Page::first(2_000)).await.map(drop)
        });
        listed.await
    }

    async fn append(&self, count: u64) -> Result<f64> {
        let now = self.now;
        self.cost(count, move |store, _| append(store, now)).await
    }

    /// Reads the last event of a log.
    async fn read(&self, count: u64) -> Result<f64> {
        let now = self.now;
        let last = append(Arc::clone(&self.store), now);
        last.await?;
        let log = key("log", 0);
        let empty = self.store.append(
            now,
            &log,
            &[],
            ExpectedTail::Any,
            Retention::default(),
            Expiry::At(now + TTL),
        );
        let before = empty.await?;
        append(Arc::clone(&self.store), now).await?;
        self.cost(count, move |store, _| read(store, now, before))
            .await
    }

    /// Returns the CPU of the store so far. PostgreSQL may end a process meanwhile.
    fn cpu(&self) -> Result<Duration> {
        let usage = || Usage::of(&self.replicas.store_ids()?);
        let usage = usage().or_else(|_| usage())?;
        Ok(usage.cpu)
    }

    /// Returns the microseconds of CPU of one operation.
    async fn cost<F, T>(&self, count: u64, act: F) -> Result<f64>
    where
        F: Fn(Arc<dyn Store>, u64) -> T + Clone + Send + 'static,
        T: Future<Output = Outcome> + Send + 'static,
    {
        let before = self.cpu()?;
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (store, act) = (Arc::clone(&self.store), act.clone());
            writers.spawn(async move {
                for number in (writer..count).step_by(WRITERS as usize) {
                    act(Arc::clone(&store), number).await?;
                }
                Outcome::Ok(())
            });
        }
        while let Some(ended) = writers.join_next().await {
            ended??;
        }
        Ok(self.cpu()?.saturating_sub(before).as_secs_f64() * 1e6 / count as f64)
    }
}

fn key(group: &str, number: u64) -> Key {
    Key::new(&SPACE, &format!("{group}.{number}")).expect("a valid key")
}

async fn put(store: Arc<dyn Store>, now: StoreTime, group: &str, number: u64) -> Outcome {
    let (key, value) = (key(group, number), Bytes::from_static(&[b'x'; RECORD]));
    let (condition, expiry) = (Precondition::Absent, Expiry::At(now + TTL));
    store
        .put(now, &key, value, condition, expiry)
        .await
        .map(drop)
}

async fn append(store: Arc<dyn Store>, now: StoreTime) -> Outcome {
    let (log, events) = (key("log", 0), [Bytes::from_static(&[b'x'; EVENT])]);
    let retention = Retention {
        max_events: 10_000,
        max_bytes: 8 << 20,
    };
    let (tail, expiry) = (ExpectedTail::Any, Expiry::At(now + TTL));
    let append = store.append(now, &log, &events, tail, retention, expiry);
    append.await.map(drop)
}

async fn read(store: Arc<dyn Store>, now: StoreTime, after: Position) -> Outcome {
    store.read(now, &key("log", 0), after, 256).await.map(drop)
}
