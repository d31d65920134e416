//! The clients, of both eras.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use pintle::client::{CallError, ConnectError, EraMode};
use pintle::http::client::{EndpointUrl, HttpClientOptions, HttpConnect};
use pintle::model::{CallToolResult, Revision};
use pintle::prelude::*;
use pintle::proto::{TransportError, TransportErrorKind};
use pintle_testkit::Rng;
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::plan::Plan;
use crate::replica::{BOARD, answer};
use crate::tally::{End, Kind, Tally};

/// Longest time of a call. A longer one hangs.
pub(crate) const BOUND: Duration = Duration::from_secs(60);
/// In a call of this time the first progress is well ahead of the result, unless a proxy buffers it.
const LONG: Duration = Duration::from_secs(1);
/// Longest pause between two calls of a client.
const PAUSE: Duration = Duration::from_millis(200);
/// Longest time of a run that ends after a number of calls.
const LONGEST: Duration = Duration::from_secs(30 * 60);
/// How often a change is announced at the end, and the time after each.
const ANNOUNCEMENTS: usize = 15;
const INTERVAL: Duration = Duration::from_secs(2);

/// The revision whose session ends with its stream.
const OLDEST: &str = "2024-11-05";

/// A client, with the number of changes that it has received.
struct Visitor {
    client: Client,
    number: u64,
    revision: &'static str,
    seed: u64,
    changes: Arc<AtomicUsize>,
    tally: Arc<Tally>,
    stop: Arc<AtomicBool>,
    /// Of the subscription, and its time.
    last_event: std::sync::Mutex<(f64, String)>,
}

/// The clients of a run, and their calls in progress.
pub(crate) struct Crowd {
    visitors: Vec<Arc<Visitor>>,
    running: std::sync::Mutex<Vec<JoinHandle<()>>>,
    stop: Arc<AtomicBool>,
}

impl Crowd {
    /// Prepares the clients of three revisions.
    pub(crate) fn enter(plan: &Plan, proxy: SocketAddr, tally: &Arc<Tally>) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let visitor = |number| Visitor::new(number, plan, proxy, tally, &stop).map(Arc::new);
        Ok(Self {
            visitors: (0..plan.clients).map(visitor).collect::<Result<_>>()?,
            running: Vec::new().into(),
            stop,
        })
    }

    /// Has all clients work for the time of the plan, or until enough calls were sent.
    pub(crate) async fn work(&self, plan: &Plan, began: Instant) {
        for visitor in &self.visitors {
            let (calling, subscribing) = (Arc::clone(visitor), Arc::clone(visitor));
            let calls = tokio::spawn(async move { calling.work().await });
            self.running.lock().expect("no panic").push(calls);
            tokio::spawn(async move { subscribing.subscribe().await });
        }
        let tally = self.visitors.first().map(|it| Arc::clone(&it.tally));
        let is_done = || match plan.calls {
            Some(calls) => {
                let sent = tally.as_ref().map_or(calls, |it| it.sent());
                sent >= calls || began.elapsed() > LONGEST
            }
            None => began.elapsed() > plan.time,
        };
        while !is_done() {
            sleep(Duration::from_millis(20)).await;
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the last calls.
    pub(crate) async fn finish(&self, longest: Duration) {
        let running = std::mem::take(&mut *self.running.lock().expect("no panic"));
        let all = async {
            for visitor in running {
                // A panic leaves a call without an end, which the tally finds.
                let _ = visitor.await;
            }
        };
        let _ = timeout(longest, all).await;
    }

    /// Announces changes until each client has received one.
    pub(crate) async fn listen(&self, tally: &Tally) {
        let before: Vec<_> = self.visitors.iter().map(|it| it.received()).collect();
        let deaf = || {
            let both = self.visitors.iter().zip(&before);
            both.filter(|(it, before)| it.received() == **before)
                .map(|(it, _)| Arc::clone(it))
                .collect::<Vec<_>>()
        };
        for _ in 0..ANNOUNCEMENTS {
            if let Some(visitor) = self.visitors.first() {
                let _ = visitor
                    .client
                    .call_tool("announce", json!({}))
                    .timeout(BOUND)
                    .await;
            }
            sleep(INTERVAL).await;
            if deaf().is_empty() {
                break;
            }
        }
        for visitor in deaf() {
            let (at, event) = visitor.last_event.lock().expect("no panic").clone();
            let (number, revision) = (visitor.number, visitor.revision);
            println!("{at:7.1} s  client {number} of {revision} {event}, and receives nothing");
            tally.deaf(revision);
        }
    }
}

impl Visitor {
    fn new(
        number: u64,
        plan: &Plan,
        proxy: SocketAddr,
        tally: &Arc<Tally>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self> {
        let (revision, name, path) = match number % 10 {
            7 if plan.has_oldest() => (Revision::V2024_11_05, OLDEST, "sse"),
            0 | 2 | 4 | 6 | 8 => (Revision::V2026_07_28, "2026-07-28", "mcp"),
            _ => (Revision::V2025_11_25, "2025-11-25", "mcp"),
        };
        let url = EndpointUrl::parse(&format!("http://{proxy}/{path}"))?;
        let changes = Arc::new(AtomicUsize::new(0));
        let client = Client::builder()
            .mode(EraMode::Pinned(revision))
            .roots([format!("file:///{number}")])
            .on_elicit(async |form| {
                let value = form
                    .message
                    .rsplit(' ')
                    .next()
                    .and_then(|it| it.parse::<i64>().ok());
                let mut fields = form.defaults;
                fields.insert("number".to_owned(), json!(value.map(|it| it + 1)));
                Answer::Accepted(fields)
            })
            .connect_lazily(HttpConnect::new(url, &from(number)?)?)?;
        Ok(Self {
            client,
            number,
            revision: name,
            seed: plan.seed,
            changes,
            tally: Arc::clone(tally),
            stop: Arc::clone(stop),
            last_event: std::sync::Mutex::default(),
        })
    }

    fn received(&self) -> usize {
        self.changes.load(Ordering::Relaxed)
    }

    /// Subscribes to the board, and again after the end of the subscription.
    async fn subscribe(&self) {
        loop {
            self.note("subscribes".to_owned());
            match timeout(BOUND, self.client.subscribe(BOARD)).await {
                Ok(Ok(mut subscription)) => {
                    self.note("is subscribed".to_owned());
                    while subscription.next().await.is_some() {
                        self.note("received a change".to_owned());
                        self.changes.fetch_add(1, Ordering::Relaxed);
                        self.tally.change();
                    }
                }
                Ok(Err(error)) => self.note(format!("cannot subscribe: {error}")),
                Err(_) => self.note("subscribes for too long".to_owned()),
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    /// Records the last event of the subscription.
    fn note(&self, event: String) {
        *self.last_event.lock().expect("no panic") = (self.tally.time(), event);
    }

    async fn work(&self) {
        let mut rng = Rng::new(self.seed.wrapping_mul(1_000).wrapping_add(self.number));
        while !self.stop.load(Ordering::Relaxed) {
            let pause = rng.up_to(PAUSE);
            sleep(pause).await;
            if rng.once_in(200) {
                let _ = timeout(BOUND, self.client.call_tool("announce", json!({}))).await;
            }
            let kind = match rng.below(20) {
                0..=15 => Kind::Plain,
                16 | 17 => Kind::Question,
                18 => Kind::Slow,
                // 2024-11-05 has no tasks.
                _ if self.revision == OLDEST => Kind::Slow,
                _ => Kind::Task,
            };
            let value = i64::try_from(rng.below(1_000_000)).unwrap_or(0);
            self.call(kind, value, rng.up_to(Duration::from_secs(3)))
                .await;
        }
    }

    /// Makes one call, and counts its end.
    async fn call(&self, kind: Kind, value: i64, time: Duration) {
        let key = format!("{}-{}", self.number, self.tally.send());
        let arguments = json!({ "key": key, "value": value });
        let is_oldest = self.revision == OLDEST;
        let right = match kind {
            Kind::Question if is_oldest => answer(value.wrapping_add_unsigned(self.number)),
            Kind::Question => answer(value + 1),
            _ => answer(value),
        };
        let began = Instant::now();
        let called = timeout(BOUND + Duration::from_secs(5), async {
            match kind {
                Kind::Plain | Kind::Hasty => {
                    self.client
                        .call_tool("append", arguments)
                        .timeout(BOUND)
                        .await
                }
                Kind::Question => {
                    let tool = if is_oldest { "root" } else { "ask" };
                    self.client.call_tool(tool, arguments).timeout(BOUND).await
                }
                Kind::Slow => self.slow(&key, value, time).await,
                Kind::Task => {
                    let call = self.client.call_tool("work", arguments).timeout(BOUND);
                    call.as_task().await?.result().await
                }
            }
        });
        let end = match called.await {
            Ok(result) => self.end(result, &right.to_string()),
            Err(_) => End::Hung,
        };
        self.tally
            .end(key, self.revision, kind, began.elapsed(), end);
    }

    /// Calls a tool that reports progress after each quarter of a time.
    async fn slow(
        &self,
        key: &str,
        value: i64,
        time: Duration,
    ) -> Result<CallToolResult, CallError> {
        let millis = u64::try_from(time.as_millis()).unwrap_or(0);
        let arguments = json!({ "key": key, "value": value, "millis": millis });
        let call = self.client.call_tool("slow", arguments).timeout(BOUND);
        let (began, first) = (Instant::now(), Arc::new(OnceLock::new()));
        let noted = Arc::clone(&first);
        let result = call
            .on_progress(move |_| {
                noted.get_or_init(Instant::now);
            })
            .await?;
        let ahead = first.get().map(Instant::elapsed);
        if time >= LONG && ahead.is_none_or(|ahead| ahead < time / 4) {
            let (number, revision, after) = (self.number, self.revision, began.elapsed());
            println!(
                "{:7.1} s  client {number} of {revision} has the result of {time:.1?} after {after:.1?}, and progress {ahead:.1?} before",
                self.tally.time(),
            );
            self.tally.late_progress(ahead.is_some());
        }
        Ok(result)
    }

    fn end(&self, result: Result<CallToolResult, CallError>, right: &str) -> End {
        match result {
            Ok(result) if result.has_failed() => {
                End::Unexplained(format!("failed: {:?}", result.first_text()))
            }
            Ok(result) if result.first_text() == Some(right) => End::Right,
            Ok(result) => End::Wrong(format!("{:?} instead of {right}", result.first_text())),
            Err(CallError::TimedOut { .. }) => End::Hung,
            Err(error) => self.error(&error),
        }
    }

    /// A session of 2024-11-05 is gone with its server, or if that was paused for longer than its presence.
    fn of_home(&self, error: &CallError) -> Option<&'static str> {
        let faults = ["kill", "pause", "roll"];
        let has_fault = faults.iter().any(|fault| self.tally.has_fault(fault));
        let source = transport_error(error)?;
        let is_lost = source.kind() == TransportErrorKind::SessionLost;
        (self.revision == OLDEST && is_lost && has_fault).then_some("the session's server is gone")
    }

    fn error(&self, error: &CallError) -> End {
        if let Some(cause) = self.of_home(error) {
            return End::Explained(cause.to_owned());
        }
        if text(error).contains(QUOTA_USED) && self.tally.divides_quotas() {
            return End::Explained("the quota of one server".to_owned());
        }
        match explain(error, self.tally.has_fault("flush")) {
            Some(cause) => End::Explained(cause.to_owned()),
            None => End::Unexplained(text(error)),
        }
    }
}

/// Returns the options of a client with an address of its own, as a proxy in front of ours would name it.
fn from(number: u64) -> Result<HttpClientOptions> {
    let address = format!("10.0.{}.{}", number / 250, number % 250 + 1);
    let mut options = HttpClientOptions::default();
    options.headers.insert("x-forwarded-for", address.parse()?);
    Ok(options)
}

/// Returns the cause of an error that a client may expect while servers, the proxy and the store end.
fn explain(error: &CallError, is_flushed: bool) -> Option<&'static str> {
    let source = match error {
        CallError::Answered { error, .. } if error.message.contains(STORE_AWAY) => {
            return Some("the store is away");
        }
        CallError::Answered { error, .. } if error.message.contains(REPLICA_GONE) => {
            return Some("the server of the call is gone");
        }
        CallError::Answered { error, .. } if is_flushed => return of_flush(error),
        _ => transport_error(error)?,
    };
    match source.kind() {
        TransportErrorKind::Unreachable => Some("not reachable"),
        TransportErrorKind::Disconnected => Some("connection lost"),
        TransportErrorKind::Status(502..=504) => Some("502, 503 or 504"),
        _ if text(error).contains(NOT_RESUMED) => Some("the stream does not resume"),
        TransportErrorKind::SessionLost if is_flushed => Some("the store was flushed"),
        _ => None,
    }
}

fn transport_error(error: &CallError) -> Option<&TransportError> {
    match error {
        CallError::Disconnected { source, .. } => Some(source),
        CallError::NotConnected { source, .. } => match &**source {
            ConnectError::Unreachable(source) => Some(source),
            _ => None,
        },
        _ => None,
    }
}

/// Part of the text of the error for a stream of a server that has ended.
const NOT_RESUMED: &str = "does not resume the stream";

/// Part of the text of the error that ends the call of a server that was killed.
const REPLICA_GONE: &str = "the replica that ran this request is gone";

/// Part of the text of the error for a task that cannot be stored. The call has not run.
const STORE_AWAY: &str = "the store of tasks does not answer";

/// Part of the text of the error for a call beyond the quota.
const QUOTA_USED: &str = "the quota of requests of this client is used up";

/// Keys and tasks are gone with the content of the store.
fn of_flush(error: &pintle::model::Error) -> Option<&'static str> {
    let is_lost = ["no such task", "requestState is invalid"]
        .iter()
        .any(|text| error.message.contains(text));
    is_lost.then_some("the store was flushed")
}

/// Returns the error and its causes.
fn text(error: &CallError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
