//! Replicas that share a store: a task has one of them at a time.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pintle_runtime::Service;
use pintle_server::App;
use pintle_store::{Namespace, Page, Precondition, Prefix, Store};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::tasks::engine::Engine;
use crate::tasks::peer::{MODERN, Peer, able, id_of, named, text};
use crate::tasks::tools::{Seen, server};

/// Expiry of a presence, the list of the others, and the random wait.
const LONGEST: Duration = Duration::from_secs(16);

fn replica(store: &Arc<dyn Store>, seen: &Seen) -> App {
    let server = server(seen).store(Arc::clone(store));
    server.build().expect("the server starts")
}

/// The life of one process: its tasks end with it.
fn process<T>(life: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(life)
}

/// Answers the question of a task.
async fn answer(peer: &mut Peer, task: &Value) {
    let asked = peer.asked(task).await;
    let key = asked.as_object().and_then(|asked| asked.keys().next());
    let mut update = id_of(task);
    update["inputResponses"] = json!({ key.expect("a question"): named("Ada") });
    peer.result("tasks/update", update).await;
}

/// Waits until the handler has started so often.
async fn until_started(seen: &Seen, times: usize) {
    while seen.started.load(Ordering::SeqCst) < times {
        sleep(Duration::from_millis(10)).await;
    }
}

// hardening: H-177
#[tokio::test(start_paused = true)]
async fn a_replica_that_leaves_releases_its_tasks_at_once() {
    let store: Arc<dyn Store> = Engine::new().connect();
    let seen = Seen::default();
    let leaving = replica(&store, &seen);
    let staying = replica(&store, &seen);
    let mut first = Peer::join(&leaving, MODERN, able()).await;
    let mut second = Peer::join(&staying, MODERN, able()).await;
    let task = first.start("books", json!({})).await;
    first.asked(&task).await;

    let began = Instant::now();
    leaving.leave().await;
    until_started(&seen, 2).await;
    assert!(
        began.elapsed() < Duration::from_secs(7),
        "before a lease ends"
    );
    answer(&mut second, &task).await;
    let ended = second.ended(&task).await;
    assert_eq!(text(&ended["result"]), "booking 1 for Ada");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(seen.started.load(Ordering::SeqCst), 2, "no third run");
}

// hardening: H-177
#[test]
fn one_of_two_replicas_takes_over_the_task_of_a_killed_one() {
    let store: Arc<dyn Store> = Engine::new().connect();
    let seen = Seen::default();
    let task = process(async {
        let mut peer = Peer::join(&replica(&store, &seen), MODERN, able()).await;
        let task = peer.start("books", json!({})).await;
        peer.asked(&task).await;
        task
    });
    process(async {
        let mut peers = Vec::new();
        for _ in 0..2 {
            peers.push(Peer::join(&replica(&store, &seen), MODERN, able()).await);
        }
        let began = Instant::now();
        until_started(&seen, 2).await;
        assert!(began.elapsed() <= LONGEST, "{:?}", began.elapsed());
        answer(&mut peers[0], &task).await;
        let ended = peers[1].ended(&task).await;
        assert_eq!(text(&ended["result"]), "booking 1 for Ada");
        sleep(Duration::from_secs(60)).await;
    });
    assert_eq!(seen.started.load(Ordering::SeqCst), 2, "one of them ran it");
    assert_eq!(seen.booked.load(Ordering::SeqCst), 1);
}

/// Removes all marks of holders, as a flush does.
async fn remove_marks(engine: &Arc<Engine>, store: &Arc<dyn Store>) {
    let namespace = Namespace::new("holder").expect("a name");
    let prefix = Prefix::new(&namespace, "all.").expect("a group");
    let page = Page::first(100);
    let marks = store.list(engine.now(), &prefix, page).await;
    for (mark, _) in marks.expect("the store answers").records {
        let any = Precondition::Any;
        let removed = store.remove(engine.now(), &mark, any).await;
        assert!(removed.expect("the store answers"));
    }
}

#[test]
fn a_task_that_begins_after_a_flush_outlives_its_replica() {
    let engine = Engine::new();
    let store: Arc<dyn Store> = engine.connect();
    let seen = Seen::default();
    process(async {
        let mut peer = Peer::join(&replica(&store, &seen), MODERN, able()).await;
        for tasks in 1..=2 {
            remove_marks(&engine, &store).await;
            peer.start("books", json!({})).await;
            until_started(&seen, tasks).await;
        }
    });
    process(async {
        let _peer = Peer::join(&replica(&store, &seen), MODERN, able()).await;
        let both = timeout(LONGEST * 2, until_started(&seen, 4)).await;
        both.expect("both tasks run again");
    });
}

#[test]
fn a_cancelled_task_of_a_killed_replica_is_not_run_again() {
    let store: Arc<dyn Store> = Engine::new().connect();
    let seen = Seen::default();
    let task = process(async {
        let mut peer = Peer::join(&replica(&store, &seen), MODERN, able()).await;
        let task = peer.start("books", json!({})).await;
        peer.asked(&task).await;
        task
    });
    process(async {
        let mut peer = Peer::join(&replica(&store, &seen), MODERN, able()).await;
        peer.result("tasks/cancel", id_of(&task)).await;
        sleep(Duration::from_secs(120)).await;
        assert_eq!(peer.look(&task).await["status"], "cancelled");
    });
    assert_eq!(seen.started.load(Ordering::SeqCst), 1);
}
