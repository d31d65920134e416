//! Where a task's handler tells of its work: through its request while that is there.

use pintle_runtime::sync::Mutex;
use std::sync::{Arc, Weak};

use pintle_proto::{Connection, Input, Limits, RequestKey, ServerProfile, Terms};
use pintle_runtime::EngineHandle;
use tokio::time::Instant;

/// An outlet that outlives its conversation: what is said through it then goes nowhere.
pub(crate) struct TaskOutlet {
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

impl TaskOutlet {
    /// An outlet of a request that may become a task.
    pub(crate) fn of_request(
        outlet: Arc<dyn EngineHandle>,
        profile: &Arc<ServerProfile>,
        terms: &Terms,
    ) -> Self {
        let limits = outlet.with(|engine| engine.limits().clone());
        Self::new(Link::Request(outlet), profile, limits, terms)
    }

    /// An outlet of nobody.
    pub(crate) fn of_nobody(profile: &Arc<ServerProfile>, terms: &Terms) -> Self {
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
        if let Some(outlet) = self.conversation() {
            outlet.with(act);
        }
    }

    /// Lets go of the request: its session stays if it is told of tasks.
    pub(crate) fn detach(&self, keeps_session: bool) {
        let mut link = self.link.lock();
        *link = match &*link {
            Link::Request(outlet) if keeps_session => Link::Session(Arc::downgrade(outlet)),
            _ => Link::Gone,
        };
    }

    /// The conversation behind it, while it lives.
    pub(crate) fn conversation(&self) -> Option<Arc<dyn EngineHandle>> {
        match &*self.link.lock() {
            Link::Request(outlet) => Some(Arc::clone(outlet)),
            Link::Session(outlet) => outlet.upgrade(),
            Link::Gone => None,
        }
    }
}

impl EngineHandle for TaskOutlet {
    fn engine(&self, act: &mut dyn FnMut(&mut Connection)) {
        match self.conversation() {
            Some(outlet) => outlet.engine(act),
            None => act(&mut self.mute.lock()),
        }
    }

    fn is_behind(&self, key: RequestKey) -> bool {
        let conversation = self.conversation();
        conversation.is_some_and(|outlet| outlet.is_behind(key))
    }
}
