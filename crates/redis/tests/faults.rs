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

use crate::support::{Engine, fresh, open};

/// Longest time for the suite.
const LIMIT: Duration = Duration::from_secs(600);

/// Answers before a connection of a store carries out its first operation.
const HANDSHAKE_ANSWERS: usize = 2;

/// Options of a server that acknowledges no write before it is on the disk.
const DURABLE: [&str; 4] = ["--appendonly", "yes", "--appendfsync", "always"];

/// Prefixes of a server behind a proxy.
struct Broken {
    engine: Mutex<Engine>,
    proxy: TcpProxy,
    faults: Vec<Fault>,
    survival: Survival,
}

impl Broken {
    /// Returns `None` if the test must skip.
    async fn start(options: &[&str], survival: Survival, faults: Vec<Fault>) -> Option<Self> {
        let engine = Engine::start(options)?;
        let target = Target::Unix(engine.socket());
        let proxy = TcpProxy::start(target, HANDSHAKE_ANSWERS).await;
        Some(Self {
            engine: Mutex::new(engine),
            proxy: proxy.expect("starts"),
            faults,
            survival,
        })
    }

    fn restart(&self) {
        let mut engine = self.engine.lock().expect("no panic");
        engine.stop();
        engine.resume();
    }

    /// Runs the suite, and returns the number of connections that a cut ended.
    async fn run(&self) -> usize {
        let ended = timeout(LIMIT, run_faults(self)).await;
        ended.expect("the suite ends");
        self.proxy.cuts()
    }
}

impl Breakable for Broken {
    fn open(&self) -> Waiting<'_, FarAndNear> {
        Box::pin(async {
            let prefix = fresh("broken");
            let near = self.engine.lock().expect("no panic").url(&prefix);
            let near: Arc<dyn Store> = Arc::new(open(&near).await);
            let address = self.proxy.address();
            let far = open(&format!("redis://{address}?prefix={prefix}")).await;
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

    fn survival(&self) -> Survival {
        self.survival
    }

    /// One operation may wait for a connection and then for its answer.
    fn operation_limit(&self) -> Duration {
        Duration::from_secs(5)
    }

    fn recovery_limit(&self) -> Duration {
        Duration::from_secs(60)
    }
}

// hardening: H-187, H-189, H-191
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_connection_that_ends_inside_an_operation_loses_no_data() {
    let is_cut = |fault: &Fault| matches!(fault, Fault::Cut { .. } | Fault::LoseAnswers);
    let faults = Fault::all().into_iter().filter(is_cut).collect();
    let Some(broken) = Broken::start(&[], Survival::Nothing, faults).await else {
        return;
    };
    let cuts = broken.run().await;
    assert!(cuts > 50, "{cuts} cuts");
}

// hardening: H-187, H-189, H-191
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_writes_to_the_disk_first_loses_no_data() {
    let faults = vec![Fault::Pause, Fault::Away, Fault::Restart];
    let Some(broken) = Broken::start(&DURABLE, Survival::Everything, faults).await else {
        return;
    };
    broken.run().await;
}

// hardening: H-187
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_works_after_its_server_has_lost_its_content() {
    let faults = vec![Fault::Away, Fault::Restart];
    let Some(broken) = Broken::start(&[], Survival::Nothing, faults).await else {
        return;
    };
    broken.run().await;
}
