//! Random faults in virtual time. Clients of both eras call three replicas of a server in turn. Meanwhile replicas are
//! killed, their ways to the store fail, and the store forgets.
//!
//! `PINTLE_SEEDS=1000` runs that many seeds, and `PINTLE_SEED=426` runs one seed alone:
//! `PINTLE_SEED=426 cargo test -p pintle --test integration storm`. The order of events depends on the seed. Ids and keys are
//! random in each run, so a rare failure may need more than one run.

mod client;
#[path = "../../runtime/tests/fleet/link.rs"]
#[expect(dead_code, reason = "the tests of the fleet use the rest")]
mod link;
mod replica;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use client::{Ended, Session, Tool, call_alone};
use link::Fault;
use replica::Replicas;

/// Steps of one run.
const STEPS: usize = 60;
const SESSIONS: usize = 4;
/// Longest time of a call, with its faults.
const MAX_CALL: Duration = Duration::from_secs(300);
/// After this time without faults all replicas serve all sessions again.
const RECOVERY: Duration = Duration::from_secs(40);

/// A generator of numbers that a seed determines.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick(&mut self, sides: usize) -> usize {
        usize::try_from(self.roll(sides as u64)).expect("small")
    }
}

/// A call and its end.
struct Call {
    key: String,
    ended: Ended,
}

struct Storm {
    dice: Dice,
    replicas: Arc<Replicas>,
    sessions: Vec<Arc<Session>>,
    /// Sessions whose end a replica accepted.
    ended: Vec<Arc<Session>>,
    calls: JoinSet<Call>,
    has_tried_end: bool,
    has_forgotten: bool,
    has_killed: bool,
}

impl Storm {
    async fn new(seed: u64) -> Self {
        let replicas = Arc::new(Replicas::start(3).await);
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            let session = Session::open(&replicas).await.expect("no fault yet");
            sessions.push(Arc::new(session));
        }
        Self {
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            replicas,
            sessions,
            ended: Vec::new(),
            calls: JoinSet::new(),
            has_tried_end: false,
            has_forgotten: false,
            has_killed: false,
        }
    }

    async fn step(&mut self, step: usize) {
        match self.dice.roll(16) {
            0..=6 => self.call(step),
            7..=9 => {
                let fault = self.fault();
                let index = self.dice.pick(3);
                self.replicas.all()[index].link.set(fault);
            }
            10 if self.dice.roll(3) == 0 => {
                self.has_killed = true;
                let index = self.dice.pick(3);
                self.replicas.kill(index).await;
            }
            11 if self.dice.roll(4) == 0 => self.end().await,
            12 if self.dice.roll(20) == 0 => {
                self.has_forgotten = true;
                self.replicas.host.lose_content();
            }
            _ => sleep(Duration::from_millis(self.dice.roll(3_000))).await,
        }
    }

    fn fault(&mut self) -> Fault {
        let slow = Fault::Slow(Duration::from_millis(30), Duration::from_millis(400));
        match self.dice.roll(6) {
            0 => Fault::Refused,
            1 => Fault::Silent,
            2 => Fault::AnswersLost,
            3 => slow,
            _ => Fault::None,
        }
    }

    fn call(&mut self, step: usize) {
        let tool = [Tool::Echo, Tool::Ask][self.dice.pick(2)];
        let (replicas, key) = (Arc::clone(&self.replicas), format!("call {step}"));
        let place = self.dice.pick(2 * SESSIONS);
        let session = self.sessions.get(place).cloned();
        self.calls.spawn(async move {
            let ended = match &session {
                Some(session) => timeout(MAX_CALL, session.call(&replicas, tool, &key)).await,
                None => timeout(MAX_CALL, call_alone(&replicas, tool, &key)).await,
            };
            let ended = ended.unwrap_or(Ended::Hung);
            Call { key, ended }
        });
    }

    /// Ends a session.
    async fn end(&mut self) {
        if let Some(session) = self.sessions.pop() {
            self.has_tried_end = true;
            // Without an answer, the session may have ended or not.
            if session.end(&self.replicas).await {
                self.ended.push(session);
            }
        }
    }

    /// Ends all faults, and checks the calls and the sessions.
    async fn check(mut self) {
        for replica in self.replicas.all() {
            replica.link.set(Fault::None);
        }
        while let Some(call) = self.calls.join_next().await {
            self.check_call(&call.expect("no panic"));
        }
        sleep(RECOVERY).await;
        for replica in self.replicas.all() {
            for session in &self.sessions {
                let status = session.status_at(&replica).await;
                let may_be_unknown = self.has_forgotten && status == Some(404);
                assert!(status == Some(200) || may_be_unknown, "{status:?}");
            }
            for session in &self.ended {
                let status = session.status_at(&replica).await;
                let may_revive = self.has_forgotten && status == Some(200);
                assert!(status == Some(404) || may_revive, "{status:?}");
            }
        }
    }

    fn check_call(&self, Call { key, ended }: &Call) {
        let effects = self.replicas.effects.lock().expect("no panic");
        let effects = effects.get(key).copied().unwrap_or_default();
        assert!(effects <= 1, "{key} had its effect {effects} times");
        let is_explained = match ended {
            Ended::Right => effects == 1,
            Ended::Killed => self.has_killed,
            // The store forgot an answer, and the replica that could repeat it is gone.
            Ended::Hung => self.has_forgotten && self.has_killed,
            Ended::Status(503) | Ended::NotAccepted => true,
            Ended::Status(404) | Ended::Cut => self.has_tried_end || self.has_forgotten,
            // The session ended, or the store lost the keys or an answer.
            Ended::Wrong(_) => self.has_tried_end || self.has_forgotten,
            Ended::Status(_) => false,
        };
        assert!(is_explained, "{key}: {ended:?}, {effects} effects");
    }
}

/// Prints the command that repeats a seed, if the seed fails.
struct Repeat(u64);

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let seed = self.0;
            println!("PINTLE_SEED={seed} cargo test -p pintle --test integration storm");
        }
    }
}

/// Returns the seeds of a run: the one of `PINTLE_SEED`, or as many as `PINTLE_SEEDS`.
fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok()?.parse().ok();
    match number("PINTLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PINTLE_SEEDS").unwrap_or(50),
    }
}

/// Plays one seed. Its runtime ends with it, so nothing of it runs beside the next seed.
fn play(seed: u64) {
    let _repeat = Repeat(seed);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut storm = Storm::new(seed).await;
        for step in 0..STEPS {
            storm.step(step).await;
        }
        storm.check().await;
    });
}

#[test]
fn random_faults_end_each_call_once_and_lose_no_accepted_answer() {
    seeds().for_each(play);
}
