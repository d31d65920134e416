//! The entries of this replica on their way to the news.

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep_until};

use super::message::ReplicaMessage;
use super::news_queue::NewsQueue;
use super::options::FleetOptions;
use super::recent_news::RecentNews;
use crate::sync::Mutex;

/// The part of a replica that publishes and follows the news.
#[derive(Debug)]
pub(super) struct NewsOutbox {
    pub(super) queue: Mutex<NewsQueue>,
    pub(super) recent: Mutex<RecentNews>,
    /// Wakes the task that appends.
    added: Notify,
    pub(super) is_followed: watch::Sender<bool>,
    /// How often a later reader asked for the kept entries.
    pub(super) restarts: watch::Sender<u64>,
    /// Whether this replica reads each entry that is appended from now on.
    has_position: watch::Sender<bool>,
}

impl NewsOutbox {
    pub(super) fn new(options: &FleetOptions) -> Self {
        Self {
            queue: Mutex::new(NewsQueue::new(options)),
            recent: Mutex::default(),
            added: Notify::new(),
            is_followed: watch::Sender::new(false),
            restarts: watch::Sender::new(0),
            has_position: watch::Sender::new(false),
        }
    }

    pub(super) fn add(&self, entry: ReplicaMessage, due: Instant) {
        self.queue.lock().add(entry, due);
        self.added.notify_one();
    }

    /// Appends the entries of the last two minutes once more, because the store lost the news.
    pub(super) fn repeat(&self, now: Instant) {
        let recent = self.recent.lock().entries(now);
        if !recent.is_empty() {
            self.queue.lock().put_back(recent, now);
            self.added.notify_one();
        }
    }

    /// Begins to follow the news. With `needs_kept` a reader that came after others receives the kept entries too.
    pub(super) fn follow(&self, needs_kept: bool) {
        let was_followed = self.is_followed.send_replace(true);
        if was_followed && needs_kept {
            self.restarts.send_modify(|restarts| *restarts += 1);
        }
    }

    /// Records that the position of the reader is known.
    pub(super) fn set_position(&self) {
        self.has_position.send_replace(true);
    }

    pub(super) async fn wait_for_position(&self) {
        let mut known = self.has_position.subscribe();
        // The sender lives as long as this value.
        let _ = known.wait_for(|is_known| *is_known).await;
    }

    pub(super) async fn next_append(&self) {
        loop {
            let Some(due) = self.queue.lock().due() else {
                self.added.notified().await;
                continue;
            };
            return sleep_until(due).await;
        }
    }
}
