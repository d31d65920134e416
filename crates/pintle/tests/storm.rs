//! Random faults in virtual time. Clients of both eras call three replicas of a server in turn. Meanwhile replicas are
//! killed and paused, their ways to the store and to clients fail, and the store forgets.
//!
//! `PINTLE_SEEDS=10000` runs that many seeds, and `PINTLE_SEED=426` runs one seed alone:
//! `PINTLE_SEED=426 cargo test -p pintle --test integration storm`. The order of events depends on the seed. Ids and keys are
//! random in each run, so a rare failure may need more than one run.
//!
//! Planted bugs show that the rules in `storm/judge.rs` find them.

mod client;
mod exchange;
mod gate;
mod judge;
#[path = "../../runtime/tests/fleet/link.rs"]
#[expect(dead_code, reason = "the tests of the fleet use the rest")]
mod link;
mod plant;
mod replica;
mod run;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{sleep, timeout};

use client::{Call, Ended, Session, Tool};
use link::Fault;
use plant::Plant;
use replica::Replicas;

/// Seeds in which a planted bug is found.
const PLANTED_SEEDS: u64 = 50;

/// Returns the seeds of a run: the one of `PINTLE_SEED`, or as many as `PINTLE_SEEDS`.
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok()?.parse().ok();
    match number("PINTLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PINTLE_SEEDS").unwrap_or(1_000),
    }
}

/// Plays one seed, and returns its failures. Its runtime ends with it, so nothing of it runs beside the next seed.
fn play(seed: u64, plant: Option<Plant>) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(run::run(seed, plant))
}

/// Plays each seed from `first` in steps of `step`, and returns the failed ones with their failures.
fn failed(first: usize, step: usize) -> Vec<(u64, Vec<String>)> {
    let played = seeds().skip(first).step_by(step);
    let played = played.map(|seed| (seed, play(seed, None)));
    played
        .filter(|(_, failures)| !failures.is_empty())
        .collect()
}

#[test]
fn random_faults_end_each_call_once_and_lose_no_accepted_answer() {
    let threads = std::thread::available_parallelism().map_or(1, |count| count.get());
    let all: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|worker| scope.spawn(move || failed(worker, threads)))
            .collect();
        let ended = workers.into_iter().map(|worker| worker.join());
        ended
            .flat_map(|failed| failed.expect("no seed panics"))
            .collect()
    });
    for (seed, failures) in &all {
        println!("PINTLE_SEED={seed} cargo test -p pintle --test integration storm");
        failures.iter().for_each(|failure| println!("  {failure}"));
    }
    assert_eq!(all.len(), 0, "seeds failed");
}

/// Plays seeds until one reports a failure with this text.
fn finds(plant: Plant, text: &str) {
    let mut failures = (0..PLANTED_SEEDS).flat_map(|seed| play(seed, Some(plant)));
    let found = failures.any(|failure| failure.contains(text));
    assert!(found, "{plant:?} is not found in {PLANTED_SEEDS} seeds");
}

#[test]
fn a_storm_finds_a_dropped_answer() {
    finds(Plant::DroppedAnswer, "Hung");
}

#[test]
fn a_storm_finds_an_answer_for_another_client() {
    finds(Plant::OtherSession, "Wrong");
}

#[test]
fn a_storm_finds_a_replica_that_forgets_the_end_of_a_session() {
    finds(
        Plant::ForgottenEnd,
        "the ended session has status Some(200)",
    );
}

/// The first attempt to join fails while a call waits for it, and the call joins. The part of the session follows the
/// news only later.
#[tokio::test(start_paused = true)]
async fn a_replica_that_joins_at_its_second_attempt_reads_earlier_answers() {
    let replicas = Replicas::start(2, None).await;
    let session = Session::open(&replicas).await.expect("no fault yet");
    let [home, _] = &replicas.all()[..] else {
        unreachable!("two replicas")
    };
    home.set_fault(Fault::Silent);
    sleep(Duration::from_millis(500)).await;
    home.set_fault(Fault::None);
    // The call is sent to the first replica, and the answer to the other one.
    replicas.next();
    let call = Call {
        session: Some(Arc::new(session)),
        tool: Tool::Ask,
        key: "call".to_owned(),
        cut: None,
        trace: Mutex::default(),
    };
    let ended = timeout(Duration::from_secs(60), call.run(&replicas)).await;
    assert_eq!(ended.ok(), Some(Ended::Right));
}

#[tokio::test(start_paused = true)]
async fn a_client_resumes_later_at_a_replica_that_has_not_joined() {
    let replicas = Replicas::start(2, None).await;
    let session = Session::open(&replicas).await.expect("no fault yet");
    let [home, other] = &replicas.all()[..] else {
        unreachable!("two replicas")
    };
    let mut asking = session.ask(home).await;
    assert!(asking.message(&replicas).await.is_ok(), "a question");
    let event = asking.event.take().expect("an event id");
    drop(asking);
    other.set_fault(Fault::Silent);
    assert_eq!(session.resume_at(other, &event).await, Some(503));
    other.set_fault(Fault::None);
    sleep(Duration::from_secs(20)).await;
    assert_eq!(session.resume_at(other, &event).await, Some(200));
}
