//! The calls, their answers, and the judgement.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::hasty::{self, Admitted};
use crate::plan::Plan;

/// Kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Plain,
    Slow,
    Question,
    Task,
    /// Of a client that exceeds its quota.
    Hasty,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Right,
    /// An error that a fault explains.
    Explained(String),
    /// The call is beyond the quota, and has not run.
    Refused,
    Unexplained(String),
    Wrong(String),
    Hung,
}

/// Revision, kind and end of a call.
type Group = (&'static str, Kind, End);

/// All calls of a run.
#[derive(Debug)]
pub(crate) struct Tally {
    began: Instant,
    calls: Mutex<HashMap<String, Group>>,
    faults: Mutex<BTreeMap<&'static str, usize>>,
    sent: AtomicUsize,
    changes: AtomicUsize,
    late_progress: AtomicUsize,
    no_progress: AtomicUsize,
    deaf: Mutex<BTreeMap<&'static str, usize>>,
    admitted: Mutex<Admitted>,
    /// The number of quotas that faults allow in an interval, if it is more than one.
    quotas: Mutex<BTreeMap<u64, usize>>,
    /// The intervals in which servers divide a quota.
    divided: Mutex<BTreeSet<u64>>,
}

/// The figures that decide.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    right: usize,
    explained: usize,
    refused: usize,
    unexplained: usize,
    wrong: usize,
    hung: usize,
    doubled: usize,
    lost: usize,
    repeated_steps: usize,
}

impl Figures {
    fn passes(&self, allows_no_error: bool) -> bool {
        let faults = self.unexplained + self.wrong + self.hung + self.doubled + self.lost;
        faults == 0 && (self.explained == 0 || !allows_no_error)
    }
}

impl Tally {
    /// Counts a call that is sent now, and returns its number.
    pub(crate) fn send(&self) -> usize {
        self.sent.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number of calls.
    pub(crate) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Returns the tally of a run that begins now.
    pub(crate) fn begin() -> Self {
        Self {
            began: Instant::now(),
            calls: Mutex::default(),
            faults: Mutex::default(),
            sent: AtomicUsize::new(0),
            changes: AtomicUsize::new(0),
            late_progress: AtomicUsize::new(0),
            no_progress: AtomicUsize::new(0),
            deaf: Mutex::default(),
            admitted: Mutex::default(),
            quotas: Mutex::default(),
            divided: Mutex::default(),
        }
    }

    /// The time of the run in seconds.
    pub(crate) fn time(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    /// Counts the end of a call that took `time`. An end that fails the run is printed at once.
    pub(crate) fn end(
        &self,
        key: String,
        revision: &'static str,
        kind: Kind,
        time: Duration,
        end: End,
    ) {
        if !matches!(end, End::Right | End::Refused | End::Explained(_)) {
            let now = self.time();
            println!("{now:7.1} s  {kind:?} {key} of {revision} after {time:.1?}: {end:?}");
        }
        let mut calls = self.calls.lock().expect("no panic");
        calls.insert(key, (revision, kind, end));
    }

    /// Counts a fault, of one server or of the store, and prints its time.
    pub(crate) fn fault(&self, name: &'static str, server: Option<usize>) {
        let server = server.map_or_else(String::new, |index| format!(" of server {index}"));
        println!("{:7.1} s  {name}{server}", self.time());
        *self
            .faults
            .lock()
            .expect("no panic")
            .entry(name)
            .or_default() += 1;
    }

    pub(crate) fn has_fault(&self, name: &str) -> bool {
        self.faults.lock().expect("no panic").contains_key(name)
    }

    pub(crate) fn change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call whose first progress arrived with its result, or did not arrive.
    pub(crate) fn late_progress(&self, has_arrived: bool) {
        let count = match has_arrived {
            true => &self.late_progress,
            false => &self.no_progress,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a request of a client with a quota, in the interval that it surely belongs to.
    pub(crate) fn admit(&self, interval: Option<u64>) {
        if let Some(interval) = interval {
            let mut admitted = self.admitted.lock().expect("no panic");
            *admitted.entry(interval).or_default() += 1;
        }
    }

    /// Allows more quotas in some intervals, because of a fault.
    pub(crate) fn allow_quotas(&self, intervals: RangeInclusive<u64>, more: usize) {
        let mut quotas = self.quotas.lock().expect("no panic");
        for interval in intervals {
            *quotas.entry(interval).or_insert(1) += more;
        }
    }

    /// Returns true if the store was away in this interval, so that servers divided the quota.
    pub(crate) fn divides_quotas(&self) -> bool {
        let divided = self.divided.lock().expect("no panic");
        divided.contains(&hasty::interval_after(Duration::ZERO))
    }

    /// Records that the store is away in some intervals.
    pub(crate) fn divide_quotas(&self, intervals: RangeInclusive<u64>) {
        self.divided.lock().expect("no panic").extend(intervals);
    }

    fn beyond_quota(&self) -> Admitted {
        let admitted = self.admitted.lock().expect("no panic");
        hasty::beyond(&admitted, &self.quotas.lock().expect("no panic"))
    }

    fn print_beyond_quota(&self) {
        let beyond = self.beyond_quota();
        println!(
            "| requests beyond a quota | {} |",
            beyond.values().sum::<usize>()
        );
        for (interval, excess) in beyond {
            let began = self.time() - hasty::age_of(interval);
            println!("| in the interval from {began:.1} s | {excess} |");
        }
    }

    /// Counts a client that did not receive the last change.
    pub(crate) fn deaf(&self, revision: &'static str) {
        *self
            .deaf
            .lock()
            .expect("no panic")
            .entry(revision)
            .or_default() += 1;
    }

    /// Compares the answers with the lines of the servers, prints the table, and returns true if the run passes.
    pub(crate) fn judge(&self, plan: &Plan, lines: &Path, time: Duration) -> pintle::Result<bool> {
        let text = std::fs::read_to_string(lines)?;
        let calls = self.calls.lock().expect("no panic");
        let (figures, faulty) = compare(&calls, &text);
        self.print(plan, &figures, &calls, time);
        for line in faulty.iter().take(20) {
            println!("  {line}");
        }
        let has_all = calls.len() == self.sent();
        if !has_all {
            println!("some calls have no end");
        }
        let all_heard = self.deaf.lock().expect("no panic").is_empty();
        // A stream that continues after a fault has its progress at once.
        let counts = [&self.late_progress, &self.no_progress];
        let is_prompt = counts.iter().all(|it| it.load(Ordering::Relaxed) == 0);
        let progresses = is_prompt || !plan.keeps_streams();
        let passes = figures.passes(plan.allows_no_error());
        Ok(has_all && all_heard && progresses && passes && self.beyond_quota().is_empty())
    }

    fn print(
        &self,
        plan: &Plan,
        figures: &Figures,
        calls: &HashMap<String, Group>,
        time: Duration,
    ) {
        println!(
            "{:?}, {:?}, seed {}, {} clients, {time:.0?}",
            plan.engine, plan.proxy, plan.seed, plan.clients
        );
        println!("faults: {:?}", self.faults.lock().expect("no panic"));
        println!("| calls | {} |\n|---|---|", calls.len());
        println!("| answered rightly | {} |", figures.right);
        println!("| explained error | {} |", figures.explained);
        println!("| refused by a quota | {} |", figures.refused);
        println!("| unexplained error | {} |", figures.unexplained);
        println!("| wrong answer | {} |", figures.wrong);
        println!("| hung | {} |", figures.hung);
        println!("| doubled | {} |", figures.doubled);
        println!("| lost | {} |", figures.lost);
        println!("| repeated steps of tasks | {} |", figures.repeated_steps);
        println!(
            "| calls with late progress | {} |",
            self.late_progress.load(Ordering::Relaxed)
        );
        println!(
            "| calls without progress | {} |",
            self.no_progress.load(Ordering::Relaxed)
        );
        self.print_beyond_quota();
        println!(
            "| changes received | {} |",
            self.changes.load(Ordering::Relaxed)
        );
        println!(
            "| clients without the last change | {:?} |",
            self.deaf.lock().expect("no panic")
        );
        let mut groups: BTreeMap<&Group, usize> = BTreeMap::new();
        for group in calls.values() {
            *groups.entry(group).or_default() += 1;
        }
        for ((revision, kind, end), count) in groups {
            println!("{count:>8}  {revision} {kind:?}: {end:?}");
        }
    }
}

/// Returns the figures, and a line for each doubled, lost or unknown key.
fn compare(calls: &HashMap<String, Group>, text: &str) -> (Figures, Vec<String>) {
    let mut lines: HashMap<&str, Vec<&str>> = HashMap::new();
    for line in text.lines() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        lines.entry(key).or_default().push(rest);
    }
    let mut figures = Figures::default();
    let mut faulty = Vec::new();
    for (key, (revision, kind, end)) in calls {
        let found = lines.remove(key.as_str()).unwrap_or_default();
        match end {
            End::Right => figures.right += 1,
            End::Explained(_) => figures.explained += 1,
            End::Refused => figures.refused += 1,
            End::Unexplained(_) => figures.unexplained += 1,
            End::Wrong(_) => figures.wrong += 1,
            End::Hung => figures.hung += 1,
        }
        let about = || format!("{key} {revision} {kind:?} {end:?}: {found:?}");
        if found.len() > 1 && *kind == Kind::Task {
            // A step that ran when its server was killed runs again.
            figures.repeated_steps += 1;
        } else if found.len() > 1 {
            figures.doubled += 1;
            faulty.push(format!("doubled: {}", about()));
        }
        if !found.is_empty() && *end == End::Refused {
            figures.wrong += 1;
            faulty.push(format!("refused, but it ran: {}", about()));
        }
        if found.is_empty() && *end == End::Right {
            figures.lost += 1;
            faulty.push(format!("lost: {}", about()));
        }
    }
    figures.wrong += lines.len();
    faulty.extend(lines.keys().map(|key| format!("unknown key {key}")));
    (figures, faulty)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(list: &[(&str, Kind, End)]) -> HashMap<String, Group> {
        let group =
            |(key, kind, end): &(&str, Kind, End)| ((*key).to_owned(), ("r", *kind, end.clone()));
        list.iter().map(group).collect()
    }

    #[test]
    fn lost_doubled_and_unknown_lines_are_found() {
        let calls = calls(&[
            ("a", Kind::Plain, End::Right),
            ("b", Kind::Plain, End::Right),
            ("c", Kind::Plain, End::Explained("x".into())),
            ("d", Kind::Task, End::Right),
            ("f", Kind::Hasty, End::Refused),
            ("g", Kind::Hasty, End::Refused),
        ]);
        let (figures, faulty) =
            compare(&calls, "a 1 5\nc 1 5\nc 2 5\nd 1 5\nd 2 5\ne 1 5\ng 1 5\n");
        let expected = Figures {
            right: 3,
            explained: 1,
            doubled: 1,
            lost: 1,
            wrong: 2,
            refused: 2,
            repeated_steps: 1,
            ..Figures::default()
        };
        assert_eq!(figures, expected);
        assert_eq!(faulty.len(), 4);
        assert!(!figures.passes(false));
    }

    #[test]
    fn an_explained_error_fails_an_update_only() {
        let calls = calls(&[("a", Kind::Plain, End::Explained("x".into()))]);
        let (figures, _) = compare(&calls, "");
        assert!(figures.passes(false));
        assert!(!figures.passes(true));
    }
}
