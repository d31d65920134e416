//! What must be remembered of a request between its rounds.

use std::collections::{BTreeMap, BTreeSet};

use pintle_model::{ElicitParams, Error, InputRequest, InputResponses, JsonObject};
use serde_json::Value;

use super::unfit::without_reason;

/// Questions, answers and actions of the earlier rounds of a request. A journal that a client
/// carries must be sealed, because its answers are trusted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Journal {
    /// How many rounds there were.
    pub rounds: u32,
    /// The state that a handler keeps itself.
    pub state: Option<String>,
    /// The open questions by name: a digest of each.
    pub(crate) asked: BTreeMap<String, u64>,
    pub(crate) answered: BTreeMap<String, Answered>,
    pub(crate) values: BTreeMap<String, Value>,
    /// How many answers to each question did not fit.
    // The type of `asked`, so that its map is compiled once.
    pub(crate) unfit: BTreeMap<String, u64>,
    /// Answers that came before their questions.
    pub(crate) unasked: InputResponses,
    /// The questions whose answers came just now.
    pub(crate) new_answers: BTreeSet<String>,
}

/// Result of a question. Closed: it was answered, or it was not.
#[derive(Debug, Clone, PartialEq)]
pub enum StoredAnswer {
    /// The answer, as the client sent it.
    Answer(JsonObject),
    /// The client could not answer: up to 2025-11-25 it may respond with an error.
    Failure(Error),
}

/// The result of a question, and the digest of the question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answered {
    pub(crate) digest: u64,
    pub(crate) given: StoredAnswer,
}

impl Answered {
    pub(crate) fn new(digest: u64, given: StoredAnswer) -> Self {
        Self { digest, given }
    }
}

impl Journal {
    /// Stores the answers to open questions; other answers are ignored.
    ///
    /// Spec: 2026-07-28 N-MRTR-25.
    pub fn take_answers(&mut self, responses: &InputResponses) {
        for (name, digest) in std::mem::take(&mut self.asked) {
            if let Some(answer) = responses.get(&name).cloned() {
                self.new_answers.insert(name.clone());
                let answered = Answered::new(digest, StoredAnswer::Answer(answer));
                self.answered.insert(name, answered);
            }
        }
    }

    /// Stores the result of one question of a task.
    pub fn give(&mut self, name: &str, request: &InputRequest, given: StoredAnswer) {
        let answered = Answered::new(digest(request), given);
        self.answered.insert(name.to_owned(), answered);
    }

    /// Takes answers of a client that asks with them at once: it knows the questions by name, and
    /// carries nothing. Questions that have no name of their own are not answered in this way.
    pub fn take_unasked(&mut self, responses: InputResponses) {
        self.unasked = responses;
    }
}

/// A number that two questions share only by a rare chance. It guards against mistakes of
/// handlers, not against attackers, and must be the same on every machine: FNV-1a.
///
/// A question that is asked again with a reason is the same question.
pub(crate) fn digest(request: &InputRequest) -> u64 {
    let request = &*without_reason(request);
    let bytes = match request {
        // The id is drawn again for every run, so it does not belong to the digest.
        InputRequest::Elicit(params) if matches!(&**params, ElicitParams::Url(_)) => {
            let mut params = params.clone();
            if let ElicitParams::Url(url) = &mut *params {
                url.elicitation_id = None;
            }
            serde_json::to_vec(&InputRequest::Elicit(params))
        }
        _ => serde_json::to_vec(request),
    };
    let bytes = bytes.unwrap_or_default();
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
