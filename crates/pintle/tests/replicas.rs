//! Three processes share a store: a task that one begins is polled at the others, and finished by another
//! one if its process is killed.

mod peer;
mod replica;

use std::time::{Duration, Instant};

#[cfg(unix)]
use pintle_test_servers::{PostgresServer, RedisServer};
use serde_json::json;

use replica::{Folder, Replica};

/// Expiry of a presence, the list of the others, and the random wait: 16 s. The rest is for a slow machine.
const LONGEST: Duration = Duration::from_secs(30);

/// Begins a task at the first of three processes, kills it, and finishes the task at the others.
async fn a_killed_process_loses_no_task(store: &str, folder: &Folder) {
    let mut first = Replica::start(store, folder);
    let others = [Replica::start(store, folder), Replica::start(store, folder)];
    let mut peer = first.connect().await;
    let mut second = others[0].connect().await;
    let mut third = others[1].connect().await;

    let task = peer.begin("books").await;
    let asked = peer.asked(&task).await;
    assert_eq!(second.asked(&task).await, asked, "polled at the second");
    assert_eq!(third.asked(&task).await, asked, "polled at the third");

    first.kill();
    let killed = Instant::now();
    while folder.lines("started") < 2 {
        assert!(killed.elapsed() < LONGEST, "no other process runs the task");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Not a macro for printing, because the test harness would hide the text.
    let text = format!("\ntaken over {:?} after the kill\n", killed.elapsed());
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());

    third.answer(&task, &asked, "Ada").await;
    let ended = second.ended(&task).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    let text = &ended["result"]["content"][0]["text"];
    assert_eq!(text, "booking 1 for Ada");
    assert_eq!(third.ended(&task).await["result"], ended["result"]);
    assert_eq!(folder.lines("booked"), 1, "the step is done once");
    assert_eq!(folder.lines("started"), 2, "one of the others ran it");
}

#[tokio::test]
async fn a_task_outlives_its_process_in_sqlite() {
    let folder = Folder::new();
    a_killed_process_loses_no_task(&folder.sqlite(), &folder).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_task_outlives_its_process_in_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    a_killed_process_loses_no_task(&server.url("replicas"), &Folder::new()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_task_outlives_its_process_in_redis() {
    let Some(server) = RedisServer::start(&[]) else {
        return;
    };
    a_killed_process_loses_no_task(&server.url("replicas"), &Folder::new()).await;
}

/// A process that ends in order releases its tasks, so that another one need not wait.
#[tokio::test]
async fn a_process_that_ends_releases_its_tasks() {
    let folder = Folder::new();
    let store = folder.sqlite();
    let mut first = Replica::start(&store, &folder);
    let other = Replica::start(&store, &folder);
    let mut peer = first.connect().await;
    let mut second = other.connect().await;
    let task = peer.begin("books").await;
    let asked = peer.asked(&task).await;

    first.shut_down();
    let ended = Instant::now();
    while folder.lines("started") < 2 {
        assert!(
            ended.elapsed() < Duration::from_secs(9),
            "no other process runs the task before the presence of the first could expire"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    drop(peer);
    first.ends();
    second.answer(&task, &asked, "Ada").await;
    let ended = second.ended(&task).await;
    assert_eq!(
        ended["result"]["content"][0]["text"],
        json!("booking 1 for Ada")
    );
    assert_eq!(folder.lines("booked"), 1);
}
