//! The calls of clients that are open on one connection.

use std::collections::BTreeMap;
use std::sync::Arc;

use pintle::runtime::Context;
use pintle::runtime::sync::Mutex;

/// The open calls, in their order.
#[derive(Default)]
pub(crate) struct OpenCalls(Mutex<State>);

#[derive(Default)]
struct State {
    calls: BTreeMap<u64, Context>,
    next: u64,
}

/// An open call. Dropping it ends the entry.
pub(crate) struct OpenCall {
    calls: Arc<OpenCalls>,
    number: u64,
}

impl OpenCalls {
    /// Adds a call.
    pub(crate) fn add(self: &Arc<Self>, cx: &Context) -> OpenCall {
        let mut state = self.0.lock();
        state.next += 1;
        let number = state.next;
        state.calls.insert(number, cx.clone());
        OpenCall {
            calls: Arc::clone(self),
            number,
        }
    }

    /// Returns the newest call that fulfils a condition.
    pub(crate) fn newest(&self, is_wanted: impl Fn(&Context) -> bool) -> Option<Context> {
        let state = self.0.lock();
        let mut calls = state.calls.values().rev();
        calls.find(|cx| is_wanted(cx)).cloned()
    }

    /// Returns the call for a log message: the only one that requests log messages, or the newest one if
    /// `is_one_client`.
    pub(crate) fn logged(&self, is_one_client: bool) -> Option<Context> {
        let state = self.0.lock();
        let calls = state.calls.values();
        let mut logged = calls.filter(|cx| is_one_client || cx.terms().log_level.is_some());
        let newest = logged.next_back()?;
        let is_clear = is_one_client || logged.next().is_none();
        is_clear.then(|| newest.clone())
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.calls.0.lock().calls.remove(&self.number);
    }
}
