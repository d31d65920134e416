//! The replies of a session that are not complete yet.

use std::task::Waker;

use pintle_proto::{Incoming, Outbox, RequestKey, Ticket};
use tokio::task::AbortHandle;

/// The replies by their key. Keys grow, so whichever is opened comes last.
#[derive(Debug, Default)]
pub(super) struct Replies(Vec<(RequestKey, Reply)>);

/// Where the reply to a request is heard. Closed by design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::server) enum Form {
    /// On a response of its own, which may be a stream that its client comes back to.
    #[default]
    Own,
    /// On a response that it shares with other replies.
    Shared,
    /// Nowhere but in one body: only the answer is heard.
    Single,
}

/// The reply to one request.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) start: Option<(Ticket, Incoming)>,
    pub(super) outbox: Outbox,
    pub(super) waker: Option<Waker>,
    pub(super) form: Form,
    /// Its number among the streams of the session, once it is one.
    pub(super) stream: Option<u64>,
    /// Counts its readers: whoever comes back takes the place of whoever read before.
    pub(super) reader: u32,
    /// Whether anybody reads it now.
    pub(super) is_read: bool,
    pub(super) is_cancelled: bool,
    /// Its answer is made.
    pub(super) has_answer: bool,
    /// Its answer has left.
    pub(super) is_answered: bool,
    /// Its reader is to go once it has heard what was said so far.
    pub(super) is_parting: bool,
    /// The handler that goes on without its post.
    pub(super) detached: Option<AbortHandle>,
}

impl Reply {
    fn new(form: Form) -> Self {
        Self {
            form,
            start: None,
            outbox: Outbox::default(),
            waker: None,
            stream: None,
            reader: 0,
            is_read: true,
            is_cancelled: false,
            has_answer: false,
            is_answered: false,
            is_parting: false,
            detached: None,
        }
    }

    /// Whether nobody hears it any more: its client is gone, and has nothing to come back to.
    pub(super) fn is_unheard(&self) -> bool {
        !self.is_read && self.stream.is_none()
    }

    /// Whether nothing but its answer is heard.
    pub(super) fn is_mute(&self) -> bool {
        self.form == Form::Single || self.is_unheard()
    }
}

impl Replies {
    pub(super) fn open(&mut self, key: RequestKey, form: Form) {
        self.0.push((key, Reply::new(form)));
    }

    pub(super) fn get(&self, key: RequestKey) -> Option<&Reply> {
        let (_, reply) = self.0.get(self.position(key)?)?;
        Some(reply)
    }

    pub(super) fn get_mut(&mut self, key: RequestKey) -> Option<&mut Reply> {
        let at = self.position(key)?;
        self.0.get_mut(at).map(|(_, reply)| reply)
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Reply> {
        self.0.iter_mut().map(|(_, reply)| reply)
    }

    pub(super) fn remove(&mut self, key: RequestKey) -> Option<Reply> {
        let at = self.position(key)?;
        Some(self.0.remove(at).1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn position(&self, key: RequestKey) -> Option<usize> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok()
    }
}
