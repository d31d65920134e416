//! A handler that runs again: what it finds answered, and what it asks anew.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use pintle_model::{Error, ErrorCode, InputRequest, InputRequests, JsonObject};
use serde_json::Value;

use super::for_ever;
use super::journal::{Answered, Journal, digest};

/// One run of a handler over its journal.
#[derive(Debug, Default)]
pub(crate) struct Replay(Mutex<Replayed>);

/// What became of a run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Replayed {
    /// What is remembered, without the questions of this round.
    pub journal: Journal,
    /// What must be answered before the handler can go on.
    pub asked: InputRequests,
    /// A capability that a question of the handler lacked: -32021.
    pub lack: Option<Error>,
    /// How the handler broke the rules of replay.
    pub broken: Option<Error>,
    next: u32,
    uses_by_name: BTreeMap<String, u32>,
}

/// What questions without a name of their own are called, before their number.
const UNNAMED: &str = "in-";

impl Replayed {
    fn unasked(&self, name: &str) -> Option<JsonObject> {
        if name.starts_with(UNNAMED) {
            return None;
        }
        self.journal.unasked.get(name).cloned()
    }

    /// Remembers what is asked now, for the retry.
    pub fn into_asked(mut self) -> (Journal, InputRequests) {
        for (name, request) in &self.asked {
            self.journal.asked.insert(name.clone(), digest(request));
        }
        (self.journal, self.asked)
    }
}

impl Replay {
    pub(super) fn new(journal: Journal) -> Self {
        Self(Mutex::new(Replayed {
            journal,
            ..Replayed::default()
        }))
    }

    /// The name of the next question that has none of its own.
    pub(super) fn next_name(&self) -> String {
        let mut run = self.lock();
        let name = format!("{UNNAMED}{}", run.next);
        run.next += 1;
        name
    }

    /// `name`, told apart from its earlier uses in this run.
    pub(super) fn unique(&self, name: &str) -> String {
        let mut run = self.lock();
        let uses = run.uses_by_name.entry(name.to_owned()).or_default();
        *uses += 1;
        match *uses {
            1 => name.to_owned(),
            again => format!("{name}-{again}"),
        }
    }

    /// As [`Replay::unique`], for what is done once: such keys are no names of questions.
    pub(super) fn unique_key(&self, key: &str) -> String {
        self.unique(&format!("once {key}"))
    }

    /// The answer to a question, if an earlier round or the client by itself brought one.
    pub(super) fn answer(&self, name: &str, request: &InputRequest) -> Option<JsonObject> {
        let mut run = self.lock();
        let digest = digest(request);
        if let Some(answer) = run.unasked(name) {
            let answered = Answered { digest, answer };
            run.journal.answered.insert(name.to_owned(), answered);
        }
        let answered = run.journal.answered.get(name)?;
        if answered.digest == digest {
            return Some(answered.answer.clone());
        }
        run.broken = Some(asked_otherwise(name));
        None
    }

    /// Asks, for the first time or again.
    pub(super) fn ask(&self, name: &str, request: InputRequest) {
        let mut run = self.lock();
        run.journal.answered.remove(name);
        run.asked.insert(name, request);
    }

    pub(super) fn lack(&self, error: Error) {
        self.lock().lack.get_or_insert(error);
    }

    pub(super) fn value(&self, key: &str) -> Option<Value> {
        self.lock().journal.values.get(key).cloned()
    }

    pub(super) fn remember(&self, key: String, value: Value) {
        self.lock().journal.values.insert(key, value);
    }

    /// Ends the run: the value under `key` cannot be written, or is of another type.
    pub(super) async fn broken_for_ever<T>(&self, key: &str) -> T {
        let error = format!("{key:?} does not have the value that was remembered");
        self.lock().broken = Some(Error::new(ErrorCode::INTERNAL_ERROR, error));
        for_ever().await
    }

    /// Whether the handler cannot go on in this round.
    pub(super) fn is_suspended(&self) -> bool {
        let run = self.lock();
        run.broken.is_some() || !run.asked.is_empty()
    }

    pub(super) fn take(&self) -> Replayed {
        std::mem::take(&mut *self.lock())
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, Replayed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn asked_otherwise(name: &str) -> Error {
    let message = format!(
        "the handler asked something else under {name:?} than in the round before: \
         what it asks must depend on its arguments and on earlier answers alone"
    );
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}
