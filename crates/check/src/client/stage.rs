//! The stage: all visits of a run, and the conversations over HTTP.

use std::collections::HashMap;
use std::sync::Arc;

use pintle_model::Revision;
use pintle_runtime::sync::Mutex;
use tokio::sync::mpsc;

use super::record::Record;
use super::scene::Play;
use super::script::{Actor, Part};
use crate::options::CheckOptions;

/// Sessions of a run. Beyond them a handshake is rejected.
const MAX_SESSIONS: usize = 1_024;
/// Streams of a run that wait for a reconnection.
const MAX_RESUMABLE: usize = 256;

/// The visits of a run.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) record: Arc<Record>,
    pub(crate) options: CheckOptions,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// The visit of each path.
    paths: HashMap<String, (usize, Play)>,
    sessions: HashMap<String, Arc<Actor>>,
    /// The conversations of a visit: the one without sessions, and the last one with a session.
    stateless: HashMap<usize, Arc<Actor>>,
    latest: HashMap<usize, Arc<Actor>>,
    resumable: HashMap<String, mpsc::Receiver<Part>>,
    forgetful: HashMap<usize, bool>,
}

impl Stage {
    pub(crate) fn new(options: CheckOptions) -> Self {
        Self {
            record: Arc::new(Record::new(&options)),
            options,
            inner: Mutex::default(),
        }
    }

    /// Begins a visit, which is reached at the path of its play.
    pub(crate) fn begin(&self, play: Play) -> usize {
        let visit = self.record.begin_visit(play);
        self.inner.lock().paths.insert(play.path(), (visit, play));
        visit
    }

    /// Returns true if the client went on in a conversation of this revision.
    pub(crate) fn is_spoken(&self, revision: Revision) -> bool {
        super::judge::spoken(&self.record.talks()).contains(&revision)
    }

    /// Returns the visit of a path.
    pub(crate) fn at(&self, path: &str) -> Option<(usize, Play)> {
        self.inner.lock().paths.get(path).copied()
    }

    pub(crate) fn actor(&self, visit: usize, play: Play, is_http: bool) -> Actor {
        let timeout = self.options.answer_timeout;
        Actor::new(&self.record, visit, play, is_http, timeout)
    }

    /// Opens a session, and returns its id. Each visible character of ASCII is allowed in it.
    pub(crate) fn open(&self, visit: usize, play: Play) -> Option<(String, Arc<Actor>)> {
        if self.inner.lock().sessions.len() >= MAX_SESSIONS {
            return None;
        }
        let actor = Arc::new(self.actor(visit, play, true));
        let id = format!("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{{|}}~Pintle{}", actor.number);
        let mut inner = self.inner.lock();
        inner.sessions.insert(id.clone(), Arc::clone(&actor));
        inner.latest.insert(visit, Arc::clone(&actor));
        Some((id, actor))
    }

    pub(crate) fn session(&self, id: &str) -> Option<Arc<Actor>> {
        self.inner.lock().sessions.get(id).cloned()
    }

    pub(crate) fn close(&self, id: &str) -> bool {
        self.inner.lock().sessions.remove(id).is_some()
    }

    /// Returns true for the first request in a visit that forgets a session.
    pub(crate) fn forgets(&self, visit: usize) -> bool {
        self.inner.lock().forgetful.insert(visit, true).is_none()
    }

    /// Returns the conversation of requests without a session.
    pub(crate) fn stateless(&self, visit: usize, play: Play) -> Arc<Actor> {
        if let Some(actor) = self.inner.lock().stateless.get(&visit) {
            return Arc::clone(actor);
        }
        let actor = Arc::new(self.actor(visit, play, true));
        let mut inner = self.inner.lock();
        Arc::clone(inner.stateless.entry(visit).or_insert(actor))
    }

    /// Returns the last conversation with a session.
    pub(crate) fn latest(&self, visit: usize) -> Option<Arc<Actor>> {
        self.inner.lock().latest.get(&visit).cloned()
    }

    /// Stores the rest of a stream until the client reconnects.
    pub(crate) fn store(&self, event: String, parts: mpsc::Receiver<Part>) {
        let mut inner = self.inner.lock();
        if inner.resumable.len() < MAX_RESUMABLE {
            inner.resumable.insert(event, parts);
        }
    }

    /// Returns the rest of a stream.
    pub(crate) fn resume(&self, event: &str) -> Option<mpsc::Receiver<Part>> {
        self.inner.lock().resumable.remove(event)
    }
}
