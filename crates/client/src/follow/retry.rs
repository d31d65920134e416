//! Requests about a task that are repeated after a failure that may pass.

use pintle_model::ErrorCode;
use pintle_model::method::{GetTaskPayload, Method};
use tokio::time::Instant;

use super::Follow;
use super::ask::{Made, ask, request};
use crate::error::CallError;
use crate::request::{CallTimeouts, Request};

impl Follow<'_> {
    /// Asks, and asks again after a failure that may pass.
    pub(super) async fn insist<M: Method>(
        &mut self,
        params: &impl serde::Serialize,
    ) -> Result<Made, CallError> {
        loop {
            let waiting = self.waiting_for(M::NAME)?;
            let request = self.request::<M>(params, waiting);
            let (state, lookup) = (self.state, self.lookup);
            let made = self.hearing(ask(state, lookup, request)).await;
            let error = match made {
                Ok(made) => {
                    self.pace.succeeded();
                    return Ok(made);
                }
                Err(error) => error,
            };
            let is_late = Instant::now() >= self.deadline;
            if is_late && matches!(error, CallError::TimedOut { .. }) {
                return Err(self.timed_out());
            }
            let pause = match may_pass(M::NAME, &error) {
                true => self.pace.after_failure(),
                false => None,
            };
            let Some(pause) = pause else {
                return Err(error);
            };
            tracing::debug!(task = self.task.id(), %error, ?pause, "a task is asked for again");
            self.sleep(pause).await?;
        }
    }

    pub(super) fn request<M: Method>(
        &self,
        params: &impl serde::Serialize,
        waiting: CallTimeouts,
    ) -> Request {
        request::<M>(self.state, self.task.id(), params, waiting)
    }

    /// How long one request may take: as usual, or all that is left where the server waits with us.
    fn waiting_for(&self, method: &str) -> Result<CallTimeouts, CallError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(self.timed_out());
        }
        let idle = match method == GetTaskPayload::NAME {
            true => Some(left),
            false => self.waiting.idle,
        };
        Ok(CallTimeouts {
            idle,
            total: Some(left),
        })
    }
}

/// Whether asking again may help. An error of `tasks/result` is that of the task.
fn may_pass(method: &str, error: &CallError) -> bool {
    match error {
        CallError::Disconnected { .. }
        | CallError::NotConnected { .. }
        | CallError::TimedOut { .. } => true,
        CallError::Answered { error, .. } => {
            method != GetTaskPayload::NAME && error.code == ErrorCode::INTERNAL_ERROR
        }
        _ => false,
    }
}
