//! The known state of a task, shared by its handle and its followers.

use std::collections::BTreeSet;
use std::sync::Arc;

use pintle_model::Task as Record;
use pintle_runtime::sync::{Mutex, MutexGuard};

use crate::request::Request;

/// A task at the server.
pub(crate) struct Followed {
    id: String,
    /// Name of the called tool, if known.
    tool: Option<Box<str>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The last status from the server.
    last: Option<Record>,
    /// The names of the questions that are answered or being answered.
    answered: BTreeSet<String>,
}

impl Followed {
    /// Creates the state of a task of which only the id is known.
    pub(crate) fn new(id: String) -> Self {
        Self {
            id,
            tool: None,
            state: Mutex::default(),
        }
    }

    /// Creates the state of the task that a call became.
    pub(crate) fn from_record(request: &Request, record: Record) -> Self {
        let (id, tool) = (record.task_id.clone(), request.tool.clone());
        tracing::debug!(task = %id, tool, "a call has become a task");
        let state = State {
            last: Some(record),
            ..State::default()
        };
        Self {
            id,
            tool,
            state: Mutex::new(state),
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    pub(crate) fn last(&self) -> Option<Record> {
        self.lock().last.clone()
    }

    pub(crate) fn note(&self, record: Record) {
        self.lock().last = Some(record);
    }

    /// Returns the number of claimed questions.
    pub(crate) fn claimed(&self) -> usize {
        self.lock().answered.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// A claimed question. Dropping the claim releases the question, unless its answer was sent.
pub(crate) struct Claim {
    task: Arc<Followed>,
    name: String,
    pub(crate) is_kept: bool,
}

impl Claim {
    /// Claims a question; none if it was claimed before.
    pub(crate) fn of(task: &Arc<Followed>, name: &str) -> Option<Self> {
        let is_first = task.lock().answered.insert(name.to_owned());
        is_first.then(|| Self {
            task: Arc::clone(task),
            name: name.to_owned(),
            is_kept: false,
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_kept {
            self.task.lock().answered.remove(&self.name);
        }
    }
}
