//! What many clients at the same time are sent, in order, while several threads serve them.
//!
//! A seed decides how long stores and services pause; a failure prints it. Threads still differ from run
//! to run, so that every run is another test. A run cannot fail because a machine is slow.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pintle_server::{App, Resource, Server, Tool};
use pintle_store::Store;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::tasks::peer::{CORE, MODERN, Peer, able, id_of, named};
use crate::tasks::remote::Remote;
use crate::tasks::tools::{OFTEN, Seen, server};
use crate::tasks::uneven::Uneven;

const LISTEN: &str = "subscriptions/listen";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const THREADS: usize = 4;
/// How many clients there are of each revision.
const CLIENTS: usize = 4;
/// How often a client listens.
const ROUNDS: usize = 4;
/// A run takes milliseconds. This long means that it hangs.
const HANGS: Duration = Duration::from_secs(120);

/// Plays a test once for each seed; `PINTLE_SEEDS` is how many there are.
fn play<F>(test: fn(u64) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let seeds = std::env::var("PINTLE_SEEDS").ok();
    let seeds: u64 = seeds.map_or(12, |seeds| seeds.parse().expect("a number"));
    for seed in 1..=seeds {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()
            .expect("a runtime");
        let test = runtime.spawn(test(seed));
        let played = runtime.block_on(async { timeout(HANGS, test).await });
        let is_well = played.is_ok_and(|played| played.is_ok());
        assert!(is_well, "seed {seed}");
    }
}

/// Waits until all have ended well.
async fn all(mut parts: JoinSet<()>) {
    while let Some(part) = parts.join_next().await {
        part.expect("it holds");
    }
}

fn app(seed: u64) -> App {
    let uneven = Uneven::new(seed);
    let store: Arc<dyn Store> = Arc::new(Remote::uneven(uneven.clone()));
    let server = server(&Seen::default()).store(store).layer(uneven);
    server.build().expect("the server starts")
}

/// The statuses in which a task leaves, from its first answer on.
fn statuses() -> Vec<&'static str> {
    let mut statuses = ["working", "input_required"].repeat(OFTEN);
    statuses[2 * OFTEN - 1] = "completed";
    statuses
}

fn statuses_of<'a>(peer: &'a Peer, method: &str) -> Vec<&'a str> {
    let notices = peer.notices(method);
    let statuses = notices.iter().map(|task| task["status"].as_str());
    statuses.map(|status| status.expect("a status")).collect()
}

/// What a listener was sent of its task since the first answer. The notice of the first question may
/// still come before that: `tasks/get` shows a question before its notices leave.
fn followed(peer: &Peer) -> Vec<&Value> {
    let notices = peer.notices("notifications/tasks").into_iter();
    notices
        .skip_while(|task| task["status"] == "input_required")
        .collect()
}

/// Follows a task by listening, and answers what the notices ask.
async fn listens(app: App) {
    let mut peer = Peer::join(&app, MODERN, able()).await;
    let task = peer.start("asks_often", json!({})).await;
    let mut asked = peer.asked(&task).await;
    let follow = json!({ "notifications": { "taskIds": [task["taskId"]] } });
    peer.begin(LISTEN, follow).await;
    peer.receive_until(|peer| !peer.notices(ACKNOWLEDGED).is_empty())
        .await;
    for nth in 0..OFTEN {
        let mut update = id_of(&task);
        let key = asked.as_object().and_then(|asked| asked.keys().next());
        update["inputResponses"] = json!({ key.expect("a question"): named("Ada") });
        peer.result("tasks/update", update).await;
        peer.receive_until(|peer| followed(peer).len() > 2 * nth + 1)
            .await;
        asked = followed(&peer)[2 * nth + 1]["inputRequests"].clone();
    }
    let seen: Vec<_> = followed(&peer).iter().map(|task| &task["status"]).collect();
    assert_eq!(seen, statuses());
}

/// Begins a task of the core, waits for its result and answers what is asked on the way.
async fn waits(app: App) {
    const NOTICE: &str = "notifications/tasks/status";
    let mut peer = Peer::join(&app, CORE, able()).await;
    let task = peer.start("asks_often", json!({})).await;
    assert_eq!(
        statuses_of(&peer, NOTICE),
        [""; 0],
        "a status before the task itself"
    );
    let waiting = peer.begin("tasks/result", id_of(&task)).await;
    for _ in 0..OFTEN {
        let question = peer.question().await;
        peer.reply(&question, named("Ada")).await;
    }
    peer.answer_to(waiting).await;
    peer.receive_until(|peer| statuses_of(peer, NOTICE).last() == Some(&"completed"))
        .await;
    let mut expected = statuses();
    expected.insert(0, "input_required");
    assert_eq!(statuses_of(&peer, NOTICE), expected);
}

async fn notices_of_tasks(seed: u64) {
    let app = app(seed);
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(listens(app.clone()));
        clients.spawn(waits(app.clone()));
    }
    all(clients).await;
}

// spec: 2025-11-25 TASK-36, TASK-37
// spec: 2026-07-28 X-TASK-13, X-TASK-29
#[test]
fn clients_are_sent_what_becomes_of_tasks_in_order() {
    play(notices_of_tasks);
}

/// Notices of one listener.
fn notices_of(peer: &Peer, listen: i64) -> usize {
    let id = "io.modelcontextprotocol/subscriptionId";
    let notices = peer.notices("notifications/tools/list_changed");
    notices
        .iter()
        .filter(|notice| notice["_meta"][id] == listen)
        .count()
}

/// Listens and gives up, again and again.
async fn comes_and_goes(app: App) {
    let mut peer = Peer::join(&app, MODERN, able()).await;
    for nth in 1..=ROUNDS {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        let listen = peer.begin(LISTEN, filter).await;
        peer.receive_until(|peer| {
            let is_begun = peer.notices(ACKNOWLEDGED).len() >= nth;
            assert!(
                is_begun || notices_of(peer, listen) == 0,
                "news before the beginning"
            );
            is_begun
        })
        .await;
        peer.receive_until(|peer| notices_of(peer, listen) > 0)
            .await;
        let gone = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": listen } });
        peer.send(&gone).await;
        peer.result("tools/list", json!({})).await;
        let received = notices_of(&peer, listen);
        peer.result("tools/list", json!({})).await;
        assert_eq!(notices_of(&peer, listen), received, "news after the end");
    }
}

/// Subscribes to a resource of a session and unsubscribes, again and again.
async fn subscribes(app: App) {
    const UPDATED: &str = "notifications/resources/updated";
    let mut peer = Peer::join(&app, CORE, able()).await;
    let uri = json!({ "uri": "desk://hours" });
    for _ in 0..ROUNDS {
        let before = peer.notices(UPDATED).len();
        peer.result("resources/list", json!({})).await;
        assert_eq!(peer.notices(UPDATED).len(), before, "news after the end");
        peer.result("resources/subscribe", uri.clone()).await;
        peer.receive_until(|peer| peer.notices(UPDATED).len() > before)
            .await;
        peer.result("resources/unsubscribe", uri.clone()).await;
    }
}

async fn listeners_come_and_go(seed: u64) {
    let server = Server::new("desk", "1")
        .resource_updates()
        .add_tool(Tool::new("ring").handler(async || "ding"))
        .add_resource(Resource::text("desk://hours", "hours", "9 to 5"));
    let changes = server.handle().changes().clone();
    let app = server.layer(Uneven::new(seed)).build().expect("it starts");
    let is_over = Arc::new(AtomicBool::new(false));
    let mut publishers = JoinSet::new();
    for nth in 0..2 {
        let (changes, is_over) = (changes.clone(), Arc::clone(&is_over));
        let uneven = Uneven::new(seed + nth);
        publishers.spawn(async move {
            while !is_over.load(Ordering::Relaxed) {
                changes.tools();
                changes.resource("desk://hours");
                uneven.pause().await;
                tokio::task::yield_now().await;
            }
        });
    }
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        clients.spawn(comes_and_goes(app.clone()));
        clients.spawn(subscribes(app.clone()));
    }
    all(clients).await;
    is_over.store(true, Ordering::Relaxed);
    all(publishers).await;
}

// spec: 2026-07-28 N-SUBS-03
#[test]
fn listeners_are_sent_changes_between_their_beginning_and_their_end() {
    play(listeners_come_and_go);
}
