//! The suite of faults, through a proxy that breaks the connections of a store.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_store::Store;
use pintle_store::conformance::{
    Breakable, FarAndNear, Fault, Part, Survival, Waiting, run_faults,
};
use pintle_testkit::stores::{Target, TcpProxy};
use tokio::task::{JoinSet, block_in_place};
use tokio::time::timeout;

use crate::support::{Engine, Stop, fresh, open};

/// Longest time for the suite.
const LIMIT: Duration = Duration::from_secs(600);

/// Answers before a connection of a store carries out its first operation.
const HANDSHAKE_ANSWERS: usize = 8;

/// Schemas of a server behind a proxy.
struct Broken {
    engine: Mutex<Engine>,
    proxy: TcpProxy,
    faults: Vec<Fault>,
}

impl Broken {
    async fn start(faults: Vec<Fault>) -> Option<Self> {
        let engine = Engine::start()?;
        let target = Target::Unix(engine.socket());
        let proxy = TcpProxy::start(target, HANDSHAKE_ANSWERS).await;
        Some(Self {
            engine: Mutex::new(engine),
            proxy: proxy.expect("starts"),
            faults,
        })
    }

    fn restart(&self) {
        let mut engine = self.engine.lock().expect("no panic");
        engine.stop(Stop::Crash);
        engine.resume();
        self.proxy.set_target(Target::Unix(engine.socket()));
    }
}

impl Breakable for Broken {
    fn open(&self) -> Waiting<'_, FarAndNear> {
        Box::pin(async {
            let schema = fresh("broken");
            let near = self.engine.lock().expect("no panic").url(&schema);
            let near: Arc<dyn Store> = Arc::new(open(&near).await);
            let address = self.proxy.address();
            let far =
                format!("postgres://postgres@{address}/postgres?prefix={schema}&connections=2");
            let far = open(&format!("{far}&operation_timeout=1000")).await;
            FarAndNear {
                far: Arc::new(far),
                near,
            }
        })
    }

    fn faults(&self) -> Vec<Fault> {
        self.faults.clone()
    }

    fn begin(&self, fault: Fault) -> Waiting<'_, ()> {
        self.proxy.set_fault(Some(fault));
        if fault == Fault::Restart {
            block_in_place(|| self.restart());
        }
        Box::pin(ready(()))
    }

    fn end(&self) -> Waiting<'_, ()> {
        self.proxy.set_fault(None);
        Box::pin(ready(()))
    }

    fn within<'a>(&'a self, limit: Duration, work: Waiting<'a, ()>) -> Waiting<'a, bool> {
        Box::pin(async move { timeout(limit, work).await.is_ok() })
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        Box::pin(async move {
            let tasks: JoinSet<()> = parts.into_iter().collect();
            tasks.join_all().await;
        })
    }

    /// The tables of logs and counters are not logged, so a crash empties them.
    fn survival(&self) -> Survival {
        Survival::Records
    }

    /// One operation may wait for a connection and then for its answer.
    fn operation_limit(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn recovery_limit(&self) -> Duration {
        Duration::from_secs(60)
    }
}

async fn run(faults: Vec<Fault>) -> Option<usize> {
    let broken = Broken::start(faults).await?;
    let ended = timeout(LIMIT, run_faults(&broken)).await;
    ended.expect("the suite ends");
    Some(broken.proxy.cuts())
}

// hardening: H-187, H-189, H-191
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_connection_that_ends_inside_an_operation_loses_no_data() {
    let is_cut = |fault: &Fault| matches!(fault, Fault::Cut { .. } | Fault::LoseAnswers);
    let cuts = run(Fault::all().into_iter().filter(is_cut).collect()).await;
    assert!(cuts.is_none_or(|cuts| cuts > 50), "{cuts:?} cuts");
}

// hardening: H-187, H-189, H-191
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_pauses_is_away_or_restarts_loses_no_data() {
    run(vec![Fault::Pause, Fault::Away, Fault::Restart]).await;
}
