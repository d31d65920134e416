//! The news: a log of entries that every replica follows.

use std::future::pending;

use pintle_store::{Event, Retention, StoreError};
use tokio::time::Instant;
use tracing::debug;

use super::background::{Background, reason};
use super::envelope::{Content, Envelope};
use super::follow::LogFollower;
use super::layout;
use super::message::ReplicaMessage;
use super::news_feed::NewsEvent;
use super::replica_id::ReplicaId;
use super::shared::Shared;

impl Background {
    /// Appends the entries of this replica.
    pub(super) async fn publish_news(&self) {
        loop {
            self.shared.news.next_append().await;
            if let Err(error) = self.append_news().await {
                debug!(error = %reason(&error), "the news cannot be published");
            }
        }
    }

    /// Appends one batch. An append that failed is repeated, so a reader may read an entry twice.
    pub(super) async fn append_news(&self) -> Result<(), StoreError> {
        let shared = &self.shared;
        let batch = shared.news.queue.lock().take();
        if batch.is_empty() {
            return Ok(());
        }
        let appended = shared.append_news(&batch).await;
        let retry = Instant::now() + shared.options.poll_interval;
        match &appended {
            Err(error) if error.is_retryable() => shared.news.queue.lock().put_back(batch, retry),
            // The store refuses these entries also later.
            Err(_) => shared.news.queue.lock().lose(retry),
            Ok(()) => {}
        }
        appended
    }

    /// Passes the entries of other replicas to the feeds.
    pub(super) async fn follow_news(&self) {
        if self
            .shared
            .news
            .is_followed
            .subscribe()
            .wait_for(|is| *is)
            .await
            .is_err()
        {
            return pending().await;
        }
        let mut follower = LogFollower::news(&self.shared);
        loop {
            let batch = follower.next().await;
            if batch.is_lost {
                self.pass_news(NewsEvent::Lost);
            }
            for event in batch.events {
                if let Some(event) = read_entry(self.shared.replica, &event) {
                    self.pass_news(event);
                }
            }
        }
    }

    fn pass_news(&self, event: NewsEvent) {
        // Without a feed the entry is not needed.
        let _ = self.news.send(event);
    }
}

impl Shared {
    /// Appends entries. They are kept before, because the store may lose its content before it answers.
    pub(super) async fn append_news(&self, batch: &[ReplicaMessage]) -> Result<(), StoreError> {
        let kept = batch.to_vec();
        self.news.recent.lock().keep(kept, Instant::now());
        let envelope = |entry: &ReplicaMessage| {
            let (from, number) = (self.replica, self.mail.next_number());
            let content = Content::Message(entry.clone());
            Envelope {
                from,
                number,
                content,
            }
            .encode()
        };
        let events: Vec<_> = batch.iter().map(envelope).collect();
        let retention = Retention {
            max_events: self.options.max_news_entries,
            max_bytes: self.options.max_news_bytes,
        };
        let (operations, ttl) = (self.operations(), self.options.news_ttl);
        operations
            .append(&layout::news_key(), &events, retention, ttl)
            .await
    }
}

/// Returns the entry of another replica. An event that this version cannot read may have changed everything.
fn read_entry(replica: ReplicaId, event: &Event) -> Option<NewsEvent> {
    let Some(envelope) = Envelope::decode(&event.value) else {
        return Some(NewsEvent::Lost);
    };
    if envelope.from == replica {
        return None;
    }
    let from = envelope.from;
    Some(match envelope.content {
        Content::Message(entry) if !entry.is_everything() => NewsEvent::Entry { from, entry },
        _ => NewsEvent::Lost,
    })
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use pintle_store::Position;

    use super::*;

    #[test]
    fn an_entry_that_this_version_cannot_read_may_have_changed_everything() {
        let [a, b] = ["aaaaaaaa", "bbbbbbbb"].map(|id| id.parse().expect("a replica id"));
        let read = |text: &'static str| {
            let event = Event::new(Position::new(1), text.into());
            read_entry(a, &event)
        };
        let newer = r#"{"schema":2,"from":"bbbbbbbb","number":1}"#;
        let all = r#"{"schema":1,"from":"bbbbbbbb","number":1,"kind":"","body":null}"#;
        for text in ["{", newer, all] {
            assert_eq!(read(text), Some(NewsEvent::Lost), "{text}");
        }
        let own = r#"{"schema":1,"from":"aaaaaaaa","number":1,"kind":"x","body":1}"#;
        assert_eq!(read(own), None);
        let other = r#"{"schema":1,"from":"bbbbbbbb","number":1,"kind":"x","body":1}"#;
        let entry = ReplicaMessage::new("x", &1).expect("JSON");
        assert_eq!(read(other), Some(NewsEvent::Entry { from: b, entry }));
    }
}
