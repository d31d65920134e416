//! The faults, by a schedule that the seed decides.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use pintle_testkit::Rng;

use crate::hasty::interval_after;
use crate::plan::{Fault, Plan};
use crate::processes::Processes;
use crate::tally::Tally;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Time from one fault of a kind to the next.
const KILLS: Duration = Duration::from_secs(5);
const PAUSES: Duration = Duration::from_secs(25);
const RESTARTS: Duration = Duration::from_secs(20);
const RELOADS: Duration = Duration::from_secs(10);
const UPDATES: Duration = Duration::from_secs(30);
/// Time between two updates, if there is no other fault.
const REST: Duration = Duration::from_secs(2);
/// How long a server stays paused.
const PAUSE: Duration = Duration::from_secs(15);
/// A server uses the store again within this time.
const RECONNECT: Duration = Duration::from_secs(3);
const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Kill,
    Pause,
    Continue(usize),
    Engine { flushes: bool },
    Reload,
    Roll,
}

/// Steps by their time.
type Schedule = BinaryHeap<Reverse<(Duration, Step)>>;

struct Faults<'a> {
    processes: &'a mut Processes,
    tally: &'a Tally,
    rng: Rng,
    paused: Option<usize>,
    update_interval: Duration,
}

/// Runs the faults until the end is requested. Afterwards all programs run.
pub(crate) fn run(
    plan: &Plan,
    processes: &mut Processes,
    tally: &Tally,
    stop: &AtomicBool,
) -> Result<()> {
    let mut schedule: Schedule = plan.faults.iter().map(|&it| Reverse(first(it))).collect();
    let update_interval = if plan.allows_no_error() {
        REST
    } else {
        UPDATES
    };
    let mut faults = Faults {
        processes,
        tally,
        rng: Rng::new(plan.seed),
        paused: None,
        update_interval,
    };
    let began = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        match schedule.peek() {
            Some(&Reverse((at, step))) if at <= began.elapsed() => {
                schedule.pop();
                if let Some((after, next)) = faults.act(step)? {
                    schedule.push(Reverse((began.elapsed() + after, next)));
                }
                if let (Step::Pause, Some(index)) = (step, faults.paused) {
                    schedule.push(Reverse((began.elapsed() + PAUSE, Step::Continue(index))));
                }
            }
            _ => sleep(Duration::from_millis(20)),
        }
    }
    faults.resume()
}

/// Returns the first step of a kind of fault, and its time.
fn first(fault: Fault) -> (Duration, Step) {
    match fault {
        Fault::Kill => (KILLS, Step::Kill),
        Fault::Pause => (SECOND * 3, Step::Pause),
        Fault::Engine => (SECOND * 8, Step::Engine { flushes: false }),
        Fault::Proxy => (SECOND * 6, Step::Reload),
        Fault::Roll => (SECOND * 2, Step::Roll),
    }
}

impl Faults<'_> {
    /// Acts, and returns the next step of this kind.
    fn act(&mut self, step: Step) -> Result<Option<(Duration, Step)>> {
        Ok(match step {
            Step::Kill => {
                self.kill()?;
                Some((KILLS, Step::Kill))
            }
            Step::Pause => {
                self.pause()?;
                Some((PAUSES, Step::Pause))
            }
            Step::Continue(index) => {
                if self.paused == Some(index) {
                    self.resume()?;
                }
                None
            }
            Step::Engine { flushes } => {
                self.disturb_store(flushes);
                Some((RESTARTS, Step::Engine { flushes: !flushes }))
            }
            Step::Reload => {
                self.tally.fault("proxy", None);
                self.processes.reload_proxy()?;
                Some((RELOADS, Step::Reload))
            }
            Step::Roll => {
                self.roll()?;
                Some((self.update_interval, Step::Roll))
            }
        })
    }

    fn pick(&mut self) -> usize {
        self.rng.below(self.processes.replicas.count())
    }

    fn kill(&mut self) -> Result<()> {
        let index = self.pick();
        self.tally.fault("kill", Some(index));
        self.processes.replicas.signal(index, "KILL")?;
        if self.paused == Some(index) {
            self.paused = None;
        }
        let pause = self.rng.up_to(SECOND);
        self.processes.replicas.restart(index, pause)
    }

    fn pause(&mut self) -> Result<()> {
        let index = self.pick();
        self.resume()?;
        self.tally.fault("pause", Some(index));
        self.paused = Some(index);
        self.processes.replicas.signal(index, "STOP")
    }

    fn resume(&mut self) -> Result<()> {
        match self.paused.take() {
            Some(index) => self.processes.replicas.signal(index, "CONT"),
            None => Ok(()),
        }
    }

    fn disturb_store(&mut self, flushes: bool) {
        if flushes && self.processes.replicas.can_flush_store() {
            // Counted first, because a call may end with its effect at once.
            self.tally.fault("flush", None);
            let first = interval_after(Duration::ZERO);
            self.processes.replicas.flush_store();
            // Counters begin again.
            let last = interval_after(Duration::ZERO);
            return self.tally.allow_quotas(first..=last, 1);
        }
        self.tally.fault("engine", None);
        let pause = self.rng.up_to(SECOND);
        let first = interval_after(Duration::ZERO);
        self.tally
            .divide_quotas(first..=interval_after(RECONNECT + pause));
        self.processes.replicas.restart_store(pause);
        // Servers without the store admit one quota in total, beside that of the others. A crash of PostgreSQL also
        // drops the counters.
        let drops = usize::from(!self.processes.replicas.can_flush_store());
        let last = interval_after(RECONNECT);
        self.tally.allow_quotas(first..=last, 1 + drops);
    }

    /// Updates one server after the other, as the book describes.
    fn roll(&mut self) -> Result<()> {
        self.resume()?;
        self.tally.fault("roll", None);
        for index in 0..self.processes.replicas.count() {
            self.processes.replicas.signal(index, "TERM")?;
            self.processes.replicas.restart(index, Duration::ZERO)?;
        }
        Ok(())
    }
}
