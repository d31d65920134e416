//! Replicas whose connections to the store fail and break, at every step of a task.
//!
//! A seed decides the faults; a failure prints it. Time is virtual, so a run repeats itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_model::TaskSupport;
use pintle_runtime::{AskError, Context};
use pintle_server::{App, Server, TaskOptions, Tool};
use pintle_store::Store;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::tasks::engine::{Connection, Engine, Fault};
use crate::tasks::peer::{MODERN, Peer, able, call, id_of, named, text};
use crate::tasks::uneven::Uneven;

/// Runs of the random test; `PINTLE_SEEDS` sets another number.
const SEEDS: u64 = 150;
/// All faults have ended by then.
const FAULTY: Duration = Duration::from_secs(120);
/// Longest time until a task has ended after the last fault.
const SETTLES: Duration = Duration::from_secs(600);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// The effects of handlers.
#[derive(Debug, Clone, Default)]
struct Effects {
    booked: Arc<AtomicUsize>,
    /// Bookings after one was stored.
    repeated: Arc<AtomicUsize>,
}

/// Books once, asks, and takes its time between.
fn server(engine: &Arc<Engine>, effects: &Effects) -> Server {
    let (engine, effects) = (Arc::clone(engine), effects.clone());
    let books = Tool::new("books").handler(move |cx: Context| {
        let (engine, effects) = (Arc::clone(&engine), effects.clone());
        async move {
            cx.begin_task().await;
            sleep(Duration::from_secs(2)).await;
            let book = async {
                if engine.task().await.contains("once book") {
                    effects.repeated.fetch_add(1, Ordering::SeqCst);
                }
                effects.booked.fetch_add(1, Ordering::SeqCst) + 1
            };
            let number = cx.once("book", book).await;
            sleep(Duration::from_secs(3)).await;
            let name = cx.elicit::<Name>("Who?").named("who").await?;
            sleep(Duration::from_secs(3)).await;
            let name = name.accepted().map(|name| name.name).unwrap_or_default();
            Ok::<_, AskError>(format!("booking {number} for {name}"))
        }
    });
    let mut options = TaskOptions::default();
    // The end is read after the last fault.
    options.ttl = Duration::from_secs(3_600);
    Server::new("works", "1.0.0")
        .tasks(options)
        .add_tool(books.task(TaskSupport::Required))
}

/// One process: its connection, its server and a client.
struct Replica {
    connection: Arc<Connection>,
    // The server runs while its value exists.
    _app: App,
    peer: Peer,
}

impl Replica {
    async fn start(engine: &Arc<Engine>, effects: &Effects) -> Self {
        let connection = engine.connect();
        let store = Arc::clone(&connection) as Arc<dyn Store>;
        let app = server(engine, effects).store(store);
        let app = app.build().expect("the server starts");
        let peer = Peer::join(&app, MODERN, able()).await;
        Self {
            connection,
            _app: app,
            peer,
        }
    }
}

/// Polls a task once, and answers its question. Returns its end.
async fn attend(peer: &mut Peer, task: &Value) -> Option<Value> {
    let mut seen = peer.request("tasks/get", id_of(task)).await["result"].take();
    match seen["status"].as_str() {
        Some("input_required") => {
            let asked = seen["inputRequests"].take();
            let key = asked.as_object().and_then(|asked| asked.keys().next());
            let mut update = id_of(task);
            update["inputResponses"] = json!({ key.expect("a question"): named("Ada") });
            // It may fail, and is repeated then.
            peer.request("tasks/update", update).await;
            None
        }
        Some("working") | None => None,
        Some(_) => Some(seen),
    }
}

/// Checks the end of a task at both replicas, and that its index is empty.
async fn check(engine: &Engine, replicas: &mut [Replica], task: &Value, ended: &Value, run: &str) {
    assert_eq!(ended["status"], "completed", "{run}: {ended}");
    let result = text(&ended["result"]);
    assert!(result.ends_with(" for Ada"), "{run}: {result}");
    sleep(Duration::from_secs(180)).await;
    for replica in replicas {
        // A fault that no operation met.
        replica.connection.heal();
        let seen = replica.peer.look(task).await;
        assert_eq!(seen["result"], ended["result"], "{run}: another end");
    }
    assert_eq!(engine.names("held").await, [""; 0], "{run}: the index");
}

/// A task with one fault at one operation of the replica that runs it.
async fn one_fault(at: usize, fault: Fault) {
    let run = format!("{fault:?} at {at}");
    let (engine, effects) = (Engine::new(), Effects::default());
    let mut replicas = vec![
        Replica::start(&engine, &effects).await,
        Replica::start(&engine, &effects).await,
    ];
    let task = replicas[0].peer.start("books", json!({})).await;
    let faults = std::iter::repeat_n(Fault::None, at).chain([fault]);
    replicas[0].connection.fail_next(faults);
    let ended = loop {
        if let Some(ended) = attend(&mut replicas[1].peer, &task).await {
            break ended;
        }
        sleep(Duration::from_secs(1)).await;
    };
    assert_eq!(text(&ended["result"]), "booking 1 for Ada", "{run}");
    check(&engine, &mut replicas, &task, &ended, &run).await;
    assert_eq!(effects.booked.load(Ordering::SeqCst), 1, "{run}");
}

// hardening: H-177
#[tokio::test(start_paused = true)]
async fn a_task_survives_a_fault_at_each_operation() {
    for at in 0..14 {
        for fault in [Fault::Before, Fault::After] {
            one_fault(at, fault).await;
        }
    }
}

/// A task whose replica is killed, or cut off for a while, after so many operations.
async fn one_cut(after: Duration, lasting: Option<Duration>) {
    let run = format!("cut after {after:?} for {lasting:?}");
    let (engine, effects) = (Engine::new(), Effects::default());
    let mut replicas = vec![
        Replica::start(&engine, &effects).await,
        Replica::start(&engine, &effects).await,
    ];
    let task = replicas[0].peer.start("books", json!({})).await;
    let (began, connection) = (Instant::now(), Arc::clone(&replicas[0].connection));
    tokio::spawn(async move {
        sleep(after).await;
        connection.set_cut(true);
        if let Some(lasting) = lasting {
            sleep(lasting).await;
            connection.set_cut(false);
        }
    });
    let ended = loop {
        if let Some(ended) = attend(&mut replicas[1].peer, &task).await {
            break ended;
        }
        assert!(began.elapsed() < SETTLES, "{run}: it does not end");
        sleep(Duration::from_millis(700)).await;
    };
    if lasting.is_none() {
        replicas.remove(0);
    }
    check(&engine, &mut replicas, &task, &ended, &run).await;
    assert_eq!(effects.repeated.load(Ordering::SeqCst), 0, "{run}");
}

// hardening: H-177
#[tokio::test(start_paused = true)]
async fn a_task_survives_a_kill_or_a_pause_at_each_moment() {
    for after in (0..20).map(|half| Duration::from_millis(500 * half + 50)) {
        for lasting in [None, Some(5), Some(12), Some(40)] {
            one_cut(after, lasting.map(Duration::from_secs)).await;
        }
    }
}

/// A random number below a limit.
fn below(uneven: &Uneven, limit: u64) -> u64 {
    uneven.number() % limit
}

/// Cuts one replica at a time, and lets operations of both fail.
async fn disturb(uneven: Uneven, connections: Vec<Arc<Connection>>) {
    let began = Instant::now();
    while began.elapsed() < FAULTY {
        let one = usize::try_from(below(&uneven, 2)).expect("0 or 1");
        match below(&uneven, 4) {
            0 => connections[one].set_cut(true),
            1 => connections[one].set_cut(false),
            2 => connections[one].fail_next([Fault::Before]),
            _ => connections[one].fail_next([Fault::None, Fault::After]),
        }
        // At least one of them reaches the store.
        connections[1 - one].set_cut(false);
        sleep(Duration::from_millis(below(&uneven, 20_000))).await;
    }
    for connection in connections {
        connection.heal();
    }
}

async fn random_faults(seed: u64) {
    let run = format!("seed {seed}");
    let (engine, effects) = (Engine::new(), Effects::default());
    let mut replicas = vec![
        Replica::start(&engine, &effects).await,
        Replica::start(&engine, &effects).await,
    ];
    let task = replicas[0].peer.start("books", json!({})).await;
    let uneven = Uneven::new(seed);
    let connections = replicas.iter().map(|it| Arc::clone(&it.connection));
    tokio::spawn(disturb(uneven.clone(), connections.collect()));
    let began = Instant::now();
    let ended = loop {
        let one = usize::try_from(below(&uneven, 2)).expect("0 or 1");
        if let Some(ended) = attend(&mut replicas[one].peer, &task).await {
            break ended;
        }
        assert!(began.elapsed() < FAULTY + SETTLES, "{run}: it does not end");
        sleep(Duration::from_secs(1)).await;
    };
    sleep(FAULTY).await;
    check(&engine, &mut replicas, &task, &ended, &run).await;
    assert_eq!(effects.repeated.load(Ordering::SeqCst), 0, "{run}");
}

// hardening: H-177
#[tokio::test(start_paused = true)]
async fn a_task_has_one_end_whatever_fails() {
    let seeds = std::env::var("PINTLE_SEEDS").ok();
    let seeds = seeds.map_or(SEEDS, |seeds| seeds.parse().expect("a number"));
    for seed in 1..=seeds {
        random_faults(seed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_task_cannot_be_stored_leaves_nothing() {
    let faults = [Fault::Before, Fault::After];
    for (at, fault) in (0..3).flat_map(|at| faults.map(|fault| (at, fault))) {
        let (engine, effects) = (Engine::new(), Effects::default());
        let mut replica = Replica::start(&engine, &effects).await;
        // The mark of the holder, the index and the record.
        let faults = std::iter::repeat_n(Fault::None, at).chain([fault]);
        replica.peer.settle().await;
        replica.connection.fail_next(faults);
        let error = replica
            .peer
            .error("tools/call", call("books", json!({})))
            .await;
        assert_eq!(error["code"], -32603, "{fault:?} at {at}");
        let text = "the store of tasks does not answer; send the request again later";
        assert_eq!(error["message"], text, "{fault:?} at {at}");
        sleep(Duration::from_secs(10)).await;
        for namespace in ["tasks", "held"] {
            let names = engine.names(namespace).await;
            assert_eq!(names, [""; 0], "{fault:?} at {at}");
        }
    }
}

/// The operations on tasks of a replica in one step. Each minute it also lists the holders, whatever
/// tasks there are.
async fn operations(replica: &mut Replica) -> Vec<String> {
    replica.peer.settle().await;
    let mut operations = replica.connection.take_operations();
    operations.retain(|operation| operation != "list holder");
    operations
}

// hardening: H-195
#[tokio::test(start_paused = true)]
async fn a_task_costs_few_operations_and_none_while_it_waits() {
    let (engine, effects) = (Engine::new(), Effects::default());
    let mut runner = Replica::start(&engine, &effects).await;
    let mut other = Replica::start(&engine, &effects).await;
    runner.peer.start("books", json!({})).await;
    operations(&mut runner).await;
    operations(&mut other).await;

    let task = runner.peer.start("books", json!({})).await;
    let begun = operations(&mut runner).await;
    assert_eq!(begun[..3], ["put holder", "put held", "put tasks"]);
    // The runner reads changes that were made before its watch.
    assert_eq!(begun[3..], ["watch tasks", "get tasks"]);
    sleep(Duration::from_secs(30)).await;
    operations(&mut runner).await;

    other.peer.look(&task).await;
    assert_eq!(operations(&mut other).await, ["get tasks"]);
    sleep(Duration::from_secs(30)).await;
    assert_eq!(operations(&mut runner).await, [""; 0], "it waits");
    assert_eq!(operations(&mut other).await, [""; 0], "it waits elsewhere");

    attend(&mut other.peer, &task).await;
    let answered = operations(&mut other).await;
    assert_eq!(
        answered,
        ["get tasks", "get tasks", "put tasks"],
        "poll and update"
    );
    // The runner reads the answer, stores it in the journal, and reads its own change.
    let received = operations(&mut runner).await;
    assert_eq!(received, ["get tasks", "put tasks", "get tasks"]);
    sleep(Duration::from_secs(10)).await;
    let ended = operations(&mut runner).await;
    assert_eq!(ended, ["put tasks", "remove held"]);
}
