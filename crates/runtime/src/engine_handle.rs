//! Access to an engine for code outside of its driver.

use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_proto::{Connection, Event, RequestKey, Transmit};

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
    waker: Option<Waker>,
}

impl SharedEngine {
    /// Shares an engine.
    pub fn new(engine: Connection) -> Self {
        Self {
            state: Mutex::new(State {
                engine,
                waker: None,
            }),
        }
    }

    /// Changes the engine without waking the driver: for the driver itself.
    pub fn drive<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        act(&mut self.lock().engine)
    }

    /// Waits until the engine has something to put out.
    #[inline]
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.engine.has_output() {
            return Poll::Ready(());
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
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

    // The engine does not panic halfway through a change, so what a poisoned lock guards is whole.
    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl EngineHandle for SharedEngine {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        let mut state = self.lock();
        act(&mut state.engine);
        let waker = if state.engine.has_output() {
            state.waker.take()
        } else {
            None
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
