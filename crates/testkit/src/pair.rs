//! Two engines, a simulated pipe between them, and virtual time.

use std::time::{Duration, Instant};

use pintle_model::{Feature, Revision};
use pintle_proto::Limits;
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::link::{Arrival, Link};
use crate::words::everything;

// A conversation with more steps than this does not end.
const MAX_STEPS: u32 = 100_000;

/// A client and a server.
///
/// Nothing moves until [`run`](Self::run) or [`run_for`](Self::run_for).
#[derive(Debug)]
pub struct Pair {
    /// The client of the pair.
    pub client: Endpoint,
    /// The server of the pair.
    pub server: Endpoint,
    /// From the client to the server.
    pub up: Link,
    /// From the server to the client.
    pub down: Link,
    now: Instant,
    messages: Vec<SentMessage>,
    draining: bool,
}

/// A message that was put on the pipe, with its sender. Exhaustive: a pair has two sides.
#[derive(Debug, Clone, PartialEq)]
pub enum SentMessage {
    /// Sent by the client.
    Client(Value),
    /// Sent by the server.
    Server(Value),
}

impl Pair {
    /// A pair that speaks the newest revision.
    pub fn new() -> Self {
        Self::at(Revision::LATEST)
    }

    /// A pair that speaks `revision`, the handshake done where there is one.
    pub fn at(revision: Revision) -> Self {
        Self::with_limits(revision, Limits::default())
    }

    /// A pair that speaks `revision` within `limits`.
    ///
    /// # Panics
    ///
    /// If the handshake does not succeed.
    pub fn with_limits(revision: Revision, limits: Limits) -> Self {
        let mut client = Endpoint::client_with(limits.clone());
        let server = Endpoint::server_with(everything(), limits);
        let now = client.now().max(server.now());
        if revision.has(Feature::Handshake) {
            let call = client.engine().initialize(now, revision);
            call.expect("a new client shakes hands");
        } else {
            client.engine().use_revision(revision);
        }
        let mut pair = Self::of(client, server);
        pair.run();
        pair.messages.clear();
        pair
    }

    /// A pair of existing endpoints.
    pub fn of(client: Endpoint, server: Endpoint) -> Self {
        Self {
            now: client.now().max(server.now()),
            client,
            server,
            up: Link::new(),
            down: Link::new(),
            messages: Vec::new(),
            draining: false,
        }
    }

    /// Sets the latency of both directions.
    #[must_use]
    pub fn latency(mut self, latency: Duration) -> Self {
        self.up.set_latency(latency);
        self.down.set_latency(latency);
        self
    }

    /// Sets the longest additional delay of both directions; the seed decides each delay.
    #[must_use]
    pub fn jitter(mut self, jitter: Duration, seed: u64) -> Self {
        self.up.set_jitter(jitter, seed);
        self.down.set_jitter(jitter, seed.wrapping_add(1));
        self
    }

    /// Runs until no event is left, however long that takes.
    ///
    /// # Panics
    ///
    /// If the events do not end.
    pub fn run(&mut self) {
        self.run_until(None);
    }

    /// Runs the events that are due within `time`.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub fn run_for(&mut self, time: Duration) {
        self.run_until(Some(self.now + time));
    }

    fn run_until(&mut self, end: Option<Instant>) {
        for _ in 0..MAX_STEPS {
            self.write();
            let next = self
                .next_due()
                .filter(|next| end.is_none_or(|end| *next <= end));
            match next {
                Some(next) => self.pass_to(next),
                None => return self.pass_to(end.unwrap_or(self.now)),
            }
        }
        panic!("the pair does not come to rest");
    }

    fn next_due(&self) -> Option<Instant> {
        let sides = self
            .client
            .next_due()
            .into_iter()
            .chain(self.server.next_due());
        let links = self.up.next_due().into_iter().chain(self.down.next_due());
        sides.chain(links).min().map(|due| due.max(self.now))
    }

    fn pass_to(&mut self, now: Instant) {
        self.now = now;
        self.client.pass_to(now);
        self.server.pass_to(now);
        self.read();
    }

    fn read(&mut self) {
        while let Some(arrival) = self.up.read(self.now) {
            match arrival {
                Arrival::Bytes(bytes) => self.server.arrive(&bytes),
                Arrival::End => self.draining = true,
            }
        }
        while let Some(arrival) = self.down.read(self.now) {
            match arrival {
                Arrival::Bytes(bytes) => self.client.arrive(&bytes),
                Arrival::End => self.client.close(),
            }
        }
    }

    fn write(&mut self) {
        while self.up.has_room()
            && let Some(sent) = self.client.next_sent()
        {
            self.up.write(self.now, line(&sent.message));
            self.messages.push(SentMessage::Client(sent.message));
        }
        self.write_down();
        self.end_when_drained();
    }

    fn write_down(&mut self) {
        while self.down.has_room()
            && let Some(sent) = self.server.next_sent()
        {
            self.down.write(self.now, line(&sent.message));
            self.messages.push(SentMessage::Server(sent.message));
        }
    }

    // A server whose input has ended answers the open requests, then closes.
    fn end_when_drained(&mut self) {
        if !self.draining || !self.server.open().is_empty() {
            return;
        }
        self.server.engine().end_listens();
        self.write_down();
        if self.server.engine().queued() == 0 {
            self.draining = false;
            self.server.close();
            self.down.close(self.now);
        }
    }

    /// Breaks the pipe: bytes under way are lost, and both sides are notified.
    pub fn cut(&mut self) {
        self.up.cut();
        self.down.cut();
        self.client.close();
        self.server.close();
    }

    /// Closes the client's direction; the server answers the open requests and closes.
    pub fn half_close(&mut self) {
        self.write();
        self.up.close(self.now);
    }

    /// All messages that were put on the pipe since the pair was made, in order.
    pub fn messages(&self) -> &[SentMessage] {
        &self.messages
    }

    /// The messages that the server sent.
    pub fn server_said(&self) -> Vec<&Value> {
        self.messages
            .iter()
            .filter_map(SentMessage::by_server)
            .collect()
    }

    /// The messages that the client sent.
    pub fn client_said(&self) -> Vec<&Value> {
        self.messages
            .iter()
            .filter_map(SentMessage::by_client)
            .collect()
    }
}

impl SentMessage {
    /// The message, if the client sent it.
    pub fn by_client(&self) -> Option<&Value> {
        match self {
            Self::Client(message) => Some(message),
            Self::Server(_) => None,
        }
    }

    /// The message, if the server sent it.
    pub fn by_server(&self) -> Option<&Value> {
        match self {
            Self::Server(message) => Some(message),
            Self::Client(_) => None,
        }
    }
}

impl Default for Pair {
    fn default() -> Self {
        Self::new()
    }
}

fn line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}
