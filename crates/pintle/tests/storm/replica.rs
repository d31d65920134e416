//! The replicas of a storm. A client that waits for a killed replica loses its connection.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::Request;
use pintle::http::{HttpService, ResponseBody};
use pintle::prelude::*;
use pintle::server::{App, StateBackend};
use pintle::store::Store;
use tokio::sync::watch;
use tower_service::Service as _;

use super::link::{Fault, Host, Link};

/// How often each call had its effect, by key.
pub(super) type Effects = Arc<Mutex<HashMap<String, usize>>>;

/// A server over its own link to the store.
pub(super) struct Replica {
    service: HttpService<App>,
    pub(super) link: Arc<Link>,
    is_killed: watch::Sender<bool>,
}

/// The replicas of one store.
pub(super) struct Replicas {
    pub(super) host: Arc<Host>,
    pub(super) effects: Effects,
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

impl Replica {
    async fn start(host: &Arc<Host>, effects: &Effects) -> Arc<Self> {
        let link = host.link();
        let state = StateBackend::open(Arc::clone(&link) as Arc<dyn Store>, None).await;
        let server = Server::new("storm", "1.0.0")
            .state(Arc::clone(effects))
            .state_backend(state.expect("the store answers"))
            .tool::<echo>()
            .tool::<ask>();
        Arc::new(Self {
            service: server.into_http().expect("starts"),
            link,
            is_killed: watch::Sender::new(false),
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
            result = work => Some(result),
        }
    }
}

impl Replicas {
    pub(super) async fn start(count: usize) -> Self {
        let (host, effects) = (Host::new(), Effects::default());
        let mut running = Vec::new();
        for _ in 0..count {
            running.push(Replica::start(&host, &effects).await);
        }
        Self {
            host,
            effects,
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
        killed.link.set(Fault::Silent);
        killed.is_killed.send_replace(true);
        let started = Replica::start(&self.host, &self.effects).await;
        self.running.lock().expect("no panic")[index] = started;
    }
}
