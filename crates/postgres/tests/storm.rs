//! Many writers of few keys whose entries expire at once.

use std::sync::Arc;
use std::time::Duration;

use pintle_postgres::PostgresStore;
use pintle_store::{
    ExpectedTail, Expiry, Position, Precondition, Retention, Store, StoreError, StoreTime, Tail,
};
use tokio::task::JoinSet;

use crate::support::{Engine, fresh, key, open};

const WRITERS: u64 = 16;
const ROUNDS: u64 = 60;
const KEYS: u64 = 5;

/// Fails for an error of the server, such as a deadlock.
fn check<T>(result: Result<T, StoreError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) if error.is_conflict() => None,
        Err(error) => panic!(
            "{error:?}: {}",
            std::error::Error::source(&error).expect("a cause")
        ),
    }
}

async fn write(store: &PostgresStore, round: u64) {
    let now = StoreTime::from_millis(1_000 + round / 4);
    let name = key(&(round % KEYS).to_string());
    let expiry = Expiry::At(now + Duration::from_millis(round % 3));
    let (any, retention) = (
        Precondition::Any,
        Retention {
            max_events: 2,
            ..Retention::default()
        },
    );
    check(store.put(now, &name, "".into(), any, expiry).await);
    let events = ["a".into(), "b".into()];
    check(
        store
            .append(now, &name, &events, ExpectedTail::Any, retention, expiry)
            .await,
    );
    check(store.add(now, &name, 1, expiry).await);
    let other = key(&((round + 1) % KEYS).to_string());
    check(store.remove(now, &other, any).await);
    check(store.forget(now, &other).await);
    let read = check(store.read(now, &name, Position::START, 9).await);
    if let Some(Tail::Events { events, .. }) = read {
        assert!(events.is_sorted_by_key(|event| event.position));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_that_delete_expired_entries_cause_no_deadlock() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine
        .url(&fresh("storm"))
        .replace("connections=2", "connections=8");
    let stores = [Arc::new(open(&url).await), Arc::new(open(&url).await)];
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&stores[(writer % 2) as usize]);
        writers.spawn(async move {
            for round in 0..ROUNDS {
                write(&store, round + writer).await;
            }
        });
    }
    writers.join_all().await;
}

/// Of each life of a log that a racing writer forgets, positions grow, and none is used again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn positions_of_a_log_that_is_forgotten_again_and_again_grow() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine
        .url(&fresh("storm"))
        .replace("connections=2", "connections=8");
    let store = Arc::new(open(&url).await);
    let now = StoreTime::from_millis(0);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            let (log, mut last) = (key("log"), Position::START);
            for _ in 0..ROUNDS {
                if writer % 4 == 0 {
                    check(store.forget(now, &log).await);
                    continue;
                }
                let (any, all) = (ExpectedTail::Any, Retention::default());
                let events = ["a".into()];
                let append = store.append(now, &log, &events, any, all, Expiry::Never);
                let position = append.await.expect("appends");
                assert!(position > last, "{position:?} after {last:?}");
                last = position;
            }
            last
        });
    }
    let lasts = writers.join_all().await;
    let appended: Vec<_> = lasts
        .into_iter()
        .filter(|it| *it != Position::START)
        .collect();
    let different: std::collections::HashSet<_> = appended.iter().collect();
    assert_eq!(different.len(), appended.len());
}
