//! The logs of streams.

use std::sync::Arc;
use std::time::Duration;

use pintle_runtime::fleet::{StreamEvent, StreamLog, StreamReader, StreamWriter, Written};
use pintle_store::StoreLimits;
use tokio::time::sleep;

use super::link::{Fault, Host};
use super::{Replica, seconds};

const TTL: Duration = Duration::from_secs(600);

async fn pair() -> (Arc<Host>, Replica, Replica) {
    let host = Host::new();
    let a = Replica::join(&host).await;
    let b = Replica::join(&host).await;
    (host, a, b)
}

fn log(replica: &Replica) -> StreamLog {
    replica.fleet.stream_log(1, 2, 3)
}

fn writer(replica: &Replica) -> StreamWriter {
    log(replica).writer(100, 1 << 20, TTL)
}

fn event(replica: &Replica, number: u64) -> StreamEvent {
    StreamEvent {
        writer: replica.fleet.replica(),
        number,
        request: Some("7".into()),
        is_last: false,
        message: number.to_string().into(),
    }
}

async fn read(replica: &Replica, after: u64) -> Option<StreamReader> {
    log(replica).reader(after).await.expect("the store answers")
}

fn numbers(reader: &mut StreamReader) -> Vec<u64> {
    std::iter::from_fn(|| reader.take())
        .map(|event| event.number)
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_reader_has_the_events_after_the_last_one_of_its_client() {
    let (_host, a, b) = pair().await;
    let mut writer = writer(&a);
    for events in [&[event(&a, 0), event(&a, 1)][..], &[event(&a, 2)]] {
        assert_eq!(writer.append(events).await, Written::Done);
    }
    let mut reader = read(&b, 0).await.expect("a log");
    assert_eq!(numbers(&mut reader), [1, 2]);
    assert_eq!(reader.writer(), a.fleet.replica());
    assert_eq!(reader.request(), Some("7"));
    assert_eq!(reader.last(), 2);
    let mut ahead = read(&b, 9).await.expect("a log");
    assert!(numbers(&mut ahead).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_writer_repeats_an_append_whose_answer_is_lost() {
    let (_host, a, b) = pair().await;
    let mut writer = writer(&a);
    assert_eq!(writer.append(&[event(&a, 0)]).await, Written::Done);
    for fault in [Fault::AnswersLost, Fault::Refused] {
        let first = writer.next();
        let events = [event(&a, first), event(&a, first + 1)];
        a.link.set(fault);
        assert_eq!(writer.append(&events).await, Written::Away);
        a.link.set(Fault::None);
        assert_eq!(writer.append(&events).await, Written::Done, "{fault:?}");
        assert_eq!(writer.next(), first + 2);
    }
    let mut reader = read(&b, 0).await.expect("a log");
    assert_eq!(numbers(&mut reader), [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_writer_whose_stream_was_ended_appends_nothing() {
    let (_host, a, b) = pair().await;
    let mut writer = writer(&a);
    assert_eq!(writer.append(&[event(&a, 0)]).await, Written::Done);
    let mut reader = read(&b, 0).await.expect("a log");
    let ended = reader.end("gone".into(), TTL).await;
    assert!(ended.expect("the store answers"));
    assert!(reader.is_taken_over());
    assert_eq!(numbers(&mut reader), [StreamEvent::TAKEN_OVER]);
    assert_eq!(writer.append(&[event(&a, 1)]).await, Written::TakenOver);
    let mut again = read(&a, 5).await.expect("a log");
    assert_eq!(again.last_event().expect("an end").message, "gone");
    assert_eq!(numbers(&mut again), [StreamEvent::TAKEN_OVER]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_ends_a_stream_receives_the_events_before() {
    let (_host, a, b) = pair().await;
    let mut writer = writer(&a);
    assert_eq!(writer.append(&[event(&a, 0)]).await, Written::Done);
    let mut reader = read(&b, 0).await.expect("a log");
    assert_eq!(writer.append(&[event(&a, 1)]).await, Written::Done);
    let ended = reader.end("gone".into(), TTL).await;
    assert!(ended.expect("the store answers"));
    assert!(!reader.is_taken_over());
    assert_eq!(numbers(&mut reader), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_log_that_dropped_events_or_has_expired_is_not_read() {
    let (_host, a, b) = pair().await;
    assert!(read(&b, 0).await.is_none(), "no log");
    let mut writer = log(&a).writer(2, 1 << 20, TTL);
    for number in 0..2 {
        assert_eq!(writer.append(&[event(&a, number)]).await, Written::Done);
    }
    let mut reader = read(&b, 0).await.expect("a log at its limit");
    assert_eq!(numbers(&mut reader), [1]);
    assert_eq!(writer.append(&[event(&a, 2)]).await, Written::Done);
    assert!(read(&b, 1).await.is_none(), "one past it");
    sleep(TTL + seconds(1)).await;
    assert!(read(&b, 2).await.is_none(), "expired");
    assert_eq!(writer.append(&[event(&a, 3)]).await, Written::Gone);
}

#[tokio::test(start_paused = true)]
async fn a_long_log_is_read_and_written_in_parts() {
    let (_host, a, b) = pair().await;
    let events: Vec<_> = (0..600).map(|number| event(&a, number)).collect();
    let mut writer = log(&a).writer(1_000, 1 << 20, TTL);
    assert_eq!(writer.append(&events).await, Written::Done);
    let mut reader = read(&b, 0).await.expect("a log");
    assert_eq!(numbers(&mut reader), Vec::from_iter(1..600));
}

#[tokio::test(start_paused = true)]
async fn the_parts_of_a_long_append_are_not_counted_as_failures() {
    let (_host, a, b) = pair().await;
    // One append has at most 256 events.
    let events: Vec<_> = (0..1_000).map(|number| event(&a, number)).collect();
    let mut writer = log(&a).writer(1_000, 1 << 20, TTL);
    a.link.take_operations();
    assert_eq!(writer.append(&events).await, Written::Done);
    assert_eq!(a.link.take_operations(), 4);
    let mut reader = read(&b, 0).await.expect("a log");
    assert_eq!(numbers(&mut reader).len(), 999);
}

#[tokio::test(start_paused = true)]
async fn a_writer_gives_up_a_log_whose_event_the_store_rejects() {
    let (_host, a, b) = pair().await;
    let mut writer = writer(&a);
    assert_eq!(writer.append(&[event(&a, 0)]).await, Written::Done);
    let mut large = event(&a, 1);
    large.message = vec![b'x'; StoreLimits::default().max_value_bytes + 1].into();
    assert_eq!(writer.append(&[large]).await, Written::Gone);
    assert_eq!(writer.append(&[event(&a, 1)]).await, Written::Gone);
    assert!(writer.abandon().await);
    assert!(read(&b, 0).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_renewal_after_a_failed_append_keeps_the_log() {
    for fault in [Fault::AnswersLost, Fault::Refused] {
        let (_host, a, b) = pair().await;
        let mut writer = writer(&a);
        assert_eq!(writer.renew().await, Written::Done, "no log yet");
        assert_eq!(writer.append(&[event(&a, 0)]).await, Written::Done);
        a.link.set(fault);
        assert_eq!(writer.append(&[event(&a, 1)]).await, Written::Away);
        assert_eq!(writer.renew().await, Written::Away, "{fault:?}");
        a.link.set(Fault::None);
        sleep(TTL / 2).await;
        assert_eq!(writer.renew().await, Written::Done, "{fault:?}");
        a.link.take_operations();
        assert_eq!(writer.renew().await, Written::Done);
        assert_eq!(a.link.take_operations(), 1);
        sleep(TTL - seconds(1)).await;
        assert!(read(&b, 0).await.is_some(), "{fault:?}");
        sleep(seconds(2)).await;
        assert!(read(&b, 0).await.is_none(), "expired");
    }
}

#[tokio::test(start_paused = true)]
async fn a_renewal_notices_the_end_and_the_loss_of_its_log() {
    for is_lost in [false, true] {
        let (host, a, b) = pair().await;
        let mut writer = writer(&a);
        assert_eq!(writer.append(&[event(&a, 0)]).await, Written::Done);
        let expected = if is_lost {
            host.lose_content();
            Written::Gone
        } else {
            let mut reader = read(&b, 0).await.expect("a log");
            let ended = reader.end("gone".into(), TTL).await;
            assert!(ended.expect("the store answers"));
            Written::TakenOver
        };
        assert_eq!(writer.renew().await, expected);
        assert_eq!(writer.renew().await, Written::Gone, "final");
    }
}
