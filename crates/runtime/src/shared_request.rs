//! Access to a single request for its driver and its handler.

use std::task::{Context, Poll};

use pintle_model::{Error, RequestId};
use pintle_proto::{Connection, Reply, RequestKey, SingleRequest, Ticket};

use crate::driver_waker::DriverWaker;
use crate::engine_handle::EngineHandle;
use crate::sync::{Mutex, MutexGuard};

/// A single request that a driver polls and its handler answers. The engine is made at the first
/// call of [`EngineHandle::engine`].
#[derive(Debug)]
pub struct SharedRequest {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    request: SingleRequest,
    driver: DriverWaker,
}

impl SharedRequest {
    /// Shares a request.
    pub fn new(request: SingleRequest) -> Self {
        Self {
            state: Mutex::new(State {
                request,
                driver: DriverWaker::default(),
            }),
        }
    }

    /// Changes the request without waking the driver: for the driver itself, which then runs.
    #[inline]
    pub fn drive<T>(&self, act: impl FnOnce(&mut SingleRequest) -> T) -> T {
        let mut state = self.lock();
        state.driver.run();
        act(&mut state.request)
    }

    /// Waits until the request has output.
    #[inline]
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        let has_output = state.request.has_output();
        match state.driver.wait(cx.waker(), has_output) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }

    /// Changes the request for a handler, and wakes the driver if it waits.
    #[inline]
    fn change<T>(&self, act: impl FnOnce(&mut SingleRequest) -> T) -> T {
        let mut state = self.lock();
        let returned = act(&mut state.request);
        let has_output = state.request.has_output();
        let waker = state.driver.due(has_output);
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        returned
    }

    // An engine does not panic halfway through a change, so its state is whole after a poisoned lock.
    #[inline]
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl EngineHandle for SharedRequest {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        self.change(|request| act(request.engine()));
    }

    fn progress(
        &self,
        key: RequestKey,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> bool {
        self.change(|request| {
            let is_behind = request.is_peer_slow();
            if !is_behind {
                request.engine().progress(key, progress, total, message);
            }
            !is_behind
        })
    }

    fn answer(&self, ticket: Ticket, reply: Result<Reply, Error>) {
        self.change(|request| request.answer(ticket, reply));
    }

    fn is_open(&self, key: RequestKey) -> bool {
        self.lock().request.is_open(key)
    }

    fn request_id(&self, key: RequestKey) -> Option<RequestId> {
        self.lock().request.request_id(key).cloned()
    }

    fn is_behind(&self, _key: RequestKey) -> bool {
        self.lock().request.is_peer_slow()
    }
}
