//! One run of a storm: its steps, and the checks after the last fault.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::client::{Call, Ended, Session, Tool};
use super::judge::{self, Done};
use super::link::Fault;
use super::plant::Plant;
use super::replica::{Replica, Replicas};

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

    fn millis(&mut self, most: u64) -> Duration {
        Duration::from_millis(self.roll(most))
    }
}

struct Storm {
    dice: Dice,
    replicas: Arc<Replicas>,
    sessions: Vec<Arc<Session>>,
    /// Sessions whose end a replica accepted, and when.
    ended: Vec<(Arc<Session>, Instant)>,
    calls: JoinSet<Done>,
}

/// Plays the steps of a seed. Returns the failures.
pub(super) async fn run(seed: u64, plant: Option<Plant>) -> Vec<String> {
    let mut storm = Storm::new(seed, plant).await;
    for step in 0..STEPS {
        storm.step(step).await;
    }
    storm.check().await
}

impl Storm {
    async fn new(seed: u64, plant: Option<Plant>) -> Self {
        let replicas = Arc::new(Replicas::start(3, plant).await);
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
        }
    }

    async fn step(&mut self, step: usize) {
        match self.dice.roll(18) {
            0..=6 => self.call(step),
            7..=9 => {
                let fault = self.fault();
                self.any().set_fault(fault);
            }
            10 if self.dice.roll(3) == 0 => {
                let index = self.dice.pick(3);
                self.replicas.kill(index).await;
            }
            11 if self.dice.roll(4) == 0 => self.end().await,
            12 if self.dice.roll(20) == 0 => self.replicas.lose_content(),
            13 if self.dice.roll(4) == 0 => {
                let span = Duration::from_secs(5) + self.dice.millis(15_000);
                self.any().pause(span);
            }
            14 if self.dice.roll(2) == 0 => self.any().cut(),
            _ => sleep(self.dice.millis(3_000)).await,
        }
    }

    fn any(&mut self) -> Arc<Replica> {
        Arc::clone(&self.replicas.all()[self.dice.pick(3)])
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
        let place = self.dice.pick(2 * SESSIONS);
        let is_cut = self.dice.roll(6) == 0;
        let call = Arc::new(Call {
            session: self.sessions.get(place).cloned(),
            tool,
            key: format!("call {step}"),
            cut: is_cut.then(|| self.dice.millis(1_500)),
            trace: Mutex::default(),
        });
        let replicas = Arc::clone(&self.replicas);
        self.calls.spawn(async move {
            let ended = timeout(MAX_CALL, call.run(&replicas)).await;
            let (ended, at) = (ended.unwrap_or(Ended::Hung), Instant::now());
            Done { call, ended, at }
        });
    }

    /// Ends a session.
    async fn end(&mut self) {
        if let Some(session) = self.sessions.pop() {
            // Without an answer, the session may have ended or not.
            if session.end(&self.replicas).await {
                self.ended.push((session, Instant::now()));
            }
        }
    }

    /// Ends all faults, and checks the calls and the sessions.
    async fn check(mut self) -> Vec<String> {
        for replica in self.replicas.all() {
            replica.set_fault(Fault::None);
        }
        let mut failures = Vec::new();
        while let Some(done) = self.calls.join_next().await {
            let done = done.expect("no panic");
            failures.extend(judge::failure(&self.replicas, &done));
        }
        sleep(RECOVERY).await;
        for replica in self.replicas.all() {
            failures.extend(self.check_at(&replica).await);
        }
        failures
    }

    /// Checks the sessions at one replica.
    async fn check_at(&self, replica: &Arc<Replica>) -> Vec<String> {
        let losses = self.replicas.losses.lock().expect("no panic").clone();
        let mut failures = Vec::new();
        for session in &self.sessions {
            let status = session.status_at(replica).await;
            let has_no_key = judge::began_after(replica, &losses) && status == Some(404);
            if status != Some(200) && !has_no_key {
                failures.push(format!("a session has status {status:?}"));
            }
        }
        for (session, ended) in &self.ended {
            let status = session.status_at(replica).await;
            let may_revive = losses.iter().any(|loss| loss >= ended) && status == Some(200);
            if status != Some(404) && !may_revive {
                failures.push(format!("the ended session has status {status:?}"));
            }
        }
        failures
    }
}
