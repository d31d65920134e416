//! The recipients of a replica, its pending requests, and the numbers of its messages. No I/O.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use tokio::sync::watch;

use super::message::Recipient;
use super::requests::Requests;
use crate::sync::Mutex;

/// The part of a replica that sends and receives messages.
pub(super) struct Mail {
    recipients: Mutex<HashMap<&'static str, Weak<dyn Recipient>>>,
    pub(super) requests: Requests,
    numbers: AtomicU64,
    pub(super) is_open: watch::Sender<bool>,
}

impl Mail {
    pub(super) fn new() -> Self {
        Self {
            recipients: Mutex::default(),
            requests: Requests::default(),
            numbers: AtomicU64::new(0),
            is_open: watch::Sender::new(false),
        }
    }

    pub(super) fn set_recipient(&self, kind: &'static str, recipient: Weak<dyn Recipient>) {
        self.recipients.lock().insert(kind, recipient);
        self.open();
    }

    /// Makes the replica read its inbox from now on.
    pub(super) fn open(&self) {
        self.is_open.send_replace(true);
    }

    pub(super) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn recipient(&self, kind: &str) -> Option<Arc<dyn Recipient>> {
        self.recipients.lock().get(kind)?.upgrade()
    }
}
