//! Any sequence of operations has the same results as on an ordinary map. The file store is also
//! closed and opened again at any time.

use std::collections::BTreeMap;

use crate::support::threads::wait;
use crate::support::{Directory, SPACE, at, key};
use bytes::Bytes;
use pintle_store::{
    ExpectedTail, Expiry, FileStore, MemoryStore, Page, Position, Precondition, Prefix, Retention,
    Store, StoreError, StoreLimits, Tail, Version,
};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Put {
        name: u8,
        condition: Condition,
        lives: Option<u64>,
    },
    Remove {
        name: u8,
        condition: Condition,
    },
    Append {
        log: u8,
        sizes: Vec<usize>,
        condition: Condition,
        most: usize,
        lives: Option<u64>,
    },
    Add {
        name: u8,
        amount: i64,
        lives: Option<u64>,
    },
    Forget {
        log: u8,
    },
    Later {
        millis: u64,
    },
    Reopen,
}

#[derive(Debug, Clone, Copy)]
enum Condition {
    Any,
    Absent,
    Latest,
    Outdated,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let condition = || {
        use Condition::{Absent, Any, Latest, Outdated};
        prop::sample::select(vec![Any, Absent, Latest, Outdated])
    };
    let lives = || prop::option::of(0..20_u64);
    let step = prop_oneof![
        4 => (0..4_u8, condition(), lives())
            .prop_map(|(name, condition, lives)| Step::Put { name, condition, lives }),
        2 => (0..4_u8, condition()).prop_map(|(name, condition)| Step::Remove { name, condition }),
        4 => (0..3_u8, vec(0..12_usize, 0..4), condition(), 1..5_usize, lives())
            .prop_map(|(log, sizes, condition, most, lives)| {
                Step::Append { log, sizes, condition, most, lives }
            }),
        2 => (0..2_u8, -9..9_i64, lives())
            .prop_map(|(name, amount, lives)| Step::Add { name, amount, lives }),
        1 => (0..3_u8).prop_map(|log| Step::Forget { log }),
        2 => (1..15_u64).prop_map(|millis| Step::Later { millis }),
        1 => Just(Step::Reopen),
    ];
    vec(step, 1..40)
}

fn limits() -> StoreLimits {
    let mut limits = StoreLimits::default();
    (limits.max_log_events, limits.max_log_bytes) = (3, 20);
    limits
}

/// Expected state of a store.
#[derive(Default)]
struct Model {
    now: u64,
    records: BTreeMap<u8, (Bytes, Version, Option<u64>)>,
    logs: BTreeMap<u8, Log>,
    counters: BTreeMap<u8, (i64, Option<u64>)>,
    /// Versions that are not there any more.
    outdated: Vec<Version>,
    puts: usize,
}

#[derive(Default)]
struct Log {
    /// A position is unknown if its event was dropped with its own append.
    events: Vec<(Option<Position>, Bytes)>,
    dropped: usize,
    over: Option<u64>,
}

impl Log {
    fn drop_oldest(&mut self, max_events: usize, max_bytes: usize) {
        loop {
            let left = &self.events[self.dropped..];
            let bytes: usize = left.iter().map(|(_, value)| value.len()).sum();
            if left.len() <= 1 || (left.len() <= max_events && bytes <= max_bytes) {
                break;
            }
            self.dropped += 1;
        }
    }
}

impl Model {
    fn step(&mut self, store: &dyn Store, step: &Step) {
        match *step {
            Step::Put {
                name,
                condition,
                lives,
            } => self.put(store, name, condition, lives),
            Step::Remove { name, condition } => self.remove(store, name, condition),
            Step::Append {
                log,
                ref sizes,
                condition,
                most,
                lives,
            } => self.append(store, log, sizes, condition, most, lives),
            Step::Add {
                name,
                amount,
                lives,
            } => self.add(store, name, amount, lives),
            Step::Forget { log } => {
                let was_there = self.logs.remove(&log).is_some();
                let forgot = wait(store.forget(at(self.now), &key(&log.to_string())));
                assert_eq!(forgot.expect("forgets"), was_there);
            }
            Step::Later { millis } => self.now += millis,
            Step::Reopen => {}
        }
        let now = self.now;
        self.records
            .retain(|_, (_, _, over)| over.is_none_or(|over| over > now));
        self.logs
            .retain(|_, log| log.over.is_none_or(|over| over > now));
        self.counters
            .retain(|_, (_, over)| over.is_none_or(|over| over > now));
        self.compare(store);
    }

    fn condition(&self, name: u8, condition: Condition) -> Precondition {
        let latest = self.records.get(&name).map(|(_, version, _)| *version);
        match condition {
            Condition::Any => Precondition::Any,
            Condition::Absent => Precondition::Absent,
            Condition::Latest => latest.map_or(Precondition::Absent, Precondition::Version),
            Condition::Outdated => {
                let outdated = self.outdated.last().copied();
                outdated.map_or(Precondition::Any, Precondition::Version)
            }
        }
    }

    /// Returns the version in a conflict, if there is one.
    fn conflict(&self, name: u8, condition: Precondition) -> Option<Option<Version>> {
        let found = self.records.get(&name).map(|(_, version, _)| *version);
        let holds = match condition {
            Precondition::Any => true,
            Precondition::Absent => found.is_none(),
            Precondition::Version(version) => found == Some(version),
        };
        (!holds).then_some(found)
    }

    fn put(&mut self, store: &dyn Store, name: u8, condition: Condition, lives: Option<u64>) {
        let condition = self.condition(name, condition);
        let over = lives.map(|lives| self.now + lives);
        self.puts += 1;
        let value = Bytes::from(self.puts.to_string());
        let name_text = key(&name.to_string());
        let put = store.put(
            at(self.now),
            &name_text,
            value.clone(),
            condition,
            expiry(over),
        );
        match (wait(put), self.conflict(name, condition)) {
            (Ok(version), None) => {
                assert!(!self.outdated.contains(&version));
                let old = self.records.insert(name, (value, version, over));
                self.outdated.extend(old.map(|(_, version, _)| version));
            }
            (Err(StoreError::Conflict { found }), Some(expected)) => assert_eq!(found, expected),
            (result, expected) => panic!("{result:?} where a conflict is {expected:?}"),
        }
    }

    fn remove(&mut self, store: &dyn Store, name: u8, condition: Condition) {
        let condition = self.condition(name, condition);
        let result = wait(store.remove(at(self.now), &key(&name.to_string()), condition));
        match (result, self.conflict(name, condition)) {
            (Ok(removed), None) => {
                let old = self.records.remove(&name);
                assert_eq!(removed, old.is_some());
                self.outdated.extend(old.map(|(_, version, _)| version));
            }
            (Err(StoreError::Conflict { found }), Some(expected)) => assert_eq!(found, expected),
            (result, expected) => panic!("{result:?} where a conflict is {expected:?}"),
        }
    }

    fn append(
        &mut self,
        store: &dyn Store,
        log: u8,
        sizes: &[usize],
        condition: Condition,
        most: usize,
        lives: Option<u64>,
    ) {
        let bytes = |size: &usize| Bytes::from(vec![b'a' + log; *size]);
        let values: Vec<Bytes> = sizes.iter().map(bytes).collect();
        let over = lives.map(|lives| self.now + lives);
        let name = key(&log.to_string());
        let tail = self.tail(log);
        let expected = match condition {
            Condition::Any => ExpectedTail::Any,
            Condition::Absent => ExpectedTail::At(Position::START),
            Condition::Latest => ExpectedTail::At(tail),
            Condition::Outdated => ExpectedTail::At(Position::new(1)),
        };
        let retention = Retention {
            max_events: most,
            max_bytes: usize::MAX,
        };
        let append = store.append(
            at(self.now),
            &name,
            &values,
            expected,
            retention,
            expiry(over),
        );
        match wait(append) {
            Ok(last) => {
                assert!(
                    matches!(expected, ExpectedTail::Any) || expected == ExpectedTail::At(tail)
                );
                self.appended(store, log, values, last, over, most);
            }
            Err(StoreError::Moved { tail: found }) => {
                assert_ne!(expected, ExpectedTail::At(tail));
                assert_eq!(found, tail);
            }
            Err(error) => panic!("append: {error:?}"),
        }
    }

    fn tail(&self, log: u8) -> Position {
        let last = self.logs.get(&log).and_then(|log| log.events.last());
        last.map_or(Position::START, |(position, _)| {
            position.expect("the last one is known")
        })
    }

    /// Adds the events to the expected log. The store gave their positions.
    fn appended(
        &mut self,
        store: &dyn Store,
        log: u8,
        values: Vec<Bytes>,
        last: Position,
        over: Option<u64>,
        most: usize,
    ) {
        let before = self.tail(log);
        if values.is_empty() {
            assert_eq!(last, before);
        }
        if last == Position::START {
            return;
        }
        let row = self.logs.entry(log).or_default();
        row.over = over;
        let first = row.events.len();
        row.events
            .extend(values.into_iter().map(|value| (None, value)));
        row.drop_oldest(most.min(limits().max_log_events), limits().max_log_bytes);
        let tail = wait(store.read(at(self.now), &key(&log.to_string()), before, 100));
        match tail.expect("reads") {
            Tail::Events { events, .. } => {
                for (row, event) in row.events[first..].iter_mut().zip(events) {
                    row.0 = Some(event.position);
                }
            }
            tail => {
                let is_over = over.is_some_and(|over| over <= self.now);
                assert!(tail == Tail::Lost && (is_over || row.dropped > first));
            }
        }
        let end = row.events.last_mut().expect("a log has an event");
        end.0 = Some(last);
    }

    fn add(&mut self, store: &dyn Store, name: u8, amount: i64, lives: Option<u64>) {
        let over = lives.map(|lives| self.now + lives);
        let sum = wait(store.add(at(self.now), &key(&name.to_string()), amount, expiry(over)));
        let (expected, _) = self.counters.entry(name).or_insert((0, over));
        *expected += amount;
        assert_eq!(sum.expect("adds"), *expected);
    }

    fn compare(&self, store: &dyn Store) {
        let now = at(self.now);
        let listing = wait(store.list(now, &Prefix::all(&SPACE), Page::first(100)));
        let listing = listing.expect("lists");
        let found: Vec<_> = listing
            .records
            .iter()
            .map(|(key, it)| {
                (
                    key.name().to_owned(),
                    it.value.clone(),
                    it.version,
                    it.expiry,
                )
            })
            .collect();
        let expected: Vec<_> = self
            .records
            .iter()
            .map(|(name, (value, version, over))| {
                (name.to_string(), value.clone(), *version, expiry(*over))
            })
            .collect();
        assert_eq!(found, expected);
        for name in 0..4 {
            let found = wait(store.get(now, &key(&name.to_string()))).expect("gets");
            let found = found.map(|record| record.version);
            assert_eq!(
                found,
                self.records.get(&name).map(|(_, version, _)| *version)
            );
        }
        for (name, log) in &self.logs {
            compare_log(store, self.now, *name, log);
        }
    }
}

fn compare_log(store: &dyn Store, now: u64, name: u8, log: &Log) {
    let start = (0, Some(Position::START));
    let positions = log.events.iter().map(|(position, _)| *position);
    for (seen, after) in std::iter::once(start).chain((1..).zip(positions)) {
        let Some(after) = after else { continue };
        let tail = wait(store.read(at(now), &key(&name.to_string()), after, 100));
        match tail.expect("reads") {
            Tail::Events { events, more } => {
                let found = events
                    .iter()
                    .map(|it| (Some(it.position), it.value.clone()));
                assert_eq!(found.collect::<Vec<_>>(), log.events[seen..]);
                assert!(!more);
                assert!(seen >= log.dropped, "a silent gap");
            }
            Tail::Lost => assert!(seen < log.dropped),
            tail => panic!("{tail:?} at a position that was given"),
        }
    }
}

fn expiry(over: Option<u64>) -> Expiry {
    over.map_or(Expiry::Never, |over| Expiry::At(at(over)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    // hardening: H-188, H-191
    #[test]
    fn the_memory_store_is_a_map_with_expiry(steps in steps()) {
        let store = MemoryStore::new(limits());
        let mut model = Model::default();
        for step in &steps {
            model.step(&store, step);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    // hardening: H-177, H-188, H-191
    #[test]
    fn the_file_store_is_the_same_map_after_every_restart(steps in steps()) {
        let directory = Directory::new();
        let open = || FileStore::open(&directory, limits()).expect("opens");
        let mut store = Some(open());
        let mut model = Model::default();
        for step in &steps {
            if let Step::Reopen = step {
                drop(store.take());
            }
            let store = store.get_or_insert_with(open);
            prop_assert!(store.recovery().damage.is_empty());
            model.step(store, step);
        }
    }
}
