//! Tests of the calls that wait for their answers.

use super::*;

fn ordinary() -> CallSpec {
    CallSpec {
        lane: Lane::Session,
        method: "ping".into(),
        stage: Stage::Ordinary,
        revision: None,
        routing: None,
        wants_progress: true,
    }
}

// hardening: H-166
#[test]
fn unread_progress_is_bounded_and_ends_with_the_latest() {
    let (mut calls, now) = (Outbound::default(), Instant::now());
    let timeouts = Timeouts::new(Duration::MAX, Duration::MAX);
    let call = calls
        .open(now, timeouts, ordinary(), &Limits::default())
        .expect("room");
    calls.keep(call, None);
    for step in 0..10_000 {
        let progress = ProgressParams::new(call.to_request_id().into(), f64::from(step));
        assert!(!calls.note_progress(call, &progress), "it is kept");
    }
    let taken: Vec<_> = std::iter::from_fn(|| calls.take_progress(call)).collect();
    assert_eq!(taken.len(), WAITING_PROGRESS);
    assert!(taken.is_sorted_by(|a, b| a.progress < b.progress));
    assert_eq!(taken.last().map(|last| last.progress), Some(9_999.0));
}

#[test]
fn a_probe_is_found_by_its_own_name_only() {
    let (mut calls, now) = (Outbound::default(), Instant::now());
    let timeouts = Timeouts::new(Duration::MAX, Duration::MAX);
    let mut about = ordinary();
    about.stage = Stage::Probe;
    let call = calls
        .open(now, timeouts, about, &Limits::default())
        .expect("room");
    assert_eq!(calls.named(&RequestId::from("discover-1")), Some(call));
    for other in ["discover-01", "discover-2", "discover-", "1"] {
        assert_eq!(calls.named(&RequestId::from(other)), None, "{other}");
    }
    assert_eq!(calls.named(&RequestId::from(1)), None);
}

#[test]
fn a_call_can_wait_without_a_limit() {
    let (mut calls, now) = (Outbound::default(), Instant::now());
    let timeouts = Timeouts::new(Duration::MAX, Duration::MAX);
    let call = calls
        .open(now, timeouts, ordinary(), &Limits::default())
        .expect("room");
    assert!(calls.extend(now, call));
    let in_a_year = now + Duration::from_secs(86_400 * 365);
    assert_eq!(calls.expired(in_a_year), None);
}

#[test]
fn calls_time_out_in_the_order_of_their_deadlines() {
    let (mut calls, now) = (Outbound::default(), Instant::now());
    let second = Duration::from_secs(1);
    let mut open = |idle| {
        let timeouts = Timeouts::new(second * idle, second * 5);
        let opened = calls.open(now, timeouts, ordinary(), &Limits::default());
        opened.expect("room")
    };
    let [first, anew, third, fourth] = [3, 1, 2, 4].map(&mut open);
    // It waits anew, up to its ceiling, and another ends.
    assert!(calls.extend(now + second, anew));
    assert!(calls.extend(now + second * 4, fourth) && calls.extend(now + second * 4, fourth));
    assert_eq!(calls.next_deadline(), Some(now + second * 2));
    assert!(calls.close(third).is_some() && calls.close(third).is_none());
    assert_eq!(calls.expired(now + second), None);
    let mut expired = Vec::new();
    for seconds in 0..10 {
        while let Some(call) = calls.expired(now + second * seconds) {
            expired.push((seconds, call));
            calls.close(call);
        }
    }
    assert_eq!(expired, [(2, anew), (3, first), (5, fourth)]);
    assert_eq!(calls.next_deadline(), None);
}
