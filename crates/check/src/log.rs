//! The messages of one revision, and the last exchange as evidence.

use pintle_runtime::sync::{Mutex, MutexGuard};
use serde_json::Value;

use crate::text::clip_bytes;
use crate::wire::Reply;

/// One sending and its reply.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    /// The sent request, if the sent bytes are one.
    pub(crate) request: Option<Value>,
    pub(crate) reply: Reply,
}

impl Exchange {
    /// Returns the method of the sent request.
    pub(crate) fn method(&self) -> Option<&str> {
        self.request.as_ref()?.get("method")?.as_str()
    }

    /// Returns the response to the sent request.
    pub(crate) fn answer(&self) -> Option<&Value> {
        self.reply.answer(self.request.as_ref()?.get("id")?)
    }
}

/// The exchanges of one revision, up to a limit.
#[derive(Debug)]
pub(crate) struct Log {
    inner: Mutex<Inner>,
    max_messages: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Inner {
    exchanges: Vec<Exchange>,
    messages: usize,
    bytes: usize,
    sent: Option<String>,
    came: Option<String>,
}

impl Log {
    pub(crate) fn new(max_messages: usize, max_bytes: usize) -> Self {
        Self {
            inner: Mutex::default(),
            max_messages,
            max_bytes,
        }
    }

    /// Adds an exchange. Beyond the limits only the evidence changes.
    pub(crate) fn add(&self, sent: &[u8], request: Option<Value>, reply: &Reply) {
        let mut inner = self.lock();
        inner.sent = Some(clip_bytes(sent));
        inner.came = Some(reply.text());
        inner.messages += reply.messages.len() + reply.junk.len();
        inner.bytes += reply.bytes;
        if inner.messages <= self.max_messages && inner.bytes <= self.max_bytes {
            let reply = reply.clone();
            inner.exchanges.push(Exchange { request, reply });
        }
    }

    /// Replaces the texts of the last exchange.
    pub(crate) fn note(&self, sent: &[u8], reply: &Reply) {
        let mut inner = self.lock();
        inner.sent = Some(clip_bytes(sent));
        inner.came = Some(reply.text());
    }

    /// Returns the texts of the last exchange, and forgets them.
    pub(crate) fn take_evidence(&self) -> (Option<String>, Option<String>) {
        let mut inner = self.lock();
        (inner.sent.take(), inner.came.take())
    }

    /// Restores the texts of an earlier exchange.
    pub(crate) fn restore(&self, (sent, came): (Option<String>, Option<String>)) {
        let mut inner = self.lock();
        (inner.sent, inner.came) = (sent, came);
    }

    /// Returns the exchanges so far.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        self.lock().exchanges.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}
