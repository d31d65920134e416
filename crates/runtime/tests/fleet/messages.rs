//! Messages between replicas.

use std::time::Duration;

use pintle_runtime::fleet::{
    DeliveryError, Fleet, FleetEvent, FleetOptions, ReplicaMessage, ReplicaReply,
};
use pintle_store::{Key, MemoryStore, Namespace, Position, Store, Tail};
use std::sync::Arc;
use tokio::time::{Instant, sleep};

use super::link::{Fault, Host};
use super::recorder::{Recorder, number};
use super::{Replica, seconds};

async fn pair(options: FleetOptions) -> [Replica; 2] {
    let host = Host::new();
    let a = Replica::join_with(&host, options.clone()).await;
    [a, Replica::join_with(&host, options).await]
}

#[tokio::test(start_paused = true)]
async fn a_request_returns_the_reply_of_the_recipient() {
    let [a, b] = pair(FleetOptions::default()).await;
    let recorder = Recorder::at(&b.fleet);
    let start = Instant::now();
    let reply = a.fleet.request(b.fleet.replica(), number(1)).await;
    assert_eq!(reply.expect("a reply").read::<u32>(), Some(101));
    assert_eq!(start.elapsed(), Duration::ZERO);
    assert_eq!(recorder.received(), [1]);
}

#[tokio::test(start_paused = true)]
async fn messages_of_a_replica_arrive_in_their_order() {
    let [a, b] = pair(FleetOptions::default()).await;
    let recorder = Recorder::at(&b.fleet);
    let numbers: Vec<u32> = (0..1_000).collect();
    for at in &numbers {
        let sent = a.fleet.send(b.fleet.replica(), number(*at)).await;
        sent.expect("the store answers");
    }
    assert_eq!(recorder.wait_for(1_000).await, numbers);
}

#[tokio::test(start_paused = true)]
async fn a_message_without_a_recipient_is_not_found() {
    let [a, b] = pair(FleetOptions::default()).await;
    let recorder = Recorder::at(&b.fleet);
    let other = ReplicaMessage::new("other", &1).expect("JSON");
    let reply = a.fleet.request(b.fleet.replica(), other).await;
    assert_eq!(reply.expect("a reply"), ReplicaReply::NotFound);
    drop(recorder);
    let reply = a.fleet.request(b.fleet.replica(), number(1)).await;
    assert_eq!(reply.expect("a reply"), ReplicaReply::NotFound);
}

#[tokio::test(start_paused = true)]
async fn a_message_to_this_replica_needs_no_store() {
    let alone = Fleet::alone(Arc::<MemoryStore>::default()).expect("randomness");
    let recorder = Recorder::at(&alone);
    let reply = alone.request(alone.replica(), number(1)).await;
    assert_eq!(reply.expect("a reply").read::<u32>(), Some(101));
    alone.send(alone.replica(), number(2)).await.expect("sent");
    assert_eq!(recorder.received(), [1, 2]);
    let other = "aaaaaaaa".parse().expect("a replica id");
    let refused = alone.request(other, number(1)).await;
    assert!(matches!(refused, Err(DeliveryError::Absent)));
}

#[tokio::test(start_paused = true)]
async fn a_request_to_an_absent_replica_fails_at_once() {
    let [a, b] = pair(FleetOptions::default()).await;
    let gone = b.fleet.replica();
    sleep(seconds(6)).await;
    b.fleet.leave().await;
    // The departure wakes the other replica.
    sleep(Duration::from_millis(1)).await;
    let start = Instant::now();
    let refused = a.fleet.request(gone, number(1)).await;
    assert!(matches!(refused, Err(DeliveryError::Absent)), "{refused:?}");
    let refused = a.fleet.send(gone, number(1)).await;
    assert!(matches!(refused, Err(DeliveryError::Absent)), "{refused:?}");
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_request_to_a_killed_replica_times_out_and_later_fails_at_once() {
    let [mut a, b] = pair(FleetOptions::default()).await;
    let gone = b.fleet.replica();
    b.kill();
    let start = Instant::now();
    let refused = a.fleet.request(gone, number(1)).await;
    assert!(
        matches!(refused, Err(DeliveryError::TimedOut)),
        "{refused:?}"
    );
    assert_eq!(start.elapsed(), seconds(1));
    assert_eq!(a.next().await, FleetEvent::Gone(gone));
    let refused = a.fleet.request(gone, number(1)).await;
    assert!(matches!(refused, Err(DeliveryError::Absent)), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn a_message_whose_append_is_repeated_is_acted_on_once() {
    let host = Host::new();
    let [a, b] = [Replica::join(&host).await, Replica::join(&host).await];
    let recorder = Recorder::at(&b.fleet);
    let to = b.fleet.replica();
    sleep(seconds(6)).await;
    a.link.set(Fault::AnswersLost);
    let sent = a.fleet.send(to, number(1)).await;
    assert!(matches!(sent, Err(DeliveryError::Store(_))), "{sent:?}");
    a.link.set(Fault::None);
    a.fleet.send(to, number(2)).await.expect("sent");
    recorder.wait_for(2).await;
    assert_eq!(recorder.received(), [1, 2]);
    assert_eq!(events_of_inbox(&host, &b).await, 3);
}

async fn events_of_inbox(host: &Arc<Host>, of: &Replica) -> usize {
    let inbox = Namespace::fixed("inbox");
    let key = Key::new(&inbox, of.fleet.replica().as_str()).expect("a key");
    let content = host.content();
    let tail = content.read(host.now(), &key, Position::START, 10).await;
    match tail.expect("the store answers") {
        Tail::Events { events, .. } => events.len(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_to_a_silent_store_ends_within_the_reply_timeout() {
    let [a, b] = pair(FleetOptions::default()).await;
    sleep(seconds(6)).await;
    a.link.set(Fault::Silent);
    let start = Instant::now();
    let refused = a.fleet.request(b.fleet.replica(), number(1)).await;
    assert!(
        matches!(refused, Err(DeliveryError::TimedOut)),
        "{refused:?}"
    );
    assert_eq!(start.elapsed(), seconds(1));
}

#[tokio::test(start_paused = true)]
async fn messages_that_were_sent_while_the_recipient_was_offline_arrive_later() {
    let [a, b] = pair(FleetOptions::default()).await;
    let recorder = Recorder::at(&b.fleet);
    sleep(seconds(6)).await;
    b.link.set(Fault::Refused);
    a.fleet
        .send(b.fleet.replica(), number(1))
        .await
        .expect("sent");
    sleep(seconds(5)).await;
    assert!(recorder.received().is_empty());
    b.link.set(Fault::None);
    let back = Instant::now();
    recorder.wait_for(1).await;
    assert!(back.elapsed() <= seconds(1));
}

#[tokio::test(start_paused = true)]
async fn a_request_beyond_the_limit_of_pending_ones_is_refused() {
    let mut options = FleetOptions::default();
    options.max_requests = 1;
    let [a, b] = pair(options).await;
    let recorder = Recorder::closed_at(&b.fleet);
    let to = b.fleet.replica();
    let first = a.fleet.request(to, number(1));
    let (first, second) = tokio::join!(first, async {
        recorder.wait_for(1).await;
        a.fleet.request(to, number(2)).await
    });
    assert!(matches!(first, Err(DeliveryError::TimedOut)));
    assert!(matches!(
        second,
        Err(DeliveryError::TooManyRequests { limit: 1 })
    ));
    assert!(a.fleet.request(to, number(4)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn messages_beyond_the_limit_of_running_ones_wait_in_the_inbox() {
    let mut options = FleetOptions::default();
    options.max_received_messages = 2;
    let [a, b] = pair(options).await;
    let recorder = Recorder::closed_at(&b.fleet);
    let start = Instant::now();
    for at in [1, 3, 5] {
        a.fleet
            .send(b.fleet.replica(), number(at))
            .await
            .expect("sent");
    }
    sleep(seconds(20)).await;
    assert_eq!(recorder.received(), [1, 3]);
    recorder.wait_for(3).await;
    // A message that takes too long is dropped.
    assert_eq!(start.elapsed(), seconds(30));
}

#[tokio::test(start_paused = true)]
async fn an_inbox_beyond_its_limit_reports_the_loss_and_resumes() {
    let mut options = FleetOptions::default();
    options.max_inbox_messages = 3;
    for is_by_bytes in [false, true] {
        if is_by_bytes {
            options.max_inbox_messages = 100;
            options.max_inbox_bytes = 250;
        }
        let [a, mut b] = pair(options.clone()).await;
        let recorder = Recorder::at(&b.fleet);
        sleep(seconds(6)).await;
        b.link.set(Fault::Refused);
        for at in 0..4 {
            a.fleet
                .send(b.fleet.replica(), number(at))
                .await
                .expect("sent");
        }
        sleep(seconds(2)).await;
        b.link.set(Fault::None);
        while b.next().await != FleetEvent::MessagesLost {}
        sleep(seconds(1)).await;
        a.fleet
            .send(b.fleet.replica(), number(9))
            .await
            .expect("sent");
        recorder.wait_for(1).await;
        assert_eq!(recorder.received().last(), Some(&9));
        assert!(!recorder.received().contains(&0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_inbox_stays_while_its_replica_runs() {
    let [a, mut b] = pair(FleetOptions::default()).await;
    let recorder = Recorder::at(&b.fleet);
    for at in 0..5 {
        a.fleet
            .send(b.fleet.replica(), number(at))
            .await
            .expect("sent");
        sleep(seconds(300)).await;
    }
    assert_eq!(recorder.received(), [0, 1, 2, 3, 4]);
    b.link.set(Fault::Refused);
    // No event before this one reports a loss.
    assert_eq!(b.next().await, FleetEvent::Offline);
}

#[tokio::test(start_paused = true)]
async fn a_request_needs_four_operations_and_a_message_two() {
    let [a, b] = pair(FleetOptions::default()).await;
    let _recorder = Recorder::at(&b.fleet);
    // The first request opens the inbox of its sender.
    let to = b.fleet.replica();
    a.fleet.request(to, number(1)).await.expect("a reply");
    sleep(Duration::from_millis(5_100)).await;
    a.link.take_operations();
    b.link.take_operations();
    a.fleet.request(to, number(2)).await.expect("a reply");
    // The append and the reading of the reply; the reading of the request and the append.
    let count = [&a, &b].map(|replica| replica.link.take_operations());
    assert_eq!(count, [2, 2]);
    a.fleet.send(to, number(3)).await.expect("sent");
    sleep(Duration::from_millis(1)).await;
    let count = [&a, &b].map(|replica| replica.link.take_operations());
    assert_eq!(count, [1, 1]);
}
