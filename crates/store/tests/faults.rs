//! The suite of faults passes with a correct store, and fails with each mistake.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle_store::conformance::{
    Breakable, FarAndNear, Fault, Part, Survival, Waiting, run_faults,
};

use crate::support::layer::Layered;
use crate::support::link::{Far, Mistake, Near, Network};
use crate::support::{on_threads, wait, wait_at_most};

/// Stores in memory behind a simulated connection.
struct Linked {
    mistake: Option<Mistake>,
    faults: Vec<Fault>,
    network: Mutex<Arc<Network>>,
}

impl Linked {
    fn with(mistake: Option<Mistake>, faults: Vec<Fault>) -> Self {
        let network = Mutex::new(Network::new(mistake));
        Self {
            mistake,
            faults,
            network,
        }
    }

    fn network(&self) -> Arc<Network> {
        Arc::clone(&self.network.lock().expect("no panic"))
    }
}

impl Breakable for Linked {
    fn open(&self) -> Waiting<'_, FarAndNear> {
        let network = Network::new(self.mistake);
        *self.network.lock().expect("no panic") = Arc::clone(&network);
        Box::pin(ready(FarAndNear {
            far: Arc::new(Layered(Far(Arc::clone(&network)))),
            near: Arc::new(Layered(Near(network))),
        }))
    }

    fn faults(&self) -> Vec<Fault> {
        self.faults.clone()
    }

    fn begin(&self, fault: Fault) -> Waiting<'_, ()> {
        self.network().begin(fault);
        Box::pin(ready(()))
    }

    fn end(&self) -> Waiting<'_, ()> {
        self.network().end();
        Box::pin(ready(()))
    }

    fn within<'a>(&'a self, limit: Duration, work: Waiting<'a, ()>) -> Waiting<'a, bool> {
        Box::pin(wait_at_most(work, limit))
    }

    fn together(&self, parts: Vec<Part>) -> Part {
        on_threads(parts)
    }

    fn survival(&self) -> Survival {
        Survival::Everything
    }

    fn operation_limit(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn recovery_limit(&self) -> Duration {
        Duration::from_secs(1)
    }
}

/// Returns the message of the check that a mistake fails.
fn failure(mistake: Mistake) -> String {
    let run = move || wait(run_faults(&Linked::with(Some(mistake), Fault::all())));
    let panic = std::panic::catch_unwind(run).expect_err("the suite fails");
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().expect("a message")).to_owned(),
    }
}

// hardening: H-187, H-189, H-191
#[test]
fn a_store_behind_a_correct_connection_passes_in_every_fault() {
    wait(run_faults(&Linked::with(None, Fault::all())));
}

#[test]
fn each_mistake_fails_a_check() {
    for (mistake, expected) in [
        (Mistake::RepeatsAppends, "an acknowledged batch occurs once"),
        (Mistake::RepeatsWrites, "an operation without a competitor"),
        (
            Mistake::AcknowledgesEarly,
            "an acknowledged batch occurs once",
        ),
        (
            Mistake::SplitsBatches,
            "a batch is there once or not at all",
        ),
        (
            Mistake::WaitsWithoutLimit,
            "an operation takes longer than 1s",
        ),
        (Mistake::NeverReconnects, "the store does not work 1s after"),
        (Mistake::LosesWakeUps, "wakes the watcher"),
        (Mistake::GivesUp, "a fault may end"),
    ] {
        let failure = failure(mistake);
        assert!(failure.contains(expected), "{mistake:?}: {failure}");
    }
}

#[test]
#[should_panic(expected = "no fault reached a write")]
fn a_connection_that_never_breaks_fails_the_suite() {
    wait(run_faults(&Linked::with(None, vec![Fault::Restart])));
}
