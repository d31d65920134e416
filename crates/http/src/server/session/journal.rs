//! The log of one stream, at the replica that has the stream.
//!
//! Each message is appended to the log before it is sent, so another replica can resume the stream. While the store does
//! not answer, messages are sent at once and appended later. The numbers of events have no gap, so a reader of the log
//! knows what a client lacks in both cases.
//!
//! # States
//!
//! ```text
//! appending ◄──► away ──► local     too much waits for the store, or the log is gone
//!     └────────────┴────► taken over     another replica has ended the stream
//! ```

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use pintle_proto::Frame;
use pintle_runtime::fleet::{Fleet, ReplicaId, StreamEvent, StreamLog, StreamWriter, Written};
use pintle_runtime::sync::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::bounds::Replay;

/// The pause after an append that failed.
const RETRY: Duration = Duration::from_secs(1);
/// The size of an event in memory, besides its texts.
const EVENT_BYTES: usize = 128;
/// Maximum length of the id of a request whose stream has a log. Each event has the id.
pub(super) const MAX_REQUEST_BYTES: usize = 256;

/// The log of a stream. Its writer ends when the stream is dropped, after the last append.
#[derive(Debug)]
pub(super) struct Journal {
    shared: Arc<Shared>,
}

/// A reader's view of a journal: messages wait there until the log has them.
#[derive(Debug, Clone)]
pub(super) struct Released(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    writer: ReplicaId,
    request: Option<Box<str>>,
    max_events: usize,
    max_bytes: usize,
    /// The size of all events of the session that wait.
    waiting: Waiting,
    state: Mutex<State>,
    changed: Notify,
}

/// The size of the events of a session that logs lack.
#[derive(Debug, Clone, Default)]
pub(super) struct Waiting(Arc<AtomicUsize>);

#[derive(Debug)]
struct State {
    stage: Stage,
    /// The events that the log lacks.
    queue: VecDeque<StreamEvent>,
    /// Messages with lower numbers are in the log.
    appended: u64,
    /// Whether the queue has had the last event.
    is_complete: bool,
    /// Whether the stream was dropped.
    is_dropped: bool,
    wakers: Vec<Waker>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Appending,
    Away,
    Local,
    TakenOver,
}

impl Journal {
    /// Begins the log of a stream, with the event before its first message. `None` without a runtime.
    pub(super) fn begin(
        fleet: &Fleet,
        log: StreamLog,
        request: Option<Box<str>>,
        bounds: &Replay,
        waiting: &Waiting,
    ) -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        let shared = Arc::new(Shared {
            writer: fleet.replica(),
            request,
            max_events: bounds.events_of_session,
            max_bytes: bounds.bytes_of_session,
            waiting: waiting.clone(),
            state: Mutex::new(State::new()),
            changed: Notify::new(),
        });
        let writer = log.writer(
            bounds.events_of_session,
            bounds.bytes_of_session,
            bounds.time,
        );
        runtime.spawn(write(Arc::clone(&shared), writer, bounds.time / 3));
        let journal = Self { shared };
        journal.add(0, Bytes::new(), false);
        Some(journal)
    }

    /// Adds the next message of the stream.
    pub(super) fn push(&self, number: u64, frame: &Frame, is_last: bool) {
        let mut text = BytesMut::with_capacity(frame.len());
        frame
            .parts()
            .iter()
            .for_each(|part| text.extend_from_slice(part));
        self.add(number, text.freeze(), is_last);
    }

    /// Ends the stream without another message. `next` names the stream that continues it. Does nothing if the stream
    /// has its last message.
    pub(super) fn end(&self, number: u64, next: &str) {
        self.add(number, Bytes::copy_from_slice(next.as_bytes()), true);
    }

    /// Returns true if another replica can resume the stream.
    pub(super) fn is_resumable(&self) -> bool {
        let stage = self.shared.state.lock().stage;
        matches!(stage, Stage::Appending | Stage::Away)
    }

    /// Returns true if another replica has ended the stream.
    pub(super) fn is_taken_over(&self) -> bool {
        self.shared.state.lock().stage == Stage::TakenOver
    }

    /// Returns true if the log has its last event, or will have it.
    pub(super) fn is_complete(&self) -> bool {
        self.shared.state.lock().is_complete
    }

    pub(super) fn released(&self) -> Released {
        Released(Arc::clone(&self.shared))
    }

    fn add(&self, number: u64, message: Bytes, is_last: bool) {
        let mut state = self.shared.state.lock();
        if state.is_complete || !matches!(state.stage, Stage::Appending | Stage::Away) {
            return;
        }
        state.is_complete = is_last;
        let event = StreamEvent {
            writer: self.shared.writer,
            number,
            request: self.shared.request.clone(),
            is_last,
            message,
        };
        let waiting = self.shared.waiting.add(size(&event));
        state.queue.push_back(event);
        if state.queue.len() > self.shared.max_events || waiting > self.shared.max_bytes {
            self.shared.leave(&mut state, Stage::Local);
        }
        self.shared.changed.notify_one();
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.shared.state.lock().is_dropped = true;
        self.shared.changed.notify_one();
    }
}

impl Released {
    /// Returns whether a message may be sent, once that is known: true if the log has it or the stream has no log any
    /// more, and false if another replica has ended the stream.
    pub(super) fn poll(&self, number: u64, cx: Option<&Context<'_>>) -> Poll<bool> {
        let mut state = self.0.state.lock();
        match state.stage {
            Stage::TakenOver => Poll::Ready(false),
            Stage::Away | Stage::Local => Poll::Ready(true),
            Stage::Appending if number < state.appended => Poll::Ready(true),
            Stage::Appending => {
                if let Some(cx) = cx {
                    state.wait(cx.waker());
                }
                Poll::Pending
            }
        }
    }
}

impl State {
    fn new() -> Self {
        Self {
            stage: Stage::Appending,
            queue: VecDeque::new(),
            appended: 0,
            is_complete: false,
            is_dropped: false,
            wakers: Vec::new(),
        }
    }

    /// A stream has few readers at a time, and most of them wait with the same waker.
    fn wait(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }

    /// Removes the next event if it has a lower number.
    fn pop_before(&mut self, number: u64) -> Option<StreamEvent> {
        self.queue.front().filter(|event| event.number < number)?;
        self.queue.pop_front()
    }
}

impl Shared {
    /// Returns the events that wait, and whether no other follows.
    fn waiting(&self) -> (Vec<StreamEvent>, bool) {
        let state = self.state.lock();
        let events = state.queue.iter().cloned().collect();
        (events, state.is_complete || state.is_dropped)
    }

    fn is_local(&self) -> bool {
        self.state.lock().stage == Stage::Local
    }

    fn is_dropped(&self) -> bool {
        self.state.lock().is_dropped
    }

    /// Ends the appends.
    fn leave(&self, state: &mut State, stage: Stage) {
        state.stage = stage;
        while let Some(event) = state.pop_before(u64::MAX) {
            self.waiting.subtract(size(&event));
        }
    }

    /// Records the result of an append, and wakes the readers.
    fn settle(&self, written: Written, appended: u64) {
        let mut state = self.state.lock();
        state.appended = state.appended.max(appended);
        while let Some(event) = state.pop_before(appended) {
            self.waiting.subtract(size(&event));
        }
        match written {
            // Too much has waited meanwhile.
            _ if state.stage == Stage::Local => {}
            Written::Done => state.stage = Stage::Appending,
            Written::Away => state.stage = Stage::Away,
            Written::TakenOver => self.leave(&mut state, Stage::TakenOver),
            Written::Gone => self.leave(&mut state, Stage::Local),
        }
        let wakers = std::mem::take(&mut state.wakers);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let rest: usize = self.state.get_mut().queue.iter().map(size).sum();
        self.waiting.subtract(rest);
    }
}

impl Waiting {
    /// Returns the sum.
    fn add(&self, bytes: usize) -> usize {
        self.0.fetch_add(bytes, Ordering::Relaxed) + bytes
    }

    fn subtract(&self, bytes: usize) {
        self.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

fn size(event: &StreamEvent) -> usize {
    let request = event.request.as_ref().map_or(0, |request| request.len());
    EVENT_BYTES + request + event.message.len()
}

/// Appends the events of a stream until its last one.
async fn write(shared: Arc<Shared>, mut writer: StreamWriter, renewal: Duration) {
    loop {
        if shared.is_local() {
            return abandon(&shared, writer).await;
        }
        let (events, is_over) = shared.waiting();
        if events.is_empty() {
            if is_over {
                return;
            }
            if timeout(renewal, shared.changed.notified()).await.is_err()
                && let written @ (Written::TakenOver | Written::Gone) = writer.renew().await
            {
                return shared.settle(written, writer.next());
            }
            continue;
        }
        let written = writer.append(&events).await;
        shared.settle(written, writer.next());
        match written {
            Written::Done => {}
            // Another replica then ends the stream, because this one does not know it any more.
            Written::Away if shared.is_dropped() => return,
            Written::Away => sleep(RETRY).await,
            Written::TakenOver | Written::Gone => return,
        }
    }
}

/// Removes a log that lacks events.
async fn abandon(shared: &Shared, mut writer: StreamWriter) {
    while !shared.is_dropped() && !writer.abandon().await {
        sleep(RETRY).await;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use pintle_runtime::fleet::FleetOptions;
    use pintle_store::MemoryStore;
    use tokio::task::yield_now;

    use super::*;

    pub(in crate::server::session) async fn fleet() -> Fleet {
        let store = Arc::new(MemoryStore::default());
        let fleet = Fleet::join(store, FleetOptions::default()).await;
        fleet.expect("a fleet of one")
    }

    /// Begins a log. Its task appends nothing before the test waits.
    pub(in crate::server::session) fn begin(
        fleet: &Fleet,
        events: usize,
        bytes: usize,
        waiting: &Waiting,
    ) -> Journal {
        let bounds = Replay {
            events,
            bytes,
            events_of_session: events,
            bytes_of_session: bytes,
            time: Duration::from_secs(600),
            retry: RETRY,
        };
        let journal = Journal::begin(fleet, fleet.stream_log(1, 2, 3), None, &bounds, waiting);
        journal.expect("a runtime")
    }

    fn push(journal: &Journal, number: u64, bytes: usize) {
        let frame = Frame::around(vec![b'x'; bytes], Bytes::new(), b"");
        journal.push(number, &frame, false);
    }

    #[tokio::test]
    async fn a_log_beyond_the_waiting_events_is_local() {
        let journal = begin(&fleet().await, 4, 1 << 20, &Waiting::default());
        for number in 1..4 {
            push(&journal, number, 1);
        }
        assert!(journal.is_resumable(), "at the limit");
        push(&journal, 4, 1);
        assert!(!journal.is_resumable(), "one past it");
    }

    #[tokio::test]
    async fn the_logs_of_a_session_share_the_waiting_bytes() {
        let (fleet, waiting) = (fleet().await, Waiting::default());
        let [first, second] = [(); 2].map(|()| begin(&fleet, 100, 10_000, &waiting));
        push(&first, 1, 5_000);
        push(&second, 1, 4_000);
        assert!(first.is_resumable() && second.is_resumable());
        push(&first, 2, 1_000);
        assert!(!first.is_resumable(), "beyond the limit");
        push(&second, 2, 1_000);
        assert!(second.is_resumable(), "the other one has left");
        while waiting.0.load(Ordering::Relaxed) > 0 {
            yield_now().await;
        }
        assert!(second.is_resumable(), "the store has all");
    }
}
