//! Two processes share a schema.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pintle_store::{
    Changes, Epoch, ExpectedTail, Expiry, Position, Precondition, Prefix, Retention, Store,
    StoreError, Tail,
};

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::support::{Engine, NOW, fresh, key, open};

/// Contains the URL of the database, in the environment of the other process.
const DATABASE: &str = "PINTLE_POSTGRES_TEST_DATABASE";

/// Number of additions and events of each process.
const ROUNDS: usize = 40;

/// Longest time for a change to arrive.
const LIMIT: Duration = Duration::from_secs(30);

/// Starts this program again, to run only [`the_other_process`].
fn start_other(url: &str) -> Child {
    let program = std::env::current_exe().expect("the path of this program");
    Command::new(program)
        .args(["--exact", "processes::the_other_process", "--ignored"])
        .env(DATABASE, url)
        .stdout(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Adds to a counter, and appends to a log at its tail.
async fn work(store: &dyn Store, event: &'static str) {
    let mut tail = Position::START;
    for _ in 0..ROUNDS {
        let added = store.add(NOW, &key("sum"), 1, Expiry::Never).await;
        added.expect("adds");
        tail = append_once(store, tail, event).await;
    }
}

/// Appends at the tail of the log, wherever the other process moves it.
async fn append_once(store: &dyn Store, mut tail: Position, event: &'static str) -> Position {
    loop {
        let (log, events) = (key("log"), [event.into()]);
        let (expected, all) = (ExpectedTail::At(tail), Retention::default());
        let append = store.append(NOW, &log, &events, expected, all, Expiry::Never);
        match append.await {
            Ok(position) => return position,
            Err(StoreError::Moved { tail: found }) => tail = found,
            Err(error) => panic!("append: {error:?}"),
        }
    }
}

/// The part of the second process. [`start_other`] runs it.
#[tokio::test]
#[ignore = "another test starts it in a process of its own"]
async fn the_other_process() {
    let url = std::env::var(DATABASE).expect("the URL of the database");
    let store = open(&url).await;
    let other = Epoch::new(2);
    assert_ne!(store.epoch(other).await.expect("an epoch"), other);
    work(&store, "other").await;
    // A process that ends right after a write may end before its notification.
    let mut changes = store
        .changed(&Prefix::from(key("seen")))
        .await
        .expect("watches");
    put(&store, "done").await;
    wait_for(&store, "seen", &mut changes).await;
}

async fn put(store: &dyn Store, name: &str) {
    let key = key(name);
    let put = store.put(NOW, &key, "".into(), Precondition::Absent, Expiry::Never);
    put.await.expect("puts");
}

/// Waits for a record, and reads only after changes.
async fn wait_for(store: &dyn Store, name: &str, changes: &mut Changes) {
    let arrives = async {
        while store.get(NOW, &key(name)).await.expect("gets").is_none() {
            changes.next().await.expect("the store is open");
        }
    };
    timeout(LIMIT, arrives).await.expect("a change");
}

/// Waits without holding the thread of the runtime.
async fn ends(mut process: Child) {
    let ended = spawn_blocking(move || process.wait()).await;
    assert!(ended.expect("waits").expect("ends").success());
}

#[tokio::test]
async fn two_processes_lose_no_addition_and_no_event() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine.url(&fresh("processes"));
    let store = open(&url).await;
    store.epoch(Epoch::new(1)).await.expect("an epoch");
    let other = start_other(&url);
    work(&store, "own").await;
    put(&store, "seen").await;
    ends(other).await;

    let sum = store.add(NOW, &key("sum"), 0, Expiry::Never).await;
    assert_eq!(sum.expect("adds"), 2 * ROUNDS as i64);
    let log = key("log");
    let tail = store.read(NOW, &log, Position::START, 2 * ROUNDS).await;
    let Ok(Tail::Events { events, .. }) = tail else {
        panic!("{tail:?}");
    };
    let own = events.iter().filter(|event| event.value == "own").count();
    assert_eq!((own, events.len()), (ROUNDS, 2 * ROUNDS));
}

#[tokio::test]
async fn a_change_of_another_process_wakes_a_watcher() {
    let Some(engine) = Engine::shared() else {
        return;
    };
    let url = engine.url(&fresh("processes"));
    let store = open(&url).await;
    store.epoch(Epoch::new(1)).await.expect("an epoch");
    let prefix = Prefix::from(key("done"));
    let mut changes = store.changed(&prefix).await.expect("watches");
    let other = start_other(&url);
    wait_for(&store, "done", &mut changes).await;
    put(&store, "seen").await;
    ends(other).await;
}
