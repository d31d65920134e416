//! The running handlers of one peer.

use std::collections::HashMap;
use std::pin::Pin;
use std::task::{Context as TaskContext, Waker};

use tokio::task::AbortHandle;

use pintle_proto::{IncomingRequest, RequestKey, Ticket};

/// Memory for the future of one handler. A handler that is done at its first poll leaves it for the
/// next one.
type Slot<F> = Pin<Box<Option<F>>>;

/// Starts handlers, and aborts those that still run when it is dropped.
pub(super) struct Handlers<M, F> {
    make: M,
    spare: Option<Slot<F>>,
    task_by_key: HashMap<RequestKey, AbortHandle>,
    most: usize,
}

impl<M, F> Handlers<M, F>
where
    M: Fn(Ticket, Box<IncomingRequest>) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    /// Starts handlers with `make`; at most about `most` of them run at the same time.
    pub(super) fn new(most: usize, make: M) -> Self {
        Self {
            make,
            spare: None,
            task_by_key: HashMap::new(),
            most,
        }
    }

    /// Polls a handler once. If it has to wait it gets a task, which polls it again at once.
    pub(super) fn start(&mut self, ticket: Ticket, incoming: Box<IncomingRequest>) {
        let key = ticket.key();
        let mut slot = self.spare.take().unwrap_or_else(|| Box::pin(None));
        slot.set(Some((self.make)(ticket, incoming)));
        if is_done(&mut slot) {
            slot.set(None);
            self.spare = Some(slot);
        } else {
            self.forget_finished();
            let task = tokio::spawn(finish(slot));
            self.task_by_key.insert(key, task.abort_handle());
        }
    }

    /// Drops the handler of a cancelled request.
    pub(super) fn stop(&mut self, key: RequestKey) {
        if let Some(task) = self.task_by_key.remove(&key) {
            task.abort();
        }
    }

    /// Forgets handlers that are done, now and then: when there are more than can run.
    fn forget_finished(&mut self) {
        if self.task_by_key.len() > self.most {
            self.task_by_key.retain(|_, task| !task.is_finished());
        }
    }
}

impl<M, F> Drop for Handlers<M, F> {
    fn drop(&mut self) {
        self.task_by_key.values().for_each(AbortHandle::abort);
    }
}

fn is_done<F: Future<Output = ()>>(slot: &mut Slot<F>) -> bool {
    let mut task = TaskContext::from_waker(Waker::noop());
    let handler = slot.as_mut().as_pin_mut();
    handler.is_none_or(|handler| handler.poll(&mut task).is_ready())
}

async fn finish<F: Future<Output = ()>>(mut slot: Slot<F>) {
    if let Some(handler) = slot.as_mut().as_pin_mut() {
        handler.await;
    }
}
