//! A request as the stages of a call pass it on.

use std::time::Duration;

use bytes::Bytes;
use pintle_model::method::MethodName;
use pintle_model::{Meta, ProgressParams, TaskMetadata};
use pintle_proto::{Routing, Timeouts};

/// Hears of progress.
pub(crate) type OnProgress = Box<dyn FnMut(ProgressParams) + Send>;

/// What is asked, and how.
pub(crate) struct Request {
    pub(crate) method: MethodName,
    /// The parameters: a JSON object without `_meta`; or what is wrong with them.
    pub(crate) params: Result<Bytes, String>,
    pub(crate) routing: Option<Box<Routing>>,
    pub(crate) meta: Meta,
    pub(crate) patience: CallTimeouts,
    pub(crate) on_progress: Option<OnProgress>,
    /// Whether it changes nothing, so that it can be made again after a loss.
    pub(crate) is_repeatable: bool,
    pub(crate) freshness: Freshness,
    /// The tool that is called.
    pub(crate) tool: Option<Box<str>>,
    /// What is said of the task that the caller wants it to be.
    pub(crate) wish: Option<TaskMetadata>,
    /// Whether it was made as one that asks to be a task.
    pub(crate) is_augmented: bool,
}

/// What a call makes of results that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Freshness {
    /// Takes what is fresh.
    #[default]
    Usual,
    /// Takes none: asks the server.
    Anew,
    /// Takes what is fresh, and what is stale when the server cannot be asked.
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
            patience: CallTimeouts::default(),
            on_progress: None,
            is_repeatable: false,
            freshness: Freshness::Usual,
            tool: None,
            wish: None,
            is_augmented: false,
        }
    }
}

/// How long a call may take, as far as the caller says.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallTimeouts {
    pub(crate) quiet: Option<Duration>,
    pub(crate) total: Option<Duration>,
}

impl CallTimeouts {
    /// The patience, with the client's own where the caller says nothing.
    pub(crate) fn patience(self, usual: Timeouts) -> Timeouts {
        let ceiling = self.total.unwrap_or_else(|| {
            // Who waits longer for a sign of life waits at least as long for all of it.
            usual.total.max(self.quiet.unwrap_or_default())
        });
        Timeouts::new(self.quiet.unwrap_or(usual.idle).min(ceiling), ceiling)
    }
}
