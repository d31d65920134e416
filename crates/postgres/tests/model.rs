//! Random operations have the results that a store in memory has.
//!
//! `PINTLE_SEEDS=100 cargo test -p pintle-postgres --test integration model` runs more seeds.

use std::collections::HashMap;

use bytes::Bytes;
use pintle_postgres::PostgresStore;
use pintle_store::{
    ExpectedTail, Expiry, Key, Listing, MemoryStore, Page, Position, Precondition, Prefix, Record,
    Retention, Store, StoreError, StoreLimits, StoreTime, Tail, Version,
};

use crate::support::{Engine, fresh, key};

const OPERATIONS: usize = 400;

const NAMES: [&str; 4] = ["a", "a.1", "a.2", "b"];

/// A small generator of numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The two stores, and their numbers side by side.
struct Pair {
    random: Random,
    now: StoreTime,
    memory: MemoryStore,
    store: PostgresStore,
    versions: HashMap<Version, Version>,
    /// By key: the positions of all its lives.
    positions: HashMap<(Key, Position), Position>,
}

fn limits() -> StoreLimits {
    let mut limits = StoreLimits::default();
    (limits.max_log_events, limits.max_log_bytes) = (4, 20);
    (limits.max_page_entries, limits.max_page_bytes) = (3, 8);
    limits
}

impl Pair {
    async fn new(engine: &Engine, seed: u64) -> Self {
        let store = PostgresStore::connect(&engine.url(&fresh("model")), limits()).await;
        Self {
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            now: StoreTime::from_millis(1_000),
            memory: MemoryStore::new(limits()),
            store: store.expect("connects"),
            versions: HashMap::new(),
            positions: HashMap::new(),
        }
    }

    async fn step(&mut self) {
        if self.random.below(3) == 0 {
            let later = self.now.as_millis() + self.random.below(8);
            self.now = StoreTime::from_millis(later);
        }
        match self.random.below(10) {
            0 | 1 => self.put().await,
            2 => self.remove().await,
            3 => self.get().await,
            4 => self.list().await,
            5 | 6 => self.append().await,
            7 => self.read().await,
            8 => self.forget().await,
            _ => self.add().await,
        }
    }

    fn key(&mut self) -> Key {
        key(self.random.of(&NAMES))
    }

    fn value(&mut self) -> Bytes {
        let length = self.random.below(9) as usize;
        Bytes::from(vec![b'x'; length])
    }

    fn expiry(&mut self) -> Expiry {
        let at = StoreTime::from_millis(self.now.as_millis() + self.random.below(30));
        self.random
            .of(&[Expiry::Never, Expiry::At(at), Expiry::At(at)])
    }

    /// Returns a condition for each store.
    fn condition(&mut self) -> (Precondition, Precondition) {
        let mut known: Vec<_> = self.versions.iter().map(|(a, b)| (*a, *b)).collect();
        known.sort_by_key(|(memory, _)| memory.get());
        let recent = known.len().saturating_sub(4);
        match self.random.below(4) {
            0 => (Precondition::Any, Precondition::Any),
            1 => (Precondition::Absent, Precondition::Absent),
            _ if known.is_empty() => (Precondition::Any, Precondition::Any),
            _ => {
                let (memory, other) = self.random.of(&known[recent..]);
                (Precondition::Version(memory), Precondition::Version(other))
            }
        }
    }

    /// Returns a position of the log for each store.
    fn position(&mut self, log: &Key) -> (Position, Position) {
        let of_log = self.positions.iter().filter(|((key, _), _)| key == log);
        let mut known: Vec<_> = of_log.map(|((_, a), b)| (*a, *b)).collect();
        known.sort();
        let recent = known.len().saturating_sub(6);
        known.push((Position::START, Position::START));
        self.random.of(&known[recent..])
    }

    /// Asserts that a conflict names the same version.
    fn assert_conflict(&self, memory: &StoreError, other: &StoreError) {
        match (memory, other) {
            (StoreError::Conflict { found: a }, StoreError::Conflict { found: b }) => {
                assert_eq!(a.map(|it| self.versions[&it]), *b);
            }
            _ => panic!("{memory:?} and {other:?}"),
        }
    }

    async fn put(&mut self) {
        let (key, value, expiry) = (self.key(), self.value(), self.expiry());
        let (condition, others) = self.condition();
        let memory = self
            .memory
            .put(self.now, &key, value.clone(), condition, expiry)
            .await;
        let other = self.store.put(self.now, &key, value, others, expiry).await;
        match (memory, other) {
            (Ok(memory), Ok(other)) => drop(self.versions.insert(memory, other)),
            (Err(memory), Err(other)) => self.assert_conflict(&memory, &other),
            (memory, other) => panic!("{memory:?} and {other:?}"),
        }
    }

    async fn remove(&mut self) {
        let (key, (condition, others)) = (self.key(), self.condition());
        let memory = self.memory.remove(self.now, &key, condition).await;
        let other = self.store.remove(self.now, &key, others).await;
        match (memory, other) {
            (Ok(memory), Ok(other)) => assert_eq!(memory, other),
            (Err(memory), Err(other)) => self.assert_conflict(&memory, &other),
            (memory, other) => panic!("{memory:?} and {other:?}"),
        }
    }

    fn translated(&self, record: Record) -> Record {
        Record::new(record.value, self.versions[&record.version], record.expiry)
    }

    async fn get(&mut self) {
        let key = self.key();
        let memory = self.memory.get(self.now, &key).await.expect("gets");
        let other = self.store.get(self.now, &key).await.expect("gets");
        assert_eq!(memory.map(|it| self.translated(it)), other);
    }

    async fn list(&mut self) {
        let prefix = Prefix::from(key(self.random.of(&["a", "a.", "b"])));
        let limit = self.random.below(5) as usize;
        let after = self.key();
        let page = match self.random.below(2) {
            0 => Page::first(limit),
            _ => Page::after(after, limit),
        };
        let memory = self
            .memory
            .list(self.now, &prefix, page.clone())
            .await
            .expect("lists");
        let other = self
            .store
            .list(self.now, &prefix, page)
            .await
            .expect("lists");
        let records = memory
            .records
            .into_iter()
            .map(|(key, it)| (key, self.translated(it)));
        assert_eq!(Listing::new(records.collect(), memory.next), other);
    }

    async fn append(&mut self) {
        let (log, expiry) = (self.key(), self.expiry());
        let events: Vec<_> = (0..self.random.below(4)).map(|_| self.value()).collect();
        let (tail, other_tail) = match (self.random.below(2), self.position(&log)) {
            (0, _) => (ExpectedTail::Any, ExpectedTail::Any),
            (_, (memory, other)) => (ExpectedTail::At(memory), ExpectedTail::At(other)),
        };
        let keep = Retention {
            max_events: self.random.of(&[0, 2, 9]),
            max_bytes: self.random.of(&[0, 10, usize::MAX]),
        };
        let memory = self
            .memory
            .append(self.now, &log, &events, tail, keep, expiry)
            .await;
        let other = self
            .store
            .append(self.now, &log, &events, other_tail, keep, expiry)
            .await;
        match (memory, other) {
            (Ok(memory), Ok(other)) => self.same_position(&log, memory, other),
            (Err(StoreError::Moved { tail: a }), Err(StoreError::Moved { tail: b })) => {
                self.same_position(&log, a, b);
            }
            (memory, other) => panic!("{memory:?} and {other:?}"),
        }
    }

    /// Notes that two positions are one.
    fn same_position(&mut self, log: &Key, memory: Position, other: Position) {
        if memory == Position::START {
            assert_eq!(other, Position::START);
            return;
        }
        let known = self.positions.insert((log.clone(), memory), other);
        assert!(known.is_none_or(|it| it == other));
    }

    async fn read(&mut self) {
        let log = self.key();
        let (after, other_after) = self.position(&log);
        let most = self.random.below(5) as usize;
        let memory = self
            .memory
            .read(self.now, &log, after, most)
            .await
            .expect("reads");
        let other = self
            .store
            .read(self.now, &log, other_after, most)
            .await
            .expect("reads");
        match (memory, other) {
            (
                Tail::Events { events, more },
                Tail::Events {
                    events: others,
                    more: other_more,
                },
            ) => {
                assert_eq!((events.len(), more), (others.len(), other_more));
                for (memory, other) in events.iter().zip(&others) {
                    assert_eq!(memory.value, other.value);
                    self.same_position(&log, memory.position, other.position);
                }
            }
            (memory, other) => assert_eq!(memory, other),
        }
    }

    async fn forget(&mut self) {
        let log = self.key();
        let memory = self.memory.forget(self.now, &log).await.expect("forgets");
        let other = self.store.forget(self.now, &log).await.expect("forgets");
        assert_eq!(memory, other);
    }

    async fn add(&mut self) {
        let (key, expiry) = (self.key(), self.expiry());
        let amount = self.random.of(&[0, 1, -7, i64::MAX, i64::MIN]);
        let memory = self.memory.add(self.now, &key, amount, expiry).await;
        let other = self.store.add(self.now, &key, amount, expiry).await;
        match (memory, other) {
            (Ok(memory), Ok(other)) => assert_eq!(memory, other),
            (Err(memory), Err(other)) => assert_eq!(memory.limit(), other.limit()),
            (memory, other) => panic!("{memory:?} and {other:?}"),
        }
    }
}

#[tokio::test]
async fn random_operations_have_the_results_of_a_store_in_memory() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let seeds = std::env::var("PINTLE_SEEDS")
        .ok()
        .and_then(|it| it.parse().ok());
    for seed in 0..seeds.unwrap_or(5) {
        let mut pair = Pair::new(engine, seed).await;
        for number in 0..OPERATIONS {
            let step = std::panic::AssertUnwindSafe(pair.step());
            let ended = futures_util::FutureExt::catch_unwind(step).await;
            assert!(ended.is_ok(), "seed {seed}, operation {number}");
        }
    }
}
