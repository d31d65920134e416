//! The news of all replicas.

use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::fleet::{Fleet, FleetOptions, NewsEvent, NewsFeed};
use pintle_store::MemoryStore;
use tokio::time::{Instant, sleep, timeout};

use super::link::{Fault, Host};
use super::recorder::number;
use super::{Replica, seconds};

const MOMENT: Duration = Duration::from_millis(1);

/// The numbers of the entries until nothing arrives for ten seconds. `None` means a loss.
async fn read(feed: &mut NewsFeed) -> Vec<Option<u32>> {
    let mut numbers = Vec::new();
    while let Ok(event) = timeout(seconds(10), feed.next()).await {
        numbers.push(match event.expect("a replica that runs") {
            NewsEvent::Entry { entry, .. } => Some(entry.read().expect("a number")),
            NewsEvent::Lost => None,
            other => panic!("{other:?}"),
        });
    }
    numbers
}

async fn pair(options: FleetOptions) -> (Arc<Host>, [Replica; 2]) {
    let host = Host::new();
    let a = Replica::join_with(&host, options.clone()).await;
    let b = Replica::join_with(&host, options).await;
    (host, [a, b])
}

/// A feed that has found the tail of the news.
async fn follow(replica: &Replica) -> NewsFeed {
    let feed = replica.fleet.news();
    sleep(MOMENT).await;
    feed
}

#[tokio::test(start_paused = true)]
async fn an_entry_reaches_every_other_replica_within_20_ms() {
    let (host, [a, b]) = pair(FleetOptions::default()).await;
    let c = Replica::join(&host).await;
    let mut feeds = [follow(&b).await, follow(&c).await];
    let mut own = follow(&a).await;
    let start = Instant::now();
    a.fleet.publish(number(1));
    for feed in &mut feeds {
        let event = feed.next().await.expect("an entry");
        let (from, entry) = (a.fleet.replica(), number(1));
        assert_eq!(event, NewsEvent::Entry { from, entry });
    }
    assert!(start.elapsed() <= Duration::from_millis(21));
    assert!(read(&mut own).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn equal_entries_within_20_ms_become_one() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    for at in [1, 1, 2, 1] {
        a.fleet.publish(number(at));
        sleep(Duration::from_millis(4)).await;
    }
    sleep(Duration::from_millis(10)).await;
    a.fleet.publish(number(1));
    assert_eq!(read(&mut feed).await, [1, 2, 1].map(Some));
}

#[tokio::test(start_paused = true)]
async fn entries_wait_for_the_store_and_keep_their_order() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    a.link.set(Fault::Refused);
    for at in 0..300 {
        a.fleet.publish(number(at));
    }
    sleep(seconds(5)).await;
    a.link.set(Fault::None);
    assert_eq!(read(&mut feed).await, Vec::from_iter((0..300).map(Some)));
}

#[tokio::test(start_paused = true)]
async fn entries_beyond_the_queue_mean_that_everything_may_have_changed() {
    let mut options = FleetOptions::default();
    options.max_queued_news = 4;
    let (_host, [a, b]) = pair(options).await;
    let mut feed = follow(&b).await;
    for at in 0..4 {
        a.fleet.publish(number(at));
    }
    assert_eq!(read(&mut feed).await, [0, 1, 2, 3].map(Some));
    for at in 0..5 {
        a.fleet.publish(number(at));
    }
    assert_eq!(read(&mut feed).await, [None]);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_the_news_learns_that_it_missed_some() {
    let mut options = FleetOptions::default();
    options.max_queued_news = 4;
    let (_host, [a, b]) = pair(options).await;
    let mut feed = follow(&b).await;
    for at in 0..6 {
        a.fleet.publish(number(at));
        sleep(seconds(1)).await;
    }
    assert_eq!(
        read(&mut feed).await,
        [None, Some(2), Some(3), Some(4), Some(5)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_reader_resumes_after_a_gap() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    a.fleet.publish(number(1));
    sleep(seconds(1)).await;
    b.link.set(Fault::Silent);
    a.fleet.publish(number(2));
    sleep(seconds(30)).await;
    b.link.set(Fault::None);
    assert_eq!(read(&mut feed).await, [1, 2].map(Some));
}

#[tokio::test(start_paused = true)]
async fn a_reader_learns_that_the_news_dropped_entries() {
    let mut by_count = FleetOptions::default();
    by_count.max_news_entries = 3;
    let mut by_size = FleetOptions::default();
    by_size.max_news_bytes = 250;
    for options in [by_count, by_size] {
        let (_host, [a, b]) = pair(options).await;
        let mut feed = follow(&b).await;
        a.fleet.publish(number(0));
        sleep(seconds(1)).await;
        b.link.set(Fault::Refused);
        for at in 1..5 {
            a.fleet.publish(number(at));
        }
        sleep(seconds(1)).await;
        b.link.set(Fault::None);
        let read = read(&mut feed).await;
        assert_eq!(read[..2], [Some(0), None]);
        a.fleet.publish(number(9));
        assert_eq!(self::read(&mut feed).await, [Some(9)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reader_learns_that_the_store_lost_the_news() {
    let (host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    a.fleet.publish(number(1));
    assert_eq!(read(&mut feed).await, [Some(1)]);
    sleep(seconds(121)).await;
    host.lose_content();
    let lost = read(&mut feed).await;
    assert!(!lost.is_empty() && lost.iter().all(Option::is_none));
    a.fleet.publish(number(2));
    assert_eq!(read(&mut feed).await, [Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_the_store_lost_before_its_reading_is_published_again() {
    let (host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    b.link.set(Fault::Refused);
    a.fleet.publish(number(1));
    sleep(seconds(1)).await;
    host.lose_content();
    b.link.set(Fault::None);
    let read = read(&mut feed).await;
    assert!(read.contains(&Some(1)), "{read:?}");
}

#[tokio::test(start_paused = true)]
async fn an_entry_that_the_store_lost_before_its_answer_is_published_again() {
    let mut options = FleetOptions::default();
    options.list_interval = Duration::from_millis(100);
    let (host, [a, b]) = pair(options).await;
    let mut feed = follow(&b).await;
    b.link.set(Fault::Refused);
    a.link
        .set(Fault::Slow(Duration::ZERO, Duration::from_millis(900)));
    let append = a.fleet.append(vec![number(1)]);
    let lose = async {
        sleep(MOMENT).await;
        host.lose_content();
        a.link.set(Fault::None);
    };
    let (appended, ()) = tokio::join!(append, lose);
    appended.expect("an answer");
    b.link.set(Fault::None);
    let read = read(&mut feed).await;
    assert!(read.contains(&Some(1)), "{read:?}");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_begins_while_the_store_is_away_may_have_missed_entries() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    b.link.set(Fault::Refused);
    let mut feed = follow(&b).await;
    a.fleet.publish(number(1));
    sleep(seconds(1)).await;
    b.link.set(Fault::None);
    assert_eq!(read(&mut feed).await, [None, Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_joined_late_reads_the_kept_news() {
    let mut options = FleetOptions::default();
    options.reads_kept_news = true;
    let (_host, [a, b]) = pair(options).await;
    a.fleet.publish(number(1));
    sleep(seconds(1)).await;
    let mut feed = follow(&b).await;
    assert_eq!(read(&mut feed).await, [Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn each_reader_of_a_replica_that_joined_late_reads_the_kept_news() {
    let mut options = FleetOptions::default();
    options.reads_kept_news = true;
    let (_host, [a, b]) = pair(options).await;
    a.fleet.publish(number(1));
    let mut first = follow(&b).await;
    assert_eq!(read(&mut first).await, [Some(1)]);
    let mut second = follow(&b).await;
    assert_eq!(read(&mut second).await, [Some(1)]);
    a.fleet.publish(number(2));
    assert_eq!(read(&mut second).await, [Some(2)]);
    assert_eq!(read(&mut first).await, [Some(1), Some(2)]);
}

#[tokio::test(start_paused = true)]
async fn the_last_news_of_a_replica_are_published_when_it_leaves() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    let mut own = follow(&a).await;
    a.fleet.publish(number(1));
    a.fleet.leave().await;
    assert_eq!(own.next().await, None);
    assert_eq!(read(&mut feed).await, [Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn the_news_stay_while_a_replica_runs() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    let mut feed = follow(&b).await;
    for at in 0..3 {
        a.fleet.publish(number(at));
        assert_eq!(read(&mut feed).await, [Some(at)]);
        sleep(seconds(3_600)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_fleet_of_one_has_no_news() {
    let alone = Fleet::alone(Arc::<MemoryStore>::default()).expect("randomness");
    alone.publish(number(1));
    assert_eq!(alone.news().next().await, None);
}

#[tokio::test(start_paused = true)]
async fn an_idle_replica_with_inbox_and_news_sends_33_operations_in_30_seconds() {
    let (_host, [a, b]) = pair(FleetOptions::default()).await;
    let _recorder = super::recorder::Recorder::at(&a.fleet);
    let _feed = follow(&a).await;
    sleep(seconds(6)).await;
    a.link.take_operations();
    sleep(seconds(300)).await;
    assert_eq!(a.link.take_operations(), 330);
    b.link.take_operations();
    sleep(Duration::from_millis(100)).await;
    b.link.take_operations();
    // Three entries need one append; a reader needs one reading.
    for at in 0..3 {
        b.fleet.publish(number(at));
    }
    a.link.take_operations();
    sleep(Duration::from_millis(25)).await;
    assert_eq!((a.link.take_operations(), b.link.take_operations()), (1, 1));
}
