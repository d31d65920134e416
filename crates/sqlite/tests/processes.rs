//! Two processes share a database.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pintle_store::{
    Epoch, ExpectedTail, Expiry, Position, Precondition, Prefix, Retention, Store, StoreError, Tail,
};

use crate::support::{Directory, NOW, key, open};

/// Contains the path of the database, in the environment of the other process.
const DATABASE: &str = "PINTLE_SQLITE_TEST_DATABASE";

/// Number of additions and events of each process.
const ROUNDS: usize = 40;

/// Longest time for a change to arrive.
const LIMIT: Duration = Duration::from_secs(30);

/// Starts this program again, to run only [`the_other_process`].
fn start_other(directory: &Directory) -> Child {
    let program = std::env::current_exe().expect("the path of this program");
    Command::new(program)
        .args(["--exact", "processes::the_other_process", "--ignored"])
        .env(DATABASE, directory.database())
        .stdout(Stdio::null())
        .spawn()
        .expect("starts")
}

/// Adds to a counter, and appends to a log at its tail.
async fn work(store: &dyn Store, event: &'static str) {
    let mut tail = Position::START;
    for _ in 0..ROUNDS {
        store
            .add(NOW, &key("sum"), 1, Expiry::Never)
            .await
            .expect("adds");
        tail = append_once(store, tail, event).await;
    }
}

/// Appends at the tail of the log, wherever the other process moves it.
async fn append_once(store: &dyn Store, mut tail: Position, event: &'static str) -> Position {
    loop {
        let (log, events) = (key("log"), [event.into()]);
        let (expected, all) = (ExpectedTail::At(tail), Retention::default());
        match store
            .append(NOW, &log, &events, expected, all, Expiry::Never)
            .await
        {
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
    let path = std::env::var_os(DATABASE).expect("the path of the database");
    let store = open(path.as_ref());
    let other = Epoch::new(2);
    assert_ne!(store.epoch(other).await.expect("an epoch"), other);
    work(&store, "other").await;
    let (done, value) = (key("done"), "yes".into());
    let put = store.put(NOW, &done, value, Precondition::Absent, Expiry::Never);
    put.await.expect("puts");
}

#[tokio::test]
async fn two_processes_lose_no_addition_and_no_event() {
    let directory = Directory::new();
    let store = open(&directory.database());
    store.epoch(Epoch::new(1)).await.expect("an epoch");
    let mut other = start_other(&directory);
    work(&store, "own").await;
    assert!(other.wait().expect("ends").success());

    let sum = store.add(NOW, &key("sum"), 0, Expiry::Never).await;
    assert_eq!(sum.expect("adds"), 2 * ROUNDS as i64);
    let tail = store
        .read(NOW, &key("log"), Position::START, 2 * ROUNDS)
        .await;
    let Ok(Tail::Events { events, .. }) = tail else {
        panic!("{tail:?}");
    };
    let own = events.iter().filter(|event| event.value == "own").count();
    assert_eq!((own, events.len()), (ROUNDS, 2 * ROUNDS));
}

#[tokio::test]
async fn a_change_of_another_process_wakes_a_watcher() {
    let directory = Directory::new();
    let store = open(&directory.database());
    store.epoch(Epoch::new(1)).await.expect("an epoch");
    let prefix = Prefix::from(key("done"));
    let mut changes = store.changed(&prefix).await.expect("watches");
    let mut other = start_other(&directory);
    let arrives = async {
        while store.get(NOW, &key("done")).await.expect("gets").is_none() {
            changes.next().await.expect("the store is open");
        }
    };
    tokio::time::timeout(LIMIT, arrives)
        .await
        .expect("a change");
    assert!(other.wait().expect("ends").success());
}

#[tokio::test]
async fn a_change_of_another_opening_wakes_a_watcher_between_own_writes() {
    let directory = Directory::new();
    let (store, other) = (open(&directory.database()), open(&directory.database()));
    let mut changes = store
        .changed(&key("watched").into())
        .await
        .expect("watches");
    put(&other, "watched").await;
    let writing = async {
        loop {
            put(&store, "own").await;
        }
    };
    tokio::select! {
        told = tokio::time::timeout(LIMIT, changes.next()) => assert_eq!(told, Ok(Some(()))),
        () = writing => {}
    }
}

async fn put(store: &dyn Store, name: &str) {
    let (key, empty) = (key(name), "".into());
    let put = store.put(NOW, &key, empty, Precondition::Any, Expiry::Never);
    put.await.expect("puts");
}
