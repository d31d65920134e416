//! A client's end of a conversation: calls are made here, and the conversation is driven here.
//!
//! The engine is behind a lock that is held for nanoseconds. A caller writes its call into the
//! engine and wakes the transport. The transport passes an answer to the engine, which wakes the
//! caller. There is no channel between them and no task in between.

mod call;
pub(crate) mod wire;

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use pintle_proto::{CallId, Connection, Event, NewCall, SendError, TransmitKind, TransportError};

use crate::engine_handle::EngineHandle;
use crate::sync::{Mutex, MutexGuard};

pub use call::{PeerCall, Step};
pub use wire::{Outgoing, TappedMessage, Wire};

/// A client's end of a conversation. Clones are the same end.
#[derive(Clone)]
pub struct Peer(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
}

struct State {
    engine: Connection,
    transport: Option<Waker>,
    driver: Option<Waker>,
    /// Whether a driver handles the events.
    is_driven: bool,
    /// Whether the driver handles an event that it has taken.
    is_handling: bool,
    /// Calls that continue after the events.
    after_events: Vec<Waker>,
    /// The deadline that the driver sleeps towards.
    armed: Option<Instant>,
    is_closing: bool,
}

/// The next step of the driver.
pub(crate) enum Woken {
    Event(Event),
    /// There is an earlier deadline now.
    Rearm,
}

impl Peer {
    /// Shares the engine of a client.
    pub fn new(engine: Connection) -> Self {
        let state = State {
            engine,
            transport: None,
            driver: None,
            is_driven: false,
            is_handling: false,
            after_events: Vec::new(),
            armed: None,
            is_closing: false,
        };
        Self(Arc::new(Shared {
            state: Mutex::new(state),
        }))
    }

    /// The transport's end of the same conversation.
    pub fn wire(&self) -> Wire {
        Wire::new(self.clone())
    }

    /// Makes a call.
    ///
    /// # Errors
    ///
    /// As [`Connection::call`].
    pub fn call(&self, call: NewCall) -> Result<PeerCall, SendError> {
        let now = tokio::time::Instant::now().into_std();
        let id = self.with_engine_mut(|engine| {
            let id = engine.call(now, call)?;
            engine.make_pollable(id);
            Ok(id)
        })?;
        Ok(PeerCall::new(self.clone(), id))
    }

    /// Makes the call that opens a conversation, such as [`Connection::initialize`].
    ///
    /// # Errors
    ///
    /// Those of `open`.
    pub fn open(
        &self,
        open: impl FnOnce(&mut Connection, Instant) -> Result<pintle_proto::CallId, SendError>,
    ) -> Result<PeerCall, SendError> {
        let now = tokio::time::Instant::now().into_std();
        let id = self.with_engine_mut(|engine| {
            let id = open(engine, now)?;
            engine.make_pollable(id);
            Ok(id)
        })?;
        Ok(PeerCall::new(self.clone(), id))
    }

    /// Changes the engine, then wakes the transport or the driver if it has work.
    pub fn with_engine_mut<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        let mut state = self.lock();
        let given = act(&mut state.engine);
        let (transport, driver) = state.take_wakers();
        drop(state);
        if let Some(waker) = transport {
            waker.wake();
        }
        if let Some(waker) = driver {
            waker.wake();
        }
        given
    }

    /// Changes the engine without waking another task.
    pub(crate) fn look_mut<T>(&self, look: impl FnOnce(&mut Connection) -> T) -> T {
        look(&mut self.lock().engine)
    }

    /// Looks at the engine.
    pub fn with_engine<T>(&self, look: impl FnOnce(&Connection) -> T) -> T {
        look(&self.lock().engine)
    }

    /// Ends the conversation: calls that wait fail. The transport sends their cancellations and the
    /// other queued messages, and closes.
    pub fn close(&self) {
        let mut state = self.lock();
        state.is_closing = true;
        state.engine.shut_down();
        let wakers = [state.transport.take(), state.driver.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    /// The conversation is over: calls that wait have failed with `error`.
    pub(crate) fn lose(&self, error: &TransportError) {
        let now = tokio::time::Instant::now().into_std();
        self.with_engine_mut(|engine| engine.fail_transport(now, error));
    }

    fn poll_step(&self, call: CallId, task: &Context<'_>) -> Poll<Step> {
        let mut state = self.lock();
        if let Some(progress) = state.engine.take_progress(call) {
            return Poll::Ready(Step::Progress(progress));
        }
        if state.awaits_events(task) {
            return Poll::Pending;
        }
        state.engine.poll_call(call, task).map(Step::Done)
    }

    pub(crate) fn poll_outgoing(&self, task: &mut Context<'_>) -> Poll<Option<Outgoing>> {
        let mut state = self.lock();
        if state.engine.queued() > 0
            && let Some(outgoing) = state.next_outgoing()
        {
            return Poll::Ready(Some(outgoing));
        }
        if state.is_closing {
            return Poll::Ready(None);
        }
        wait(&mut state.transport, task);
        Poll::Pending
    }

    pub(crate) fn poll_closing(&self, task: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.is_closing {
            return Poll::Ready(());
        }
        wait(&mut state.transport, task);
        Poll::Pending
    }

    pub(crate) fn try_outgoing(&self) -> Option<Outgoing> {
        self.lock().next_outgoing()
    }

    /// Begins to handle the events, until [`Peer::end_driving`].
    pub(crate) fn begin_driving(&self) {
        self.lock().is_driven = true;
    }

    /// The driver has ended: calls wait for no events any more.
    pub(crate) fn end_driving(&self) {
        let mut state = self.lock();
        (state.is_driven, state.is_handling) = (false, false);
        let waiting = std::mem::take(&mut state.after_events);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn poll_woken(&self, task: &mut Context<'_>) -> Poll<Woken> {
        let mut state = self.lock();
        if state.engine.has_events()
            && let Some(event) = state.engine.poll_event()
        {
            state.is_handling = true;
            return Poll::Ready(Woken::Event(event));
        }
        state.is_handling = false;
        state.after_events.drain(..).for_each(Waker::wake);
        if state.is_due_earlier() {
            return Poll::Ready(Woken::Rearm);
        }
        wait(&mut state.driver, task);
        Poll::Pending
    }

    /// Returns the deadline to sleep towards; a change that sets an earlier one wakes the driver.
    pub(crate) fn arm(&self) -> Option<Instant> {
        let mut state = self.lock();
        state.armed = state.engine.next_deadline();
        state.armed
    }

    // The engine does not panic halfway through a change, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

impl State {
    fn next_outgoing(&mut self) -> Option<Outgoing> {
        let transmit = self.engine.poll_transmit()?;
        let call = match transmit.kind {
            TransmitKind::Call(call) => self.engine.head_of(call),
            _ => None,
        };
        let spoken = self.engine.session_terms().map(|terms| terms.revision);
        Some(Outgoing {
            revision: call.as_ref().map_or(spoken, |call| call.revision),
            frame: transmit.frame,
            kind: transmit.kind,
            call,
        })
    }

    /// Returns true if the driver has not handled all events yet. The task is woken after them.
    fn awaits_events(&mut self, task: &Context<'_>) -> bool {
        let is_waiting = self.is_driven && (self.is_handling || self.engine.has_events());
        if is_waiting {
            self.after_events.push(task.waker().clone());
        }
        is_waiting
    }

    fn is_due_earlier(&self) -> bool {
        let due = self.engine.next_deadline();
        due.is_some_and(|due| self.armed.is_none_or(|armed| due < armed))
    }

    fn take_wakers(&mut self) -> (Option<Waker>, Option<Waker>) {
        let transport = if self.engine.queued() > 0 {
            self.transport.take()
        } else {
            None
        };
        let driver = if self.driver.is_some() && (self.engine.has_events() || self.is_due_earlier())
        {
            self.driver.take()
        } else {
            None
        };
        (transport, driver)
    }
}

/// Keeps the waker of a task. One that wakes the same task stays.
fn wait(place: &mut Option<Waker>, task: &Context<'_>) {
    match place {
        Some(waker) => waker.clone_from(task.waker()),
        None => *place = Some(task.waker().clone()),
    }
}

impl EngineHandle for Peer {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        self.with_engine_mut(act);
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Peer")
    }
}
