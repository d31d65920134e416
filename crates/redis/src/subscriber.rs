//! The connection for messages. It subscribes to the channels of the watched groups.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use pintle_store::{Key, Watchers};
use redis::aio::{PubSub, PubSubSink};
use redis::{Msg, RedisResult};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, interval_at, timeout};

use crate::servers::Servers;

/// A pause before the first new connection, which doubles up to the last one.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LAST_PAUSE: Duration = Duration::from_secs(1);

/// A silent connection is probed after this time.
const PROBE_INTERVAL: Duration = Duration::from_secs(5);

/// Longest time for a new connection or an answer on it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The subscriptions of a store. Dropping it ends its task.
pub(crate) struct Subscriber {
    channels: Arc<Channels>,
    task: AbortHandle,
}

impl Subscriber {
    /// Follows the messages of a connection, and of those that replace it.
    pub(crate) fn start(servers: Arc<Servers>, first: PubSub, watchers: Arc<Watchers>) -> Self {
        let channels = Arc::<Channels>::default();
        let follower = Follower {
            servers,
            watchers,
            channels: Arc::clone(&channels),
        };
        let task = tokio::spawn(follower.run(first)).abort_handle();
        Self { channels, task }
    }

    /// Returns a watch of a channel. It is not confirmed yet.
    pub(crate) fn watch(&self, channel: String) -> ChannelWatch {
        self.channels.add(&channel);
        ChannelWatch {
            channels: Arc::clone(&self.channels),
            channel,
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A subscription that ends with its last watch.
pub(crate) struct ChannelWatch {
    channels: Arc<Channels>,
    channel: String,
}

impl ChannelWatch {
    /// Waits until Redis sends the messages of the channel.
    pub(crate) async fn confirmed(&self) {
        loop {
            let confirmed = self.channels.confirmed.notified();
            tokio::pin!(confirmed);
            // From here on no notice is missed.
            confirmed.as_mut().enable();
            if self.channels.is_subscribed(&self.channel) {
                return;
            }
            confirmed.await;
        }
    }
}

impl Drop for ChannelWatch {
    fn drop(&mut self) {
        self.channels.release(&self.channel);
    }
}

/// The channels that watches require, with their states.
#[derive(Default)]
struct Channels {
    rows: Mutex<HashMap<String, Channel>>,
    /// A channel was added or released.
    changed: Notify,
    /// A channel was subscribed to.
    confirmed: Notify,
}

#[derive(Default)]
struct Channel {
    watches: usize,
    is_subscribed: bool,
}

impl Channels {
    fn rows(&self) -> MutexGuard<'_, HashMap<String, Channel>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, channel: &str) {
        self.rows().entry(channel.to_owned()).or_default().watches += 1;
        self.changed.notify_one();
    }

    fn release(&self, channel: &str) {
        if let Some(row) = self.rows().get_mut(channel) {
            row.watches -= 1;
        }
        self.changed.notify_one();
    }

    fn is_subscribed(&self, channel: &str) -> bool {
        self.rows().get(channel).is_some_and(|it| it.is_subscribed)
    }

    /// Returns the channels to subscribe to.
    fn missing(&self) -> Vec<String> {
        let rows = self.rows();
        let missing = rows
            .iter()
            .filter(|(_, it)| !it.is_subscribed && it.watches > 0);
        missing.map(|(channel, _)| channel.clone()).collect()
    }

    /// Removes the channels without a watch. Returns those that have a subscription.
    fn take_unused(&self) -> Vec<String> {
        let unused = |_: &String, it: &mut Channel| it.watches == 0;
        let mut rows = self.rows();
        let unused = rows.extract_if(unused).filter(|(_, it)| it.is_subscribed);
        unused.map(|(channel, _)| channel).collect()
    }

    fn confirm(&self, channels: &[String]) {
        let mut rows = self.rows();
        for channel in channels {
            if let Some(row) = rows.get_mut(channel) {
                row.is_subscribed = true;
            }
        }
        drop(rows);
        self.confirmed.notify_waiters();
    }

    /// Marks every channel as missing, because the connection ended.
    fn reset(&self) {
        for row in self.rows().values_mut() {
            row.is_subscribed = false;
        }
    }
}

/// The task behind a [`Subscriber`].
struct Follower {
    servers: Arc<Servers>,
    watchers: Arc<Watchers>,
    channels: Arc<Channels>,
}

impl Follower {
    async fn run(self, first: PubSub) {
        let mut pause = FIRST_PAUSE;
        let mut connection = Some(first);
        loop {
            if let Some(connection) = connection.take() {
                let began = Instant::now();
                // Any end is the end of the connection.
                let _ = self.follow(connection).await;
                self.channels.reset();
                if began.elapsed() > LAST_PAUSE {
                    pause = FIRST_PAUSE;
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
            connection = connect(&self.servers).await;
        }
    }

    /// Reports messages until the connection ends.
    async fn follow(&self, connection: PubSub) -> RedisResult<()> {
        let (mut sink, mut messages) = connection.split();
        let mut probes = interval_at(Instant::now() + PROBE_INTERVAL, PROBE_INTERVAL);
        self.subscribe(&mut sink).await?;
        // Messages before this connection may be lost.
        self.watchers.notify_all();
        loop {
            tokio::select! {
                message = messages.next() => match message {
                    Some(message) => self.report(&message),
                    None => return Ok(()),
                },
                () = self.channels.changed.notified() => self.subscribe(&mut sink).await?,
                _ = probes.tick() => within(sink.ping::<redis::Value>()).await.map(drop)?,
            }
        }
    }

    /// Subscribes to the channels of new watches, and ends the subscriptions without a watch.
    async fn subscribe(&self, sink: &mut PubSubSink) -> RedisResult<()> {
        let unused = self.channels.take_unused();
        if !unused.is_empty() {
            within(sink.unsubscribe(&unused)).await?;
        }
        let missing = self.channels.missing();
        if !missing.is_empty() {
            within(sink.subscribe(&missing)).await?;
            self.channels.confirm(&missing);
        }
        Ok(())
    }

    /// Wakes the watchers of the key in a message.
    fn report(&self, message: &Msg) {
        let text = std::str::from_utf8(message.get_payload_bytes());
        let key = text.ok().and_then(|text| Key::parse(text).ok());
        match key {
            Some(key) => self.watchers.notify(&key),
            None => self.watchers.notify_all(),
        }
    }
}

/// Opens a connection for messages. `None` after an error: the next attempt follows.
async fn connect(servers: &Servers) -> Option<PubSub> {
    within(servers.messages()).await.ok()
}

async fn within<T>(answer: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let timed_out = |_| std::io::Error::from(std::io::ErrorKind::TimedOut);
    timeout(ANSWER_TIMEOUT, answer).await.map_err(timed_out)?
}
