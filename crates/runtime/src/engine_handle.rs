//! Access to an engine for code outside of its driver.

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_model::{Error, RequestId};
use pintle_proto::{Connection, Event, Reply, RequestKey, Ticket, Transmit};

use crate::driver_waker::DriverWaker;
use crate::sync::{Mutex, MutexGuard};

/// A conversation, seen from a handler or a change hub.
///
/// The engine is locked for as long as `act` runs, which must be short and must not call back
/// into the same handle. The driver sends its output afterwards.
pub trait EngineHandle: Send + Sync + 'static {
    /// Lets `act` change the engine, then wakes the driver. A handle of many conversations calls
    /// `act` with each of them.
    fn engine(&self, act: &mut dyn FnMut(&mut Connection));

    /// Whether the peer reads the lane of a request so slowly that notices are about to be merged.
    fn is_behind(&self, _key: RequestKey) -> bool {
        let mut is_behind = false;
        self.engine(&mut |engine| is_behind = engine.is_peer_slow());
        is_behind
    }

    /// Sends the progress of a request, as [`Connection::progress`] does. Returns false, and sends nothing, if
    /// the peer [is behind](EngineHandle::is_behind) on the lane of the request.
    fn progress(
        &self,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        let is_behind = self.is_behind(key);
        if !is_behind {
            self.engine(&mut |engine| engine.progress(key, progress, total, message));
        }
        !is_behind
    }

    /// Answers a request, as [`Connection::answer`] does.
    fn answer(&self, ticket: Ticket, reply: Result<Reply, Error>) {
        let mut answer = Some((ticket, reply));
        self.engine(&mut |engine| {
            if let Some((ticket, reply)) = answer.take() {
                engine.answer(ticket, reply);
            }
        });
    }

    /// Whether a request is neither answered nor cancelled.
    fn is_open(&self, key: RequestKey) -> bool {
        let mut is_open = false;
        self.engine(&mut |engine| is_open |= engine.is_open(key));
        is_open
    }

    /// Returns the JSON-RPC id of a request that is neither answered nor cancelled. Two conversations may use
    /// the same id.
    fn request_id(&self, key: RequestKey) -> Option<RequestId> {
        let mut id = None;
        self.engine(&mut |engine| id = engine.request_id(key).cloned());
        id
    }

    /// Returns true if all requests with this handle belong to one conversation with a state of its own: a
    /// pipe, or a session over HTTP. The address of the handle identifies the conversation while it exists.
    fn is_session(&self) -> bool {
        false
    }

    /// Closes the connection that waits for the answer to a request; its client reconnects. Returns
    /// false where this is not possible.
    fn close_stream(&self, _key: RequestKey) -> bool {
        false
    }
}

impl dyn EngineHandle {
    /// As [`EngineHandle::engine`], for a closure that runs once and returns a value.
    ///
    /// # Panics
    ///
    /// If an implementation does not call the closure.
    pub fn with<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        let (mut act, mut given) = (Some(act), None);
        self.engine(&mut |engine| {
            if let Some(act) = act.take() {
                given = Some(act(engine));
            }
        });
        given.expect("a handle calls its closure")
    }
}

/// An engine that a driver polls and others change.
#[derive(Debug)]
pub struct SharedEngine {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    engine: Connection,
    driver: DriverWaker,
}

impl SharedEngine {
    /// Shares an engine.
    pub fn new(engine: Connection) -> Self {
        Self {
            state: Mutex::new(State {
                engine,
                driver: DriverWaker::default(),
            }),
        }
    }

    /// Changes the engine without waking the driver: for the driver itself.
    ///
    /// The driver does not wait after it: see [`SharedEngine::drive_and_wait`].
    #[inline]
    pub fn drive<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        let mut state = self.lock();
        state.driver.run();
        act(&mut state.engine)
    }

    /// Changes the engine, for the driver itself. If the engine then has no output, its next output
    /// wakes the driver, until the driver changes the engine again.
    #[inline]
    pub fn drive_and_wait<T>(&self, driver: &Waker, act: impl FnOnce(&mut Connection) -> T) -> T {
        let mut state = self.lock();
        let given = act(&mut state.engine);
        let has_output = state.engine.has_output();
        state.driver.wait(driver, has_output);
        given
    }

    /// Waits until the engine has something to put out.
    #[inline]
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let has_output = state.engine.has_output();
        match state.driver.wait(cx.waker(), has_output) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn poll_event(&self) -> Option<Event> {
        self.lock().engine.poll_event()
    }

    /// Takes the next message to send.
    #[inline]
    pub fn poll_transmit(&self) -> Option<Transmit> {
        self.lock().engine.poll_transmit()
    }

    /// Returns the next instant at which the engine requires
    /// [`Input::Timeout`](pintle_proto::Input::Timeout).
    #[inline]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.lock().engine.next_deadline()
    }

    /// Changes the engine for others, and wakes the driver if it waits.
    #[inline]
    fn change<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        let mut state = self.lock();
        let returned = act(&mut state.engine);
        let has_output = state.engine.has_output();
        let waker = state.driver.due(has_output);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        returned
    }

    // The engine does not panic halfway through a change, so what a poisoned lock guards is whole.
    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl EngineHandle for SharedEngine {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        self.change(act);
    }

    fn progress(
        &self,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        self.change(|engine| {
            let is_behind = engine.is_peer_slow();
            if !is_behind {
                engine.progress(key, progress, total, message);
            }
            !is_behind
        })
    }

    fn is_session(&self) -> bool {
        true
    }

    fn answer(&self, ticket: Ticket, reply: Result<Reply, Error>) {
        self.change(|engine| engine.answer(ticket, reply));
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use pintle_model::{Implementation, ServerCapabilities};
    use pintle_proto::ServerProfile;

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn engine() -> SharedEngine {
        let identity = Implementation::new("t", "1");
        let profile = ServerProfile::new(identity, ServerCapabilities::default());
        SharedEngine::new(Connection::server(Arc::new(profile), Arc::default()))
    }

    /// Makes output in the engine, as a handler does.
    fn put_out(engine: &SharedEngine) {
        let handle: &dyn EngineHandle = engine;
        handle.with(|engine| drop(engine.handle_text(Instant::now(), b"nonsense")));
    }

    #[test]
    fn output_wakes_a_driver_that_waits_and_no_other() {
        let wakes = Arc::new(Wakes::default());
        let driver = Waker::from(Arc::clone(&wakes));
        let count = || wakes.0.load(Ordering::SeqCst);
        let engine = engine();
        let send = |engine: &mut Connection| drop(engine.poll_transmit());
        put_out(&engine);
        assert_eq!(count(), 0, "no driver waits yet");
        engine.drive_and_wait(&driver, |_| ());
        put_out(&engine);
        assert_eq!(count(), 0, "the engine had output before");
        engine.drive_and_wait(&driver, |engine| (send(engine), send(engine)));
        put_out(&engine);
        put_out(&engine);
        assert_eq!(count(), 1, "one wake is enough");
        engine.drive_and_wait(&driver, |engine| (send(engine), send(engine)));
        engine.drive(|_| ());
        put_out(&engine);
        assert_eq!(count(), 1, "the driver runs");
    }
}
