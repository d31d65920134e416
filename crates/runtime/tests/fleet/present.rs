//! Replicas that come, go, and are paused.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pintle_runtime::fleet::{Fleet, FleetEvent, FleetOptions, FleetState, Presence, ReplicaId};
use pintle_store::MemoryStore;
use tokio::time::{Instant, advance, sleep, timeout};

use super::link::Host;
use super::{Replica, seconds, tasks};

#[tokio::test(start_paused = true)]
async fn a_store_of_one_process_has_a_fleet_of_one() {
    let joined = Fleet::join(Arc::<MemoryStore>::default(), Default::default()).await;
    let alone = Fleet::alone(Arc::<MemoryStore>::default()).expect("randomness");
    let other: ReplicaId = "aaaaaaaa".parse().expect("a replica id");
    for fleet in [joined.expect("joins"), alone] {
        assert!(!fleet.is_shared() && fleet.replicas().is_empty());
        sleep(seconds(3_600)).await;
        assert!(fleet.is_current());
        let own = fleet.presence(fleet.replica()).await.expect("no operation");
        assert_eq!(own, Presence::Present);
        let other = fleet.presence(other).await.expect("no operation");
        assert_eq!(other, Presence::Absent);
        assert_eq!(fleet.events().next().await, None);
        assert_eq!(tasks().await, 0);
        fleet.leave().await;
        assert_eq!(fleet.state(), FleetState::Leaving);
        assert!(!fleet.is_current());
    }
}

#[tokio::test(start_paused = true)]
async fn replicas_of_one_process_may_share_a_store_in_memory() {
    let store = Arc::<MemoryStore>::default();
    let mut options = FleetOptions::default();
    options.is_shared = true;
    let a = Fleet::join(Arc::clone(&store) as _, options.clone()).await;
    let b = Fleet::join(store, options).await;
    let [a, b] = [a.expect("joins"), b.expect("joins")];
    let presence = a.presence(b.replica()).await.expect("an answer");
    assert_eq!(presence, Presence::Present);
    sleep(seconds(6)).await;
    let mut events = a.events();
    b.leave().await;
    let gone = timeout(seconds(6), events.gone()).await;
    assert_eq!(gone.expect("a list"), Some(b.replica()));
}

#[tokio::test(start_paused = true)]
async fn replicas_of_one_store_are_present_for_each_other() {
    let host = Host::new();
    let [a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    assert_ne!(a.fleet.replica(), b.fleet.replica());
    for (one, other) in [(&a, &b), (&b, &a)] {
        let presence = one.fleet.presence(other.fleet.replica()).await;
        assert_eq!(presence.expect("an answer"), Presence::Present);
    }
    sleep(seconds(3_600)).await;
    assert_eq!(a.fleet.replicas(), [b.fleet.replica()]);
    assert_eq!(b.fleet.replicas(), [a.fleet.replica()]);
    for replica in [&a, &b] {
        assert_eq!(replica.fleet.term(), Some(0));
        assert_eq!(replica.fleet.state(), FleetState::Joined);
    }
}

#[tokio::test(start_paused = true)]
async fn a_killed_replica_is_absent_when_its_presence_expires() {
    let host = Host::new();
    let [mut a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    let gone = b.fleet.replica();
    let killed = Instant::now();
    b.kill();
    sleep(seconds(5)).await;
    let presence = a.fleet.presence(gone).await.expect("an answer");
    assert_eq!(presence, Presence::Present);
    assert_eq!(a.next().await, FleetEvent::Gone(gone));
    assert!((seconds(10)..=seconds(15)).contains(&killed.elapsed()));
    let presence = a.fleet.presence(gone).await.expect("an answer");
    assert_eq!(presence, Presence::Absent);
    assert!(a.fleet.replicas().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_replica_is_present_until_it_could_show_itself_after_a_loss() {
    let host = Host::new();
    let [a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    // No list has shown it, so its record decides.
    host.lose_content();
    for _ in 0..2 {
        let presence = a.fleet.presence(b.fleet.replica()).await;
        assert_eq!(presence.expect("an answer"), Presence::Present);
    }
    sleep(seconds(4)).await;
    let gone = b.fleet.replica();
    b.kill();
    host.lose_content();
    for (pause, expected) in [(8, Presence::Present), (12, Presence::Absent)] {
        sleep(seconds(pause)).await;
        let presence = a.fleet.presence(gone).await.expect("an answer");
        assert_eq!(presence, expected, "{pause} s later");
    }
}

#[tokio::test(start_paused = true)]
async fn a_paused_process_notices_by_its_clock_that_it_is_not_current() {
    let host = Host::new();
    let mut a = Replica::join(&host).await;
    // The first poll moves the clock, and no task runs before the second one.
    let mut pause = pin!(advance(seconds(15)));
    let first = pause.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(first, Poll::Pending);
    assert!(!a.fleet.is_current());
    let own = a
        .fleet
        .presence(a.fleet.replica())
        .await
        .expect("no operation");
    assert_eq!(own, Presence::Absent);
    poll_fn(|cx| pause.as_mut().poll(cx)).await;
    assert_eq!(a.next().await, FleetEvent::Lapsed);
    assert_eq!(a.next().await, FleetEvent::Renewed);
    assert_eq!(a.fleet.term(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_leaves_is_absent_at_once() {
    let host = Host::new();
    let [mut a, mut b] = [Replica::join(&host).await, Replica::join(&host).await];
    // The other watches, and no list has shown this replica.
    sleep(seconds(1)).await;
    let left = Instant::now();
    b.fleet.leave().await;
    assert_eq!(b.fleet.state(), FleetState::Leaving);
    assert!(!b.fleet.is_current());
    assert_eq!(b.events.next().await, None);
    let gone = b.fleet.replica();
    let presence = a.fleet.presence(gone).await.expect("an answer");
    assert_eq!(presence, Presence::Absent);
    assert_eq!(a.next().await, FleetEvent::Gone(gone));
    assert!(left.elapsed() < seconds(1));
    b.fleet.leave().await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_leaves_when_its_last_handle_is_dropped() {
    let host = Host::new();
    let [a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    let (gone, clone) = (b.fleet.replica(), b.fleet.clone());
    drop(b);
    assert_eq!(tasks().await, 2);
    drop(clone);
    assert_eq!(tasks().await, 1);
    let presence = a.fleet.presence(gone).await.expect("an answer");
    assert_eq!(presence, Presence::Absent);
}

#[tokio::test(start_paused = true)]
async fn an_idle_replica_sends_21_operations_in_30_seconds() {
    let a = Replica::join(&Host::new()).await;
    sleep(seconds(1)).await;
    // Five probes, epoch, list, presence, and the watch of departures.
    assert_eq!(a.link.take_operations(), 9);
    sleep(seconds(300)).await;
    assert_eq!(a.link.take_operations(), 210);
}
