//! Stores that do not answer, and stores that lose their content.

use std::time::Duration;

use pintle_runtime::fleet::{FleetEvent, FleetOptions, FleetState, Presence};
use tokio::time::sleep;

use super::link::{Fault, Host};
use super::{Replica, seconds};

#[tokio::test(start_paused = true)]
async fn a_replica_is_offline_while_the_store_does_not_answer() {
    for fault in [Fault::Refused, Fault::Silent] {
        let host = Host::new();
        let mut a = Replica::join(&host).await;
        a.link.set(fault);
        assert_eq!(a.next().await, FleetEvent::Offline);
        let FleetState::Offline { since } = a.fleet.state() else {
            panic!("{:?}", a.fleet.state());
        };
        assert!(since <= a.fleet.now());
        a.link.set(Fault::None);
        assert_eq!(a.next().await, FleetEvent::Online, "{fault:?}");
        assert_eq!(a.fleet.state(), FleetState::Joined);
        assert_eq!(a.fleet.term(), Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_is_offline_for_long_lapses() {
    let host = Host::new();
    let [mut a, mut b] = [Replica::join(&host).await, Replica::join(&host).await];
    sleep(seconds(4)).await;
    a.link.set(Fault::Refused);
    assert_eq!(a.next().await, FleetEvent::Offline);
    assert!(a.fleet.is_current());
    assert_eq!(a.next().await, FleetEvent::Lapsed);
    assert!(!a.fleet.is_current());
    assert_eq!(b.next().await, FleetEvent::Gone(a.fleet.replica()));
    a.link.set(Fault::None);
    assert_eq!(a.next().await, FleetEvent::Online);
    assert_eq!(a.next().await, FleetEvent::Renewed);
    assert!(a.fleet.is_current());
    sleep(seconds(6)).await;
    assert_eq!(b.fleet.replicas(), [a.fleet.replica()]);
}

#[tokio::test(start_paused = true)]
async fn a_renewal_whose_answer_is_lost_keeps_the_presence() {
    let host = Host::new();
    let mut a = Replica::join(&host).await;
    a.link.set(Fault::AnswersLost);
    assert_eq!(a.next().await, FleetEvent::Offline);
    a.link.set(Fault::None);
    assert_eq!(a.next().await, FleetEvent::Online);
    sleep(seconds(60)).await;
    assert_eq!(a.fleet.term(), Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_presence_that_cannot_be_read_is_an_error_within_the_timeout() {
    let host = Host::new();
    let [a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    a.link.set(Fault::Silent);
    let start = tokio::time::Instant::now();
    let error = a.fleet.presence(b.fleet.replica()).await;
    assert!(error.expect_err("no answer").is_retryable());
    assert_eq!(start.elapsed(), seconds(1));
}

#[tokio::test(start_paused = true)]
async fn replicas_notice_that_the_store_lost_its_content() {
    let host = Host::new();
    let mut a = Replica::join(&host).await;
    let [mut b, c] = [Replica::join(&host).await, Replica::join(&host).await];
    let gone = c.fleet.replica();
    sleep(seconds(6)).await;
    host.lose_content();
    c.kill();
    for replica in [&mut a, &mut b] {
        // The list may show the loss before the renewal does.
        let mut first = [replica.next().await, replica.next().await];
        first.sort_by_key(|event| *event != FleetEvent::ContentLost);
        assert_eq!(first, [FleetEvent::ContentLost, FleetEvent::Lapsed]);
        assert_eq!(replica.next().await, FleetEvent::Renewed);
        assert_eq!(replica.next().await, FleetEvent::Gone(gone));
    }
    let presence = a.fleet.presence(b.fleet.replica()).await;
    assert_eq!(presence.expect("an answer"), Presence::Present);
    sleep(seconds(60)).await;
    assert_eq!(a.fleet.replicas(), [b.fleet.replica()]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_learns_how_many_events_it_missed() {
    let host = Host::new();
    let mut options = FleetOptions::default();
    options.max_fleet_events = 2;
    let mut a = Replica::join_with(&host, options).await;
    for fault in [Fault::Refused, Fault::None, Fault::Refused] {
        a.link.set(fault);
        sleep(seconds(4)).await;
    }
    assert_eq!(a.next().await, FleetEvent::Missed(1));
    assert_eq!(a.next().await, FleetEvent::Online);
    assert_eq!(a.next().await, FleetEvent::Offline);
}

#[tokio::test(start_paused = true)]
async fn a_replica_leaves_a_silent_store_within_the_timeout() {
    let host = Host::new();
    let a = Replica::join(&host).await;
    a.link.set(Fault::Silent);
    let start = tokio::time::Instant::now();
    a.fleet.leave().await;
    assert!(start.elapsed() <= seconds(2) + Duration::from_millis(10));
}
