//! The engine handle of a task: its request first, then its session, then no conversation.

use pintle_runtime::sync::Mutex;
use std::sync::{Arc, Weak};

use pintle_proto::{Connection, Input, Limits, RequestKey, ServerProfile, Terms};
use pintle_runtime::EngineHandle;
use tokio::time::Instant;

/// An engine handle that outlives its conversation. Later notices are dropped.
pub(crate) struct TaskEngineHandle {
    link: Mutex<Link>,
    mute: Mutex<Connection>,
}

enum Link {
    /// The request is not answered yet.
    Request(Arc<dyn EngineHandle>),
    /// The session of the request, for as long as it lives.
    Session(Weak<dyn EngineHandle>),
    Gone,
}

impl TaskEngineHandle {
    /// Creates the handle of a request that may become a task.
    pub(crate) fn of_request(
        engine_handle: Arc<dyn EngineHandle>,
        profile: &Arc<ServerProfile>,
        terms: &Terms,
    ) -> Self {
        let limits = engine_handle.with(|engine| engine.limits().clone());
        Self::new(Link::Request(engine_handle), profile, limits, terms)
    }

    /// Creates a handle without a conversation.
    pub(crate) fn detached(profile: &Arc<ServerProfile>, terms: &Terms) -> Self {
        Self::new(Link::Gone, profile, Limits::default(), terms)
    }

    fn new(link: Link, profile: &Arc<ServerProfile>, limits: Limits, terms: &Terms) -> Self {
        let terms = Arc::new(terms.clone());
        let mut mute = Connection::exchange(Arc::clone(profile), Arc::new(limits), terms);
        mute.handle_input(Instant::now().into_std(), Input::Closed);
        Self {
            link: Mutex::new(link),
            mute: Mutex::new(mute),
        }
    }

    /// Changes the engine of the request, while that is not answered.
    pub(crate) fn with_request(&self, act: impl FnOnce(&mut Connection)) {
        if let Some(engine_handle) = self.conversation() {
            engine_handle.with(act);
        }
    }

    /// Lets go of the request: its session stays if it is told of tasks.
    pub(crate) fn detach(&self, keeps_session: bool) {
        let mut link = self.link.lock();
        *link = match &*link {
            Link::Request(engine_handle) if keeps_session => {
                Link::Session(Arc::downgrade(engine_handle))
            }
            _ => Link::Gone,
        };
    }

    /// The conversation behind it, while it lives.
    pub(crate) fn conversation(&self) -> Option<Arc<dyn EngineHandle>> {
        match &*self.link.lock() {
            Link::Request(engine_handle) => Some(Arc::clone(engine_handle)),
            Link::Session(engine_handle) => engine_handle.upgrade(),
            Link::Gone => None,
        }
    }
}

impl EngineHandle for TaskEngineHandle {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        match self.conversation() {
            Some(engine_handle) => engine_handle.engine(act),
            None => act(&mut self.mute.lock()),
        }
    }

    fn is_behind(&self, key: RequestKey) -> bool {
        let conversation = self.conversation();
        conversation.is_some_and(|engine_handle| engine_handle.is_behind(key))
    }
}
