//! Following a log: a watch wakes the reader, and it reads from time to time all the same.

use std::time::Duration;

use pintle_store::{Changes, Key, Prefix};
use tokio::select;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use super::background::reason;
use super::layout;
use super::log_reader::{Batch, LogReader, NextRead, Pauses};
use super::shared::Shared;

/// The number of events in one reading.
const MAX_EVENTS: usize = 256;

/// A reader of one log, and its watch.
pub(super) struct LogFollower<'a> {
    shared: &'a Shared,
    key: Key,
    ttl: Duration,
    reader: LogReader,
    watch: Option<Changes>,
    content: watch::Receiver<u64>,
    /// Restarts of the news. `None` for an inbox.
    restarts: Option<watch::Receiver<u64>>,
}

impl<'a> LogFollower<'a> {
    /// Reads the inbox of this replica from its start, because its name is new.
    pub(super) fn inbox(shared: &'a Shared) -> Self {
        let (key, ttl) = (layout::inbox_key(shared.replica), shared.options.inbox_ttl);
        let reader = LogReader::from_start(pauses(shared, ttl), Instant::now());
        Self::new(shared, key, ttl, reader)
    }

    /// Reads the news from now on, or from the first kept entry if the replica joined late.
    pub(super) fn news(shared: &'a Shared) -> Self {
        let (key, ttl) = (layout::news_key(), shared.options.news_ttl);
        let (pauses, now) = (pauses(shared, ttl), Instant::now());
        let restarts = Some(shared.news.restarts.subscribe());
        let reader = match shared.reads_kept_news() {
            true => LogReader::from_start(pauses, now),
            false => LogReader::from_tail(pauses, now),
        };
        Self {
            restarts,
            ..Self::new(shared, key, ttl, reader)
        }
    }

    fn new(shared: &'a Shared, key: Key, ttl: Duration, mut reader: LogReader) -> Self {
        let mut content = shared.content.subscribe();
        reader.set_content(*content.borrow_and_update());
        Self {
            shared,
            key,
            ttl,
            reader,
            watch: None,
            content,
            restarts: None,
        }
    }

    /// Waits for events, or for the loss of some.
    pub(super) async fn next(&mut self) -> Batch {
        loop {
            self.wait().await;
            let batch = self.read().await;
            if batch.is_lost || !batch.events.is_empty() {
                return batch;
            }
        }
    }

    /// Waits until a reading is due, and watches before it.
    async fn wait(&mut self) {
        while self.must_wait().await {}
        self.reader.wake(Instant::now());
        if self.watch.is_none() {
            let prefix = Prefix::from(self.key.clone());
            self.watch = self.shared.operations().watch(&prefix).await.ok();
        }
    }

    /// Returns true if a watch ended or a store that fails woke the reader: it waits for its pause then.
    async fn must_wait(&mut self) -> bool {
        let has_failed = self.reader.has_failed();
        select! {
            biased;
            () = sleep_until(self.reader.due()) => false,
            // The sender lives as long as the replica.
            _ = self.content.changed(), if !has_failed => {
                self.watch = None;
                false
            }
            () = restarted(&mut self.restarts), if !has_failed => {
                self.reader.restart(Instant::now());
                false
            }
            is_open = woken(&mut self.watch), if !has_failed => {
                if !is_open {
                    self.watch = None;
                    self.reader.lose_watch(Instant::now());
                }
                !is_open
            }
        }
    }

    async fn read(&mut self) -> Batch {
        let is_new = self.reader.check_content(*self.content.borrow());
        let mut batch = match self.try_read().await {
            Ok(batch) => batch,
            Err(error) => {
                debug!(error = %reason(&error), "a log of the fleet cannot be read");
                self.reader.failed(Instant::now());
                Batch::default()
            }
        };
        batch.is_lost |= is_new;
        if self.restarts.is_some() && self.reader.has_position() {
            self.shared.news.set_position();
        }
        batch
    }

    async fn try_read(&mut self) -> Result<Batch, pintle_store::StoreError> {
        let operations = self.shared.operations();
        if self.reader.must_renew(Instant::now()) {
            operations.renew(&self.key, self.ttl).await?;
        }
        match self.reader.next() {
            NextRead::Tail => {
                let tail = operations.renew(&self.key, self.ttl).await?;
                Ok(self.reader.set_tail(tail, Instant::now()))
            }
            NextRead::After(position) => {
                let tail = operations.read(&self.key, position, MAX_EVENTS).await?;
                let is_watched = self.watch.is_some();
                Ok(self.reader.settle(tail, is_watched, Instant::now()))
            }
        }
    }
}

/// Waits for a change. Returns false if the watch has ended.
async fn woken(watch: &mut Option<Changes>) -> bool {
    match watch {
        Some(watch) => watch.next().await.is_some(),
        None => std::future::pending().await,
    }
}

/// Waits until a later reader needs the kept entries.
async fn restarted(restarts: &mut Option<watch::Receiver<u64>>) {
    if let Some(restarts) = restarts
        && restarts.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

fn pauses(shared: &Shared, ttl: Duration) -> Pauses {
    Pauses {
        unwatched: shared.options.poll_interval,
        watched: shared.options.watched_poll_interval,
        renewal: ttl / 3,
    }
}
