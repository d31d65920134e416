//! A handler that runs again: its stored answers, and its open questions.

use std::collections::BTreeMap;

use pintle_model::{
    ElicitMode, ElicitUrlParams, Error, ErrorCode, InputRequest, InputRequests, JsonObject,
};
use serde_json::Value;

use super::journal::{Answered, Journal, StoredAnswer, digest};
use super::park::TaskCheckpoint;
use crate::sync::{Mutex, MutexGuard};

/// One run of a handler over its journal.
#[derive(Debug, Default)]
pub(crate) struct Replay(Mutex<ReplayResult>);

/// Result of one run.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ReplayResult {
    /// The journal, without the questions of this round.
    pub journal: Journal,
    /// The questions that must be answered before the handler can continue.
    pub asked: InputRequests,
    /// Where the user must go before the request can succeed, where that is an error: -32042.
    pub required: Vec<ElicitUrlParams>,
    /// A capability that a question of the handler lacked: -32021.
    pub missing_capability: Option<Error>,
    /// How the handler broke the rules of replay.
    pub broken: Option<Error>,
    uses_by_name: BTreeMap<String, u64>,
    /// Whether an answer that came just now was asked for again.
    is_on_track: bool,
}

/// Prefix of the names of unnamed questions, before their digest.
const UNNAMED: &str = "in-";
/// The same for visits. A handler may find that the user has been there, and ask no more.
const VISIT: &str = "visit-";

impl ReplayResult {
    /// Whether the handler asks none of the questions that were just answered: it would ask without
    /// end.
    fn has_lost_its_way(&self) -> bool {
        let mut new_answers = self.journal.new_answers.iter();
        let is_due = new_answers.any(|name| name.starts_with(UNNAMED));
        is_due && !self.asked.is_empty() && !self.is_on_track
    }

    fn unasked(&self, name: &str) -> Option<JsonObject> {
        if name.starts_with(UNNAMED) || name.starts_with(VISIT) {
            return None;
        }
        self.journal.unasked.get(name).cloned()
    }

    /// Adds the questions of this round to the journal, for the retry.
    pub fn into_asked(mut self) -> (Journal, InputRequests) {
        for (name, request) in &self.asked {
            self.journal.asked.insert(name.clone(), digest(request));
        }
        (self.journal, self.asked)
    }
}

impl Replay {
    pub(crate) fn new(journal: Journal) -> Self {
        Self(Mutex::new(ReplayResult {
            journal,
            ..ReplayResult::default()
        }))
    }

    /// Returns the name of an unnamed question: from its content, because its position may differ
    /// when one of several branches has progressed further.
    pub(crate) fn name_of(&self, request: &InputRequest) -> String {
        let kind = if is_visit(request) { VISIT } else { UNNAMED };
        self.unique(&format!("{kind}{:016x}", digest(request)))
    }

    /// Starts another run with the same journal.
    pub(crate) fn rewind(&self) {
        self.lock().uses_by_name.clear();
    }

    /// Returns `name`, numbered to distinguish it from earlier uses in this run.
    pub(crate) fn unique(&self, name: &str) -> String {
        let mut run = self.lock();
        let uses = run.uses_by_name.entry(name.to_owned()).or_default();
        *uses += 1;
        match *uses {
            1 => name.to_owned(),
            again => format!("{name}-{again}"),
        }
    }

    /// As [`Replay::unique`], for actions that run once; their keys differ from the names of
    /// questions.
    pub(crate) fn unique_key(&self, key: &str) -> String {
        self.unique(&format!("once {key}"))
    }

    /// Returns the result of a question, if an earlier round or the client itself provided one.
    pub(crate) fn answer(&self, name: &str, request: &InputRequest) -> Option<StoredAnswer> {
        let mut run = self.lock();
        let digest = digest(request);
        run.is_on_track |= run.journal.new_answers.contains(name);
        if let Some(answer) = run.unasked(name) {
            let answered = Answered::new(digest, StoredAnswer::Answer(answer));
            run.journal.answered.insert(name.to_owned(), answered);
        }
        let answered = run.journal.answered.get(name)?;
        if answered.digest == digest {
            return Some(answered.given.clone());
        }
        run.broken = Some(asked_otherwise());
        None
    }

    /// Remembers an answer that came to the handler itself.
    pub(crate) fn learn(&self, name: &str, request: &InputRequest, answer: JsonObject) {
        let given = StoredAnswer::Answer(answer);
        self.lock().journal.give(name, request, given);
    }

    /// Asks, for the first time or again; an answer that is there did not fit.
    pub(crate) fn ask(&self, name: &str, request: InputRequest) {
        let mut run = self.lock();
        if run.journal.answered.remove(name).is_some() {
            *run.journal.unfit.entry(name.to_owned()).or_default() += 1;
        }
        run.asked.insert(name, request);
    }

    /// How many answers to a question did not fit, without the one that is there.
    pub(crate) fn unfit_answers(&self, name: &str) -> u64 {
        self.lock()
            .journal
            .unfit
            .get(name)
            .copied()
            .unwrap_or_default()
    }

    /// Whether a question waits for its answer.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.lock().asked.get(name).is_some()
    }

    /// Takes a question back.
    pub(crate) fn withdraw(&self, name: &str) {
        self.lock().asked.remove(name);
    }

    /// Stores the result of a question for the handler.
    pub(crate) fn give(&self, name: &str, request: &InputRequest, given: StoredAnswer) {
        let mut run = self.lock();
        run.journal.give(name, request, given);
        run.asked.remove(name);
    }

    pub(crate) fn journal(&self) -> Journal {
        self.lock().journal.clone()
    }

    pub(crate) fn draft(&self) -> TaskCheckpoint {
        let run = self.lock();
        TaskCheckpoint {
            version: 0,
            asked: run.asked.clone(),
            broken: run.broken.clone(),
            values: run.journal.values.clone(),
            unfit: run.journal.unfit.clone(),
        }
    }

    /// Asks for a visit before anything else.
    pub(crate) fn require(&self, url: ElicitUrlParams) {
        self.lock().required.push(url);
    }

    pub(crate) fn report_missing_capability(&self, error: Error) {
        self.lock().missing_capability.get_or_insert(error);
    }

    pub(crate) fn value(&self, key: &str) -> Option<Value> {
        self.lock().journal.values.get(key).cloned()
    }

    pub(crate) fn remember(&self, key: String, value: Value) {
        self.lock().journal.values.insert(key, value);
    }

    /// Ends the run: the value under `key` cannot be written, or is of another type.
    pub(crate) async fn broken_for_ever<T>(&self, key: &str) -> T {
        let error = format!("{key:?} does not have the value that was remembered");
        self.lock().broken = Some(Error::new(ErrorCode::INTERNAL_ERROR, error));
        std::future::pending().await
    }

    /// Whether the handler cannot continue in this round.
    pub(crate) fn is_suspended(&self) -> bool {
        let run = self.lock();
        run.broken.is_some() || !(run.asked.is_empty() && run.required.is_empty())
    }

    /// Whether the handler is suspended, and can continue after an answer.
    pub(crate) fn is_asking(&self) -> bool {
        self.is_suspended() && self.lock().broken.is_none()
    }

    pub(crate) fn take(&self) -> ReplayResult {
        let mut run = std::mem::take(&mut *self.lock());
        if run.has_lost_its_way() {
            run.broken.get_or_insert_with(asked_otherwise);
        }
        run
    }

    // Every change is one statement, so what a poisoned lock guards is whole.
    fn lock(&self) -> MutexGuard<'_, ReplayResult> {
        self.0.lock()
    }
}

fn is_visit(request: &InputRequest) -> bool {
    matches!(request, InputRequest::Elicit(params) if params.mode() == ElicitMode::Url)
}

fn asked_otherwise() -> Error {
    let message = "the handler asked something else than in the round before: \
                   what it asks must depend on its arguments and on earlier answers alone";
    Error::new(ErrorCode::INTERNAL_ERROR, message)
}
