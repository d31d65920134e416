//! The layer that writes a line for each request.

use std::time::Instant;

use pintle_model::{Error, ErrorCode};
use pintle_proto::Reply;
use pintle_runtime::{Context, Service};
use tower_layer::Layer;

use crate::outcome::Outcome;
use crate::record::Record;
use crate::{Audit, subject};

/// Layer that wraps a service in [`Audited`]: see [`Audit::layer`].
#[derive(Debug, Clone)]
pub struct AuditLayer {
    audit: Audit,
}

impl AuditLayer {
    pub(crate) fn new(audit: Audit) -> Self {
        Self { audit }
    }
}

impl<S> Layer<S> for AuditLayer {
    type Service = Audited<S>;

    fn layer(&self, inner: S) -> Audited<S> {
        Audited {
            inner,
            audit: self.audit.clone(),
        }
    }
}

/// A service whose requests each have a line in an [`Audit`].
#[derive(Debug, Clone)]
pub struct Audited<S> {
    inner: S,
    audit: Audit,
}

impl<S: Service> Service for Audited<S> {
    async fn call(&self, cx: Context) -> Result<Reply, Error> {
        let is_strict = self.audit.0.options.is_strict;
        if is_strict && !self.audit.0.queue.reserve() {
            return Err(Error::new(
                ErrorCode::INTERNAL_ERROR,
                "the audit log has no room for the request; try again later",
            ));
        }
        let line = Line {
            started: Instant::now(),
            record: Record::begin(&self.audit.0, &cx),
            audit: &self.audit,
            outcome: None,
        };
        let is_tool_call = subject::is_tool_call(cx.request());
        let reply = self.inner.call(cx).await;
        line.end(Outcome::of(is_tool_call, &reply));
        reply
    }

    pintle_runtime::delegate_to_inner!();
}

/// The line of a request that runs. A line that is dropped before its end is that of a cancelled request.
struct Line<'a> {
    started: Instant,
    record: Record,
    audit: &'a Audit,
    outcome: Option<Outcome>,
}

impl Line<'_> {
    fn end(mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
    }

    fn outcome(&self) -> Outcome {
        match std::thread::panicking() {
            true => Outcome::Panic,
            false => self.outcome.unwrap_or(Outcome::Cancelled),
        }
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        let outcome = self.outcome();
        let line = self.record.end(outcome, self.started.elapsed());
        let log = &self.audit.0;
        log.queue.push(&line, log.options.is_strict);
    }
}
