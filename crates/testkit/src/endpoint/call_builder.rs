//! A call that a test makes.

use std::time::Duration;

use pintle_model::JsonObject;
use pintle_proto::{Lane, NewCall, Timeouts};
use serde_json::{Value, json};

/// The parameters of a call.
#[derive(Debug, Clone)]
pub struct CallBuilder(pub(super) NewCall);

impl CallBuilder {
    /// A call of `method`.
    pub fn new(method: &str) -> Self {
        Self(NewCall::new(method, JsonObject::new()))
    }

    /// A call of a tool without arguments.
    pub fn tool(name: &str) -> Self {
        Self::new("tools/call").with(json!({ "name": name }))
    }

    /// Sets the parameters.
    #[must_use]
    pub fn with(mut self, params: Value) -> Self {
        if let Value::Object(params) = params {
            self.0.params = params.into();
        }
        self
    }

    /// Sets the idle timeout, and ten times that as the total timeout with progress.
    #[must_use]
    pub fn timeout(mut self, idle: Duration) -> Self {
        self.0.timeouts = Some(Timeouts::new(idle, idle.saturating_mul(10)));
        self
    }

    /// Sets the idle timeout and the total timeout with progress.
    #[must_use]
    pub fn timeouts(mut self, idle: Duration, total: Duration) -> Self {
        self.0.timeouts = Some(Timeouts::new(idle, total));
        self
    }

    /// Requests progress notifications for the call.
    #[must_use]
    pub fn with_progress(mut self) -> Self {
        self.0.wants_progress = true;
        self
    }

    /// Sends the call on the reply lane of a running request.
    #[must_use]
    pub fn on(mut self, lane: Lane) -> Self {
        self.0.lane = lane;
        self
    }
}
