//! A request as the stages of a call pass it on.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_model::method::MethodName;
use pintle_model::{ClientCapabilities, Meta, ProgressParams, TaskMetadata};
use pintle_proto::{Routing, Timeouts};

/// Receives the progress of a call.
pub(crate) type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

/// The content of a request and its options.
pub(crate) struct Request {
    pub(crate) method: MethodName,
    /// The parameters: a JSON object without `_meta`; or the reason why they are invalid.
    pub(crate) params: Result<Bytes, String>,
    pub(crate) routing: Option<Arc<Routing>>,
    pub(crate) meta: Meta,
    pub(crate) timeouts: CallTimeouts,
    pub(crate) on_progress: Option<OnProgress>,
    /// True if the request changes nothing, so that it can be sent again after a loss.
    pub(crate) is_repeatable: bool,
    /// Whether the last attempt was on a conversation whose description is from the cache.
    pub(crate) is_on_remembered: bool,
    pub(crate) freshness: Freshness,
    /// Name of the called tool.
    pub(crate) tool: Option<Box<str>>,
    /// The parameters of the task that the caller requests.
    pub(crate) wish: Option<TaskMetadata>,
    /// True if the request was sent with a `task` member.
    pub(crate) is_augmented: bool,
    /// True if the caller receives the answer as it is: questions, tasks and errors included.
    pub(crate) is_forwarded: bool,
    /// The capabilities that the request states; `None` for those of the client.
    pub(crate) capabilities: Option<Arc<ClientCapabilities>>,
}

/// How a call uses cached results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Freshness {
    /// Accepts a fresh result.
    #[default]
    Usual,
    /// Accepts none: the request is sent to the server.
    Anew,
    /// Accepts a fresh result; and a stale one if the server is not reachable.
    OrStale,
}

impl Request {
    /// A request of `method` without parameters.
    pub(crate) fn new(method: &str) -> Self {
        Self {
            method: method.into(),
            params: Ok(Bytes::from_static(b"{}")),
            routing: None,
            meta: Meta::new(),
            timeouts: CallTimeouts::default(),
            on_progress: None,
            is_repeatable: false,
            is_on_remembered: false,
            freshness: Freshness::Usual,
            tool: None,
            wish: None,
            is_augmented: false,
            is_forwarded: false,
            capabilities: None,
        }
    }
}

/// The timeouts of a call that the caller has set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallTimeouts {
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Option<Duration>,
}

impl CallTimeouts {
    /// Returns the timeouts of a call: those of the client where the caller has set none.
    pub(crate) fn or_default(self, default: Timeouts) -> Timeouts {
        let total = self.total.unwrap_or_else(|| {
            // The total timeout is never shorter than the idle timeout.
            default.total.max(self.idle.unwrap_or_default())
        });
        Timeouts::new(self.idle.unwrap_or(default.idle).min(total), total)
    }
}
