//! The replicas of a storm. A client that waits for a killed replica loses its connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use http::Request;
use pintle::http::{HttpService, ResponseBody};
use pintle::prelude::*;
use pintle::server::{App, StateBackend};
use pintle::store::Store;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tower_service::Service as _;

use super::gate::Gate;
use super::link::{Fault, Host};
use super::plant::{Dropped, Plant, Swapped};

/// How often each call had its effect, by key.
pub(super) type Effects = Arc<Mutex<HashMap<String, usize>>>;

/// A server over its own link to the store.
pub(super) struct Replica {
    service: HttpService<App>,
    gate: Arc<Gate>,
    is_killed: watch::Sender<bool>,
    pub(super) started: Instant,
    pub(super) killed: OnceLock<Instant>,
    /// When the store was not in reach: the beginnings, and the ends.
    away: Mutex<Vec<(Instant, Option<Instant>)>>,
}

/// The replicas of one store.
pub(super) struct Replicas {
    host: Arc<Host>,
    pub(super) effects: Effects,
    pub(super) plant: Option<Plant>,
    pub(super) swapped: Swapped,
    pub(super) dropped: Dropped,
    /// When the store lost its content.
    pub(super) losses: Mutex<Vec<Instant>>,
    running: Mutex<Vec<Arc<Replica>>>,
    requests: AtomicUsize,
}

#[tool]
async fn echo(key: String, effects: State<Effects>) -> String {
    note(&effects, &key);
    key
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Word {
    word: String,
}

/// Asks the client for a word.
#[tool]
async fn ask(key: String, ctx: Context, effects: State<Effects>) -> Result<String> {
    let asked = ctx.elicit::<Word>("a word").await?;
    let word = asked.accepted().ok_or("declined")?.word;
    note(&effects, &key);
    Ok(format!("{key} {word}"))
}

fn note(effects: &Effects, key: &str) {
    let mut effects = effects.lock().expect("no panic");
    *effects.entry(key.to_owned()).or_default() += 1;
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replica")
            .field("started", &self.started)
            .field("killed", &self.killed.get())
            .field("away", &*self.away.lock().expect("no panic"))
            .finish_non_exhaustive()
    }
}

impl Replica {
    async fn start(host: &Arc<Host>, effects: &Effects, plant: Option<Plant>) -> Arc<Self> {
        let gate = Arc::new(Gate::new(host.link(), plant));
        let state = StateBackend::open(Arc::clone(&gate) as Arc<dyn Store>, None).await;
        let server = Server::new("storm", "1.0.0")
            .state(Arc::clone(effects))
            .state_backend(state.expect("the store answers"))
            .tool::<echo>()
            .tool::<ask>();
        Arc::new(Self {
            service: server.into_http().expect("starts"),
            gate,
            is_killed: watch::Sender::new(false),
            started: Instant::now(),
            killed: OnceLock::new(),
            away: Mutex::default(),
        })
    }

    /// Sends a request. `None` if the replica is killed meanwhile.
    pub(super) async fn send(
        &self,
        request: Request<String>,
    ) -> Option<http::Response<ResponseBody>> {
        let mut service = self.service.clone();
        let sent = async { service.call(request).await.expect("never fails") };
        self.unless_killed(sent).await
    }

    /// Waits for a result of this replica. `None` if the replica is killed meanwhile.
    pub(super) async fn unless_killed<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let mut is_killed = self.is_killed.subscribe();
        tokio::select! {
            biased;
            _ = is_killed.wait_for(|is_killed| *is_killed) => None,
            result = self.gate.unless_paused(work) => Some(result),
        }
    }

    /// Begins and ends the faults of the link.
    pub(super) fn set_fault(&self, fault: Fault) {
        let mut away = self.away.lock().expect("no panic");
        let now = Instant::now();
        for (_, end) in away.iter_mut() {
            end.get_or_insert(now);
        }
        if fault != Fault::None {
            away.push((now, None));
        }
        self.gate.link.set(fault);
    }

    /// Cuts the connection to the store, which works again at once.
    pub(super) fn cut(&self) {
        self.note_away(Duration::ZERO);
        self.gate.cut();
    }

    /// Stops the operations and the responses of this replica. Its timers continue.
    pub(super) fn pause(self: &Arc<Self>, span: Duration) {
        if self.gate.pause(true) {
            self.note_away(span);
            let replica = Arc::clone(self);
            tokio::spawn(async move {
                sleep(span).await;
                replica.gate.pause(false);
            });
        }
    }

    fn note_away(&self, span: Duration) {
        let now = Instant::now();
        let mut away = self.away.lock().expect("no panic");
        // Before the open end, which `set_fault` sets.
        away.insert(0, (now, Some(now + span)));
    }

    /// Returns true if the store was out of reach in a part of this time, or the replica was killed.
    pub(super) fn was_away(&self, from: Instant, to: Instant) -> bool {
        let overlaps = |&(begin, end): &(Instant, Option<Instant>)| {
            begin <= to && end.is_none_or(|end| end >= from)
        };
        self.away.lock().expect("no panic").iter().any(overlaps) || self.was_killed(to)
    }

    pub(super) fn was_killed(&self, until: Instant) -> bool {
        self.killed.get().is_some_and(|killed| *killed <= until)
    }
}

impl Replicas {
    pub(super) async fn start(count: usize, plant: Option<Plant>) -> Self {
        let (host, effects) = (Host::new(), Effects::default());
        let mut running = Vec::new();
        for index in 0..count {
            let forgets = plant == Some(Plant::ForgottenEnd) && index > 0;
            let plant = plant.filter(|_| !forgets);
            running.push(Replica::start(&host, &effects, plant).await);
        }
        Self {
            host,
            effects,
            plant,
            swapped: Swapped::default(),
            dropped: Dropped::default(),
            losses: Mutex::default(),
            running: Mutex::new(running),
            requests: AtomicUsize::new(0),
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Replica>> {
        self.running.lock().expect("no panic").clone()
    }

    /// Returns the replica of the next request.
    pub(super) fn next(&self) -> Arc<Replica> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let running = self.all();
        Arc::clone(&running[number % running.len()])
    }

    /// Kills a replica, and starts another one.
    pub(super) async fn kill(&self, index: usize) {
        let killed = Arc::clone(&self.all()[index]);
        // Nothing of its tasks reaches the store from now on.
        killed.set_fault(Fault::Silent);
        let _ = killed.killed.set(Instant::now());
        killed.is_killed.send_replace(true);
        let plant = self.plant.filter(|plant| *plant != Plant::ForgottenEnd);
        let started = Replica::start(&self.host, &self.effects, plant).await;
        self.running.lock().expect("no panic")[index] = started;
    }

    /// Drops the content of the store.
    pub(super) fn lose_content(&self) {
        let mut losses = self.losses.lock().expect("no panic");
        losses.push(Instant::now());
        self.host.lose_content();
    }
}
