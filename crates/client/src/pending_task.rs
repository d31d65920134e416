//! Leaving a task that nobody waits for any more: it is cancelled by its name, never by the name
//! of the call it came from.
//!
//! Spec: [2025-11-25, Cancellation][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use pintle_model::method::{CancelTask, Method};
use pintle_model::{CallToolResult, Outcome, TaskIdParams};
use pintle_proto::{NewCall, Routing};
use pintle_runtime::{Peer, PeerCall, Step};

use crate::state::ClientState;

/// Asks the server to stop a task, and waits for nothing.
fn cancel(peer: &Peer, id: &str) {
    let Ok(params) = serde_json::to_vec(&TaskIdParams::new(id)) else {
        return;
    };
    let mut call = NewCall::new(CancelTask::NAME, Bytes::from(params));
    call.routing = Some(Arc::new(Routing::new(id)));
    let now = tokio::time::Instant::now().into_std();
    // A server that cannot cancel, or is gone, is not told: the task ends with its time to live.
    let made = peer.with_engine_mut(|engine| engine.call(now, call));
    tracing::debug!(task = id, is_told = made.is_ok(), "a task is left");
}

/// Cancels a task when it is dropped, unless the task is over.
pub(crate) struct CancelOnDrop<'a> {
    state: &'a ClientState,
    id: String,
    pub(crate) is_over: bool,
}

impl<'a> CancelOnDrop<'a> {
    pub(crate) fn new(state: &'a ClientState, id: String) -> Self {
        Self {
            state,
            id,
            is_over: false,
        }
    }
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if !self.is_over
            && let Some(session) = self.state.current()
        {
            cancel(&session.peer, &self.id);
        }
    }
}

/// A call until it is answered. A call that requests a task goes on after a drop, because only its
/// answer names the task. Then the task is cancelled.
pub(crate) struct PendingTask {
    peer: Peer,
    call: Option<PeerCall>,
    wants_task: bool,
}

impl PendingTask {
    pub(crate) fn new(peer: &Peer, call: PeerCall, wants_task: bool) -> Self {
        Self {
            peer: peer.clone(),
            call: Some(call),
            wants_task,
        }
    }

    /// As [`PeerCall::poll_step`]; never ready after the end.
    pub(crate) fn poll_step(&mut self, task: &mut Context<'_>) -> Poll<Step> {
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let step = call.poll_step(task);
        if matches!(step, Poll::Ready(Step::Done(_))) {
            self.call = None;
        }
        step
    }
}

impl Drop for PendingTask {
    fn drop(&mut self) {
        let Some(call) = self.call.take().filter(|_| self.wants_task) else {
            return;
        };
        let peer = self.peer.clone();
        // Outside of a runtime the call is given up as any other.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            let Ok(raw) = call.outcome().await else {
                return;
            };
            if let Ok(Outcome::Task(task)) = Outcome::<CallToolResult>::decode_augmented(&raw) {
                cancel(&peer, &task.task_id);
            }
        });
    }
}
