//! The progress of a call, on its way to the present round of its client.

use std::sync::Arc;

use pintle::client::Call;
use pintle::model::{Meta, ProgressParams};
use pintle::proto::IncomingRequest;
use pintle::runtime::Context;
use pintle::runtime::sync::Mutex;
use serde_json::value::RawValue;

use crate::link::Link;
use crate::upstream::{Upstream, declared};

/// A call has no total timeout of its own; this many idle timeouts bound it.
const TOTAL: u32 = 24;

/// The round that receives the progress of a call; none while the call is parked.
#[derive(Clone)]
pub(crate) struct Sink(Option<Place>);

type Place = Arc<Mutex<Option<Context>>>;

/// A round that receives progress until this value is dropped.
pub(crate) struct Attached(Sink);

impl Sink {
    /// Returns the sink of a request. One without a progress token receives no progress.
    pub(crate) fn of(request: &IncomingRequest) -> Self {
        Self(request.progress_token.is_some().then(Place::default))
    }

    /// Sends progress to a round from now on.
    pub(crate) fn attach(&self, cx: &Context) -> Attached {
        self.set(Some(cx));
        Attached(self.clone())
    }

    /// Returns the call of a request, not sent yet.
    pub(crate) fn call(
        &self,
        upstream: &Upstream,
        link: &Link,
        request: &IncomingRequest,
        params: &str,
    ) -> Call<Box<RawValue>> {
        let timeout = upstream.options.call_timeout;
        let call = link.client().forward(request.method.as_str(), params);
        let mut call = call
            .timeout(timeout)
            .total_timeout(timeout.saturating_mul(TOTAL));
        let level = request.terms.log_level.as_ref();
        if let Some(level) = level.filter(|_| !upstream.is_stateful()) {
            call = call.meta(Meta::LOG_LEVEL, level.as_str());
        }
        if upstream.options.is_shared {
            call = call.capabilities(Arc::new(declared(&request.terms.capabilities).into_owned()));
        }
        if self.0.is_none() || request.progress_token.is_none() {
            return call;
        }
        let sink = self.clone();
        call.on_progress(move |progress| sink.send(&progress))
    }

    fn set(&self, cx: Option<&Context>) {
        if let Some(place) = &self.0 {
            *place.lock() = cx.cloned();
        }
    }

    fn send(&self, progress: &ProgressParams) {
        let Some(cx) = self.0.as_ref().and_then(|place| place.lock().clone()) else {
            return;
        };
        let (value, total) = (progress.progress, progress.total);
        let message = progress.message.as_deref();
        let engine = cx.engine_handle();
        engine.with(|engine| engine.progress(cx.key(), value, total, message));
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        self.0.set(None);
    }
}
