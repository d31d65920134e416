use super::*;

const INTERVAL: Duration = Duration::from_secs(3);
const TTL: Duration = Duration::from_secs(10);

/// A heartbeat, and its clocks: both begin at 0.
struct Bed {
    heartbeat: Heartbeat,
    start: Instant,
}

impl Bed {
    fn new() -> Self {
        let start = Instant::now();
        let written = attempt(start, 0);
        Self {
            heartbeat: Heartbeat::new(INTERVAL, written, Version::new(1)),
            start,
        }
    }

    fn settle(&mut self, sent: u64, renewal: Renewal, at: u64) -> Vec<FleetEvent> {
        let sent = attempt(self.start, sent);
        let events = self.heartbeat.settle(sent, renewal, millis(at));
        events.into_iter().flatten().collect()
    }

    fn due(&self) -> u128 {
        (self.heartbeat.due() - self.start).as_millis()
    }
}

fn attempt(start: Instant, sent: u64) -> Attempt {
    Attempt {
        sent: start + Duration::from_millis(sent),
        expires: millis(sent) + TTL,
    }
}

fn millis(count: u64) -> StoreTime {
    StoreTime::from_millis(count)
}

fn written(number: u64) -> Renewal {
    Renewal::Written(Version::new(number))
}

#[test]
fn a_renewal_is_due_an_interval_after_the_last_one_was_sent() {
    let mut bed = Bed::new();
    assert_eq!(bed.due(), 3_000);
    assert_eq!(bed.settle(3_000, written(2), 3_400), []);
    assert_eq!(bed.due(), 6_000);
    let condition = Precondition::Version(Version::new(2));
    assert_eq!(bed.heartbeat.condition(), condition);
}

#[test]
fn a_presence_is_current_until_the_time_it_was_written_for() {
    let mut bed = Bed::new();
    assert_eq!(bed.heartbeat.term(millis(9_999)), Some(0));
    assert_eq!(bed.heartbeat.term(millis(10_000)), None);
    bed.settle(3_000, written(2), 3_400);
    assert_eq!(bed.heartbeat.term(millis(12_999)), Some(0));
    assert_eq!(bed.heartbeat.term(millis(13_000)), None);
}

#[test]
fn a_failed_renewal_is_repeated_after_a_third_of_the_interval() {
    let mut bed = Bed::new();
    assert_eq!(
        bed.settle(3_000, Renewal::Failed, 4_000),
        [FleetEvent::Offline]
    );
    assert_eq!(bed.heartbeat.offline_since(), Some(millis(4_000)));
    assert_eq!(bed.due(), 4_000);
    assert_eq!(bed.settle(4_000, Renewal::Failed, 5_000), []);
    assert_eq!(bed.heartbeat.offline_since(), Some(millis(4_000)));
    assert_eq!(bed.settle(5_000, written(2), 5_001), [FleetEvent::Online]);
    assert_eq!(bed.heartbeat.offline_since(), None);
}

#[test]
fn a_renewal_without_an_answer_is_found_by_its_version() {
    let mut bed = Bed::new();
    bed.settle(3_000, Renewal::Failed, 4_000);
    let found = Renewal::Conflict(Some(Version::new(2)));
    assert_eq!(bed.settle(4_000, found, 4_001), [FleetEvent::Online]);
    assert_eq!(bed.due(), 4_000);
    let condition = Precondition::Version(Version::new(2));
    assert_eq!(bed.heartbeat.condition(), condition);
    assert_eq!(bed.heartbeat.term(millis(4_001)), Some(0));
}

#[test]
fn a_missing_presence_has_lapsed_and_is_written_again_at_once() {
    let mut bed = Bed::new();
    let missing = Renewal::Conflict(None);
    assert_eq!(bed.settle(3_000, missing, 3_001), [FleetEvent::Lapsed]);
    assert_eq!(bed.heartbeat.term(millis(3_001)), None);
    assert_eq!(bed.heartbeat.condition(), Precondition::Absent);
    assert_eq!(bed.due(), 3_000);
    assert_eq!(bed.settle(3_001, written(2), 3_002), [FleetEvent::Renewed]);
    assert_eq!(bed.heartbeat.term(millis(3_002)), Some(1));
}

#[test]
fn the_second_conflict_in_a_row_waits() {
    let mut bed = Bed::new();
    bed.settle(3_000, Renewal::Conflict(None), 3_001);
    let found = Renewal::Conflict(Some(Version::new(7)));
    bed.settle(3_001, found, 3_002);
    assert_eq!(bed.due(), 4_001);
}

#[test]
fn an_expired_presence_lapses_once() {
    let mut bed = Bed::new();
    assert_eq!(bed.heartbeat.check(millis(9_999)), None);
    assert_eq!(
        bed.heartbeat.check(millis(10_000)),
        Some(FleetEvent::Lapsed)
    );
    assert_eq!(bed.heartbeat.check(millis(10_001)), None);
    assert_eq!(bed.settle(10_001, Renewal::Conflict(None), 10_002), []);
    assert_eq!(
        bed.settle(10_002, written(2), 10_003),
        [FleetEvent::Renewed]
    );
    assert_eq!(bed.heartbeat.term(millis(10_003)), Some(1));
}
