//! A process ends, and another goes on with its tasks.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pintle_store::conformance::Blocking;
use pintle_store::{FileStore, MemoryStore, Store, StoreLimits};
use serde_json::{Value, json};

use crate::tasks::engine::Engine;
use crate::tasks::peer::{CORE, MODERN, Peer, able, call, id_of, named, text};
use crate::tasks::tools::{Seen, server};

/// A directory that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("pintle-tasks-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn open(&self) -> Arc<dyn Store> {
        let store = FileStore::open(&self.0, StoreLimits::default()).expect("a store");
        Arc::new(Blocking(store))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The life of one process: whatever runs at its end is gone.
fn process<T>(life: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    runtime.block_on(life)
}

/// Begins a task that books something and asks, and is killed.
fn begin_and_die(store: Arc<dyn Store>, seen: &Seen, revision: &'static str) -> Value {
    process(async {
        let mut peer = Peer::connect(server(seen).store(store), revision).await;
        let task = peer.start("books", json!({})).await;
        while peer.look(&task).await["status"] != "input_required" {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        task
    })
}

// spec: 2026-07-28 X-TASK-09, X-TASK-18, X-TASK-24
// hardening: H-177
#[test]
fn a_task_outlives_its_process_and_does_nothing_twice() {
    let (folder, seen) = (Folder::new("extension"), Seen::default());
    let task = begin_and_die(folder.open(), &seen, MODERN);
    process(async {
        let mut peer = Peer::connect(server(&seen).store(folder.open()), MODERN).await;
        let asked = peer.asked(&task).await;
        let key = asked
            .as_object()
            .expect("a map")
            .keys()
            .next()
            .expect("one");
        // The first to run it has 30 s to show that it lives.
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(seen.started.load(Ordering::SeqCst), 2, "it runs again");
        assert_eq!(
            peer.asked(&task).await,
            asked,
            "and asks under the same key"
        );
        let mut update = id_of(&task);
        update["inputResponses"] = json!({ key: named("Ada") });
        peer.result("tasks/update", update).await;
        assert_eq!(
            text(&peer.ended(&task).await["result"]),
            "booking 1 for Ada"
        );
    });
    assert_eq!(seen.booked.load(Ordering::SeqCst), 1);
    let ended = process(async {
        let mut peer = Peer::connect(server(&seen).store(folder.open()), MODERN).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        peer.look(&task).await
    });
    assert_eq!(ended["status"], "completed");
    assert_eq!(
        seen.started.load(Ordering::SeqCst),
        2,
        "what has ended is not run"
    );
}

// spec: 2026-07-28 X-TASK-25
#[test]
fn an_answer_that_comes_while_nobody_runs_the_task_is_kept() {
    // Others may have it open, so the lease of the process that ended has to run out.
    let store: Arc<dyn Store> = Engine::new().connect();
    let seen = Seen::default();
    let task = begin_and_die(Arc::clone(&store), &seen, MODERN);
    process(async {
        let mut peer = Peer::connect(server(&seen).store(Arc::clone(&store)), MODERN).await;
        let asked = peer.asked(&task).await;
        let key = asked
            .as_object()
            .expect("a map")
            .keys()
            .next()
            .expect("one");
        let mut update = id_of(&task);
        update["inputResponses"] = json!({ key: named("Ada") });
        peer.result("tasks/update", update).await;
        assert_eq!(peer.look(&task).await["status"], "working");
    });
    process(async {
        let mut peer = Peer::connect(server(&seen).store(Arc::clone(&store)), MODERN).await;
        assert_eq!(
            text(&peer.ended(&task).await["result"]),
            "booking 1 for Ada"
        );
    });
    assert_eq!(seen.booked.load(Ordering::SeqCst), 1);
}

// hardening: H-177
#[test]
fn a_store_of_one_process_gives_a_task_to_the_next_process_at_once() {
    let (folder, seen) = (Folder::new("at-once"), Seen::default());
    let task = begin_and_die(folder.open(), &seen, MODERN);
    process(async {
        let mut peer = Peer::connect(server(&seen).store(folder.open()), MODERN).await;
        peer.settle().await;
        assert_eq!(seen.started.load(Ordering::SeqCst), 2, "it does not wait");
        let asked = peer.asked(&task).await;
        let key = asked.as_object().and_then(|asked| asked.keys().next());
        let mut update = id_of(&task);
        update["inputResponses"] = json!({ key.expect("one"): named("Ada") });
        peer.result("tasks/update", update).await;
        peer.settle().await;
        assert_eq!(peer.look(&task).await["status"], "completed");
    });
    assert_eq!(seen.booked.load(Ordering::SeqCst), 1);
}

// spec: 2025-11-25 TASK-39, AMB-91
#[test]
fn a_task_of_the_core_asks_again_after_a_restart() {
    let (folder, seen) = (Folder::new("core"), Seen::default());
    let task = begin_and_die(folder.open(), &seen, CORE);
    process(async {
        let mut peer = Peer::connect(server(&seen).store(folder.open()), CORE).await;
        let waiting = peer.begin("tasks/result", id_of(&task)).await;
        let question = peer.question().await;
        assert_eq!(question["params"]["message"], "Who?");
        peer.reply(&question, named("Ada")).await;
        assert_eq!(
            text(&peer.answer_to(waiting).await["result"]),
            "booking 1 for Ada"
        );
    });
    assert_eq!(seen.booked.load(Ordering::SeqCst), 1);
}

#[test]
fn a_task_whose_tool_is_gone_fails() {
    let (folder, seen) = (Folder::new("gone"), Seen::default());
    let task = begin_and_die(folder.open(), &seen, MODERN);
    process(async {
        let other = pintle_server::Server::new("other", "1.0.0")
            .tasks(pintle_server::TaskOptions::default())
            .add_tool(pintle_server::Tool::new("x").handler(async || "x"))
            .store(folder.open());
        let mut peer = Peer::connect(other, MODERN).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(peer.look(&task).await["error"]["code"], -32603);
    });
}

// spec: 2026-07-28 X-TASK-28
#[tokio::test(start_paused = true)]
async fn another_process_answers_and_cancels_what_this_one_runs() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let seen = Seen::default();
    let app = |seen| {
        server(seen)
            .store(Arc::clone(&store))
            .build()
            .expect("the server starts")
    };
    let mut here = Peer::join(&app(&seen), MODERN, able()).await;
    let elsewhere = Seen::default();
    let mut there = Peer::join(&app(&elsewhere), MODERN, able()).await;
    let task = here.start("asks", json!({})).await;
    let asked = there.asked(&task).await;
    let key = asked
        .as_object()
        .expect("a map")
        .keys()
        .next()
        .expect("one");
    let mut update = id_of(&task);
    update["inputResponses"] = json!({ key: named("Ada") });
    there.result("tasks/update", update).await;
    assert_eq!(text(&here.ended(&task).await["result"]), "hello Ada");
    let task = here
        .result("tools/call", call("wait", json!({ "seconds": 200 })))
        .await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(
        elsewhere.started.load(Ordering::SeqCst),
        0,
        "nobody takes what is run"
    );
    there.result("tasks/cancel", id_of(&task)).await;
    here.settle().await;
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 1);
}
