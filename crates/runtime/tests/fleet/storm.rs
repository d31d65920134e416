//! Random faults: replicas send messages and news while links fail, replicas die, processes are paused, and
//! the store forgets. `PINTLE_SEEDS` is the number of runs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::fleet::{DeliveryError, FleetOptions, NewsEvent, NewsFeed};
use tokio::time::{Instant, advance, sleep, timeout};

use super::link::{Fault, Host};
use super::recorder::{Recorder, number};
use super::{Replica, seconds};

const STEPS: u32 = 120;

/// A generator of numbers that a seed determines.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }
}

/// A replica with everything that observes it.
struct Member {
    replica: Replica,
    recorder: Arc<Recorder>,
    feed: NewsFeed,
}

impl Member {
    async fn join(host: &Arc<Host>) -> Self {
        let replica = Replica::join_with(host, FleetOptions::default()).await;
        let recorder = Recorder::at(&replica.fleet);
        let feed = replica.fleet.news();
        sleep(Duration::from_millis(1)).await;
        Self {
            replica,
            recorder,
            feed,
        }
    }

    /// Each message was acted on once.
    fn check_received(&self) {
        let received = self.recorder.received();
        let distinct: BTreeSet<u32> = received.iter().copied().collect();
        let is_once = distinct.len() == received.len();
        assert!(is_once, "a message was acted on twice");
    }

    /// The entries that arrived, and whether some were lost.
    async fn read_news(&mut self) -> (BTreeSet<u32>, bool) {
        let (mut entries, mut is_lost) = (BTreeSet::new(), false);
        while let Ok(Some(event)) = timeout(seconds(12), self.feed.next()).await {
            match event {
                NewsEvent::Entry { entry, .. } => {
                    entries.insert(entry.read().expect("a number"));
                }
                _ => is_lost = true,
            }
        }
        (entries, is_lost)
    }
}

/// Three replicas, their messages and their entries.
struct Storm {
    dice: Dice,
    host: Arc<Host>,
    members: Vec<Member>,
    /// Recipients and numbers of requests with a reply.
    acknowledged: Vec<(usize, u32)>,
    /// Publishers and numbers of entries.
    published: Vec<(usize, u32)>,
    has_forgotten: bool,
}

impl Storm {
    async fn new(seed: u64) -> Self {
        let host = Host::new();
        let mut members = Vec::new();
        for _ in 0..3 {
            members.push(Member::join(&host).await);
        }
        sleep(seconds(6)).await;
        Self {
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            host,
            members,
            acknowledged: Vec::new(),
            published: Vec::new(),
            has_forgotten: false,
        }
    }

    fn pick(&mut self, sides: u64) -> usize {
        usize::try_from(self.dice.roll(sides)).expect("small")
    }

    async fn step(&mut self, step: u32) {
        let from = self.pick(3);
        match self.dice.roll(12) {
            0..=4 => self.request(from, step).await,
            5 | 6 => {
                let entry = 1_000 + step;
                self.members[from].replica.fleet.publish(number(entry));
                self.published.push((from, entry));
            }
            7..=9 => {
                let fault = self.fault();
                self.members[from].replica.link.set(fault);
            }
            // The whole process is paused beyond its presence.
            10 if self.dice.roll(4) == 0 => advance(seconds(15)).await,
            11 if self.dice.roll(20) == 0 => {
                self.host.lose_content();
                self.has_forgotten = true;
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

    async fn request(&mut self, from: usize, step: u32) {
        let to = (from + 1 + self.pick(2)) % 3;
        let name = self.members[to].replica.fleet.replica();
        let start = Instant::now();
        let sender = &self.members[from].replica.fleet;
        let reply = sender.request(name, number(step)).await;
        assert!(start.elapsed() <= seconds(2), "a request hangs");
        match reply {
            Ok(reply) => {
                assert_eq!(reply.read::<u32>(), Some(step + 100));
                self.acknowledged.push((to, step));
            }
            Err(DeliveryError::TooManyRequests { .. }) => panic!("requests are stuck"),
            Err(_) => {}
        }
    }

    async fn check(&mut self) {
        for (to, step) in &self.acknowledged {
            assert!(self.members[*to].recorder.received().contains(step));
        }
        for (at, member) in self.members.iter_mut().enumerate() {
            member.check_received();
            let (entries, is_lost) = member.read_news().await;
            let of_others = self.published.iter().filter(|(from, _)| *from != at);
            let missing = of_others.filter(|(_, entry)| !entries.contains(entry));
            assert!(is_lost || missing.count() == 0, "a silent gap in the news");
            assert!(is_lost || !self.has_forgotten, "a silent loss of the news");
        }
    }
}

async fn run(seed: u64) {
    let mut storm = Storm::new(seed).await;
    for step in 0..STEPS {
        storm.step(step).await;
    }
    settle(&mut storm.members).await;
    storm.check().await;
    let last = storm.members.pop().expect("three");
    kill(&storm.members[0], last).await;
}

/// Ends all faults, and checks that every replica reaches the others again.
async fn settle(members: &mut [Member]) {
    for member in &*members {
        member.replica.link.set(Fault::None);
    }
    sleep(seconds(30)).await;
    for from in 0..3 {
        let to = (from + 1) % 3;
        let name = members[to].replica.fleet.replica();
        let last = number(5_000 + u32::try_from(from).expect("small"));
        let reply = members[from].replica.fleet.request(name, last).await;
        reply.expect("a fleet without faults delivers");
    }
}

/// A request to a killed replica ends, and fails at once when its presence has expired.
async fn kill(rest: &Member, killed: Member) {
    let name = killed.replica.fleet.replica();
    killed.replica.link.set(Fault::Silent);
    let reply = rest.replica.fleet.request(name, number(6_000)).await;
    assert!(matches!(reply, Err(DeliveryError::TimedOut)), "{reply:?}");
    sleep(seconds(16)).await;
    let reply = rest.replica.fleet.request(name, number(6_001)).await;
    assert!(matches!(reply, Err(DeliveryError::Absent)), "{reply:?}");
}

#[tokio::test(start_paused = true)]
async fn random_faults_lose_no_acknowledged_message_and_no_news_silently() {
    let seeds = std::env::var("PINTLE_SEEDS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(100);
    for seed in 0..seeds {
        println!("PINTLE_SEEDS={} repeats seed {seed}", seed + 1);
        run(seed).await;
    }
}
