//! The events of a page, in order: messages of the timeline, progress, questions, changes.
//!
//! A bounded ring stores them. A page asks for those after the last one that it has, and waits for the next one.

use std::collections::VecDeque;
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pintle_runtime::sync::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::object::Object;
use crate::options::WebOptions;

/// Largest size of the events in one response, in bytes. One event may exceed it.
const BATCH_BYTES: usize = 2 << 20;

/// The stored events.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    newest: watch::Sender<u64>,
    max_events: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Ring {
    events: VecDeque<Box<[u8]>>,
    bytes: usize,
    /// Number of all events so far. The newest event has this number.
    newest: u64,
}

impl Feed {
    pub(crate) fn new(options: &WebOptions) -> Self {
        Self {
            ring: Mutex::default(),
            newest: watch::Sender::new(0),
            max_events: options.max_events,
            max_bytes: options.max_events_bytes,
        }
    }

    /// Adds an event, which has a number and its time in milliseconds since 1970 besides its own members.
    pub(crate) fn add(&self, event: &Object) {
        let mut ring = self.ring.lock();
        let seq = ring.newest + 1;
        let at = since_epoch().as_secs_f64() * 1000.0;
        let mut text = Vec::with_capacity(event.members().len() + 48);
        // A vector accepts all bytes.
        let _ = write!(text, "{{\"seq\":{seq},\"at\":{at},");
        text.extend_from_slice(event.members());
        text.push(b'}');
        ring.newest = seq;
        ring.bytes += text.len();
        ring.events.push_back(text.into());
        while ring.events.len() > self.max_events
            || (ring.bytes > self.max_bytes && ring.events.len() > 1)
        {
            let dropped = ring.events.pop_front();
            ring.bytes -= dropped.map_or(0, |text| text.len());
        }
        drop(ring);
        self.newest.send_replace(seq);
    }

    /// Returns the number of the newest event.
    pub(crate) fn newest(&self) -> u64 {
        self.ring.lock().newest
    }

    /// Waits for an event after the number `after`, for a limited time. Returns the JSON text of the response.
    pub(crate) async fn wait(&self, after: u64, wait: Duration) -> Vec<u8> {
        let mut newest = self.newest.subscribe();
        // A page of an earlier process may have a larger number.
        let is_new = |newest: &u64| *newest != after;
        let _ = timeout(wait, newest.wait_for(is_new)).await;
        self.ring.lock().after(after)
    }
}

impl Ring {
    fn after(&self, after: u64) -> Vec<u8> {
        let stored = self.events.len() as u64;
        let oldest = self.newest - stored + 1;
        let first = match after < self.newest {
            true => (after + 1).max(oldest),
            false => self.newest + 1,
        };
        let lost = first.saturating_sub(after + 1);
        let skipped = usize::try_from(first - oldest).unwrap_or(usize::MAX);
        let mut text = b"{\"events\":[".to_vec();
        let mut next = first.saturating_sub(1);
        for event in self.events.iter().skip(skipped) {
            if text.len() + event.len() > BATCH_BYTES && next >= first {
                break;
            }
            if next >= first {
                text.push(b',');
            }
            text.extend_from_slice(event);
            next += 1;
        }
        let _ = write!(text, "],\"next\":{next},\"lost\":{lost}}}");
        text
    }
}

fn since_epoch() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn event() -> Object {
        Object::event("n")
    }

    fn long(length: usize) -> Object {
        let mut event = event();
        event.text("text", &"x".repeat(length));
        event
    }

    fn feed(max_events: usize, max_events_bytes: usize) -> Feed {
        Feed::new(&WebOptions {
            max_events,
            max_events_bytes,
            ..WebOptions::default()
        })
    }

    async fn read(feed: &Feed, after: u64) -> (Vec<u64>, u64, u64) {
        let text = feed.wait(after, Duration::from_secs(1)).await;
        let value: Value = serde_json::from_slice(&text).expect("JSON");
        let events = value["events"].as_array().expect("a list");
        let numbers = events.iter().map(|event| event["seq"].as_u64());
        let number = |name: &str| value[name].as_u64().expect("a number");
        let numbers = numbers.collect::<Option<_>>().expect("numbers");
        (numbers, number("next"), number("lost"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_receives_the_events_after_its_last_one() {
        let feed = feed(10, 1 << 20);
        assert_eq!(read(&feed, 0).await, (vec![], 0, 0));
        for _ in 0..3 {
            feed.add(&event());
        }
        assert_eq!(read(&feed, 0).await, (vec![1, 2, 3], 3, 0));
        assert_eq!(read(&feed, 2).await, (vec![3], 3, 0));
        assert_eq!(read(&feed, 3).await, (vec![], 3, 0));
        assert_eq!(read(&feed, 99).await, (vec![], 3, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_events_are_dropped_and_counted() {
        let feed = feed(2, 1 << 20);
        for _ in 0..5 {
            feed.add(&event());
        }
        assert_eq!(read(&feed, 0).await, (vec![4, 5], 5, 3));
        assert_eq!(read(&feed, 2).await, (vec![4, 5], 5, 1));
        assert_eq!(read(&feed, 4).await, (vec![5], 5, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn the_bytes_of_all_events_are_bounded() {
        let feed = feed(100, 1000);
        for _ in 0..5 {
            feed.add(&long(400));
        }
        let (numbers, next, lost) = read(&feed, 0).await;
        assert_eq!((numbers, next, lost), (vec![4, 5], 5, 3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_feed_arrives_in_several_responses() {
        let feed = feed(100, 64 << 20);
        for _ in 0..3 {
            feed.add(&long(BATCH_BYTES / 2 + 1));
        }
        assert_eq!(read(&feed, 0).await, (vec![1], 1, 0));
        assert_eq!(read(&feed, 1).await, (vec![2], 2, 0));
        assert_eq!(read(&feed, 2).await, (vec![3], 3, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_page_receives_the_next_event() {
        let feed = std::sync::Arc::new(feed(10, 1 << 20));
        let waiting = tokio::spawn({
            let feed = std::sync::Arc::clone(&feed);
            async move { feed.wait(0, Duration::from_secs(60)).await }
        });
        tokio::task::yield_now().await;
        feed.add(&event());
        let text = waiting.await.expect("answered");
        let page: Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(
            (&page["events"][0]["seq"], &page["events"][0]["type"]),
            (&1.into(), &"n".into())
        );
    }
}
