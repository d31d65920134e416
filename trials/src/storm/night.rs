//! One night: some clients, one server, and the weather between them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pintle::client::{Client, EraMode};
use pintle::model::Revision;
use pintle::proto::Limits;
use pintle::runtime::PipeOptions;
use pintle::server::{App, ServerHandle};
use pintle::store::{MemoryStore, Store};
use pintle_testkit::Rng;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::caller::{Caller, Unrun};
use super::history::{History, Violation};
use super::net::{Net, Way};
use super::weather::Weather;
use crate::town::{Seen, town_for};

/// How long tasks are kept.
const KEPT: Duration = Duration::from_secs(300);
/// Time in fair weather after which all callers have ended.
const MORNING: Duration = Duration::from_secs(3_600);

/// Plays one night.
///
/// # Errors
///
/// [`Violation`].
pub fn night(seed: u64) -> Result<(), Violation> {
    let history = History::new(seed, "nights");
    let runtime = runtime();
    let log = history.clone();
    runtime.block_on(async move { Night::new(seed, log).play().await });
    drop(runtime);
    history.end()
}

/// A runtime of one thread on a virtual clock.
pub(super) fn runtime() -> Runtime {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime")
}

/// Shared knowledge of callers about the night. Clones share it.
#[derive(Clone)]
pub(super) struct Sky {
    is_rough: bool,
    has_restarted: Arc<AtomicBool>,
    handle: Arc<Mutex<ServerHandle>>,
}

impl Sky {
    /// Whether anything breaks in this night. In a fair one every call succeeds.
    pub(super) fn is_rough(&self) -> bool {
        self.is_rough
    }

    /// Whether the server was restarted: it knows nothing any more then.
    pub(super) fn has_restarted(&self) -> bool {
        self.has_restarted.load(Ordering::Relaxed)
    }

    /// Changes the resource that callers listen to.
    pub(super) fn change_note(&self) {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        handle.changes().resource(crate::town::NOTE);
    }

    fn follow(&self, handle: ServerHandle) {
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = handle;
    }
}

struct Night {
    rng: Rng,
    history: History,
    net: Net,
    sky: Sky,
    seen: Seen,
    store: Arc<dyn Store>,
    limits: Arc<Limits>,
    unrun: Unrun,
    /// How many conversations can have requests running.
    conversations: usize,
}

impl Night {
    fn new(seed: u64, history: History) -> Self {
        let mut rng = Rng::new(seed);
        let way = if rng.once_in(2) { Way::Pipe } else { Way::Http };
        let is_rough = !rng.once_in(4);
        let mut limits = Limits::default();
        // Over HTTP a request beyond the limit is rejected; on a pipe it waits.
        limits.max_running_requests = match way {
            Way::Pipe => 1 + rng.below(5),
            Way::Http => limits.max_running_requests,
        };
        limits.call_idle_timeout = Duration::from_secs(20);
        limits.call_total_timeout = Duration::from_secs(60);
        let limits = Arc::new(limits);
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let seen = Seen::default();
        let (app, handle) = server(&seen, &store);
        let mut pipes = PipeOptions::default();
        pipes.limits = Arc::clone(&limits);
        let weather = Arc::new(Weather::new(rng.number()));
        let requests = limits.max_running_requests;
        history.note(format!(
            "{way:?}, rough: {is_rough}, {requests} requests at a time"
        ));
        Self {
            rng,
            net: Net::new(way, app, pipes, weather),
            sky: Sky {
                is_rough,
                has_restarted: Arc::default(),
                handle: Arc::new(Mutex::new(handle)),
            },
            history,
            seen,
            store,
            limits,
            unrun: Unrun::default(),
            conversations: 0,
        }
    }

    async fn play(mut self) {
        let mut clients = JoinSet::new();
        for name in 0..1 + self.rng.below(3) {
            clients.spawn(self.client(name));
        }
        for _ in 0..self.rng.below(30) {
            sleep(self.rng.up_to(Duration::from_millis(500))).await;
            self.change();
            self.check();
        }
        self.net.weather.clear();
        self.history.note("the sky clears");
        let all = async { while clients.join_next().await.is_some() {} };
        if timeout(MORNING, all).await.is_err() {
            self.history.broken("a client hangs");
        }
        drop(clients);
        self.check();
        self.dawn().await;
    }

    /// One client, from its first call to its last.
    fn client(&mut self, name: usize) -> impl Future<Output = ()> + use<> {
        let mut rng = Rng::new(self.rng.number());
        let modes = [
            EraMode::Auto,
            EraMode::Legacy,
            EraMode::ModernOnly,
            EraMode::Pinned(Revision::V2025_06_18),
        ];
        let mode = rng.pick(&modes).copied().unwrap_or_default();
        self.history.note(format!("client {name} is {mode:?}"));
        let builder = Client::builder().mode(mode).limits((*self.limits).clone());
        self.conversations += 1;
        let net = self.net.clone();
        let (sky, history, unrun) = (self.sky.clone(), self.history.clone(), self.unrun.clone());
        async move {
            let client = match net.connect(builder).await {
                Ok(client) => client,
                Err(error) if sky.is_rough() => {
                    return history.note(format!("client {name} did not connect: {error:?}"));
                }
                Err(error) => return history.broken(format!("no connection: {error:?}")),
            };
            let caller = Caller {
                name,
                client: client.clone(),
                sky,
                history,
                unrun,
            };
            deeds(&caller, &mut rng).await;
            drop(caller);
            if rng.once_in(2) {
                client.close().await;
            }
        }
    }

    /// The weather changes, or something breaks.
    fn change(&mut self) {
        let weather = &self.net.weather;
        let most = if self.sky.is_rough { 9 } else { 3 };
        match self.rng.below(most) {
            0 => {
                let latency = self.rng.up_to(Duration::from_millis(200));
                self.history.note(format!("latency {latency:?}"));
                weather.change(|now| now.latency = latency);
            }
            1 => {
                let piece = 1 + self.rng.below(200);
                self.history.note(format!("pieces of {piece}"));
                weather.change(|now| now.piece = piece);
            }
            2 => self.history.note("nothing happens"),
            3 | 4 => {
                self.history.note("all links are cut");
                weather.change(|now| now.cuts += 1);
            }
            5 => {
                let direction = self.rng.below(2);
                self.history
                    .note(format!("direction {direction} is closed"));
                weather.change(|now| now.closed[direction] += 1);
            }
            6 | 7 => {
                let direction = self.rng.below(2);
                weather.change(|now| now.stalled[direction] ^= true);
                self.history
                    .note(format!("direction {direction} stalls, or goes on"));
            }
            _ => self.restart(),
        }
    }

    fn restart(&mut self) {
        self.history.note("the server is restarted");
        self.sky.has_restarted.store(true, Ordering::Relaxed);
        let (app, handle) = server(&self.seen, &self.store);
        self.net.restart(app);
        self.sky.follow(handle);
    }

    /// Checks the promises that hold at any moment.
    fn check(&self) {
        for (text, times) in self.seen.started_twice() {
            // A process that takes over a task may run it again.
            if !self.sky.has_restarted() || !self.seen.is_errand(&text) {
                let text: String = text.chars().take(40).collect();
                self.history.broken(format!("{text} ran {times} times"));
            }
        }
        for text in self.unrun.texts() {
            if self.seen.has_started(&text) {
                let text: String = text.chars().take(40).collect();
                self.history
                    .broken(format!("{text} ran although its client got an error"));
            }
        }
    }

    /// All callers have left: nothing runs, nothing is connected, nothing waits.
    async fn dawn(self) {
        sleep(MORNING).await;
        let running = self.seen.running();
        if running > 0 {
            self.history
                .broken(format!("{running} handlers run at the end"));
        }
        let connections = self.net.connections();
        if connections > 0 {
            self.history
                .broken(format!("{connections} connections are open at the end"));
        }
        self.check();
        let Self {
            net,
            store,
            history,
            ..
        } = self;
        drop((net, store));
        sleep(MORNING).await;
        let tasks = Handle::current().metrics().num_alive_tasks();
        if tasks > 0 {
            history.broken(format!("{tasks} tasks of the runtime are left at the end"));
        }
    }
}

async fn deeds(caller: &Caller, rng: &mut Rng) {
    let mut deeds = JoinSet::new();
    for nth in 0..2 + rng.below(10) {
        deeds.spawn(caller.clone().deed(nth, Rng::new(rng.number())));
        sleep(rng.up_to(Duration::from_millis(700))).await;
    }
    while deeds.join_next().await.is_some() {}
}

fn server(seen: &Seen, store: &Arc<dyn Store>) -> (App, ServerHandle) {
    let server = town_for(KEPT, seen).store(Arc::clone(store));
    let handle = server.handle();
    (server.build().expect("a server"), handle)
}
