//! The stored record of a task.

use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use pintle_model::RawJson;
use pintle_model::{
    ClientCapabilities, Error, Implementation, InputRequest, InputRequests, InputResponses,
    Revision, TaskStatus, Timestamp,
};
use pintle_proto::Terms;
use pintle_runtime::{Journal, Principal, QuestionState, StoredAnswer, TaskCheckpoint};
use pintle_store::{DecodeError, Namespace, StoreTime, StoredType};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// A task, from its creation until its removal from the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TaskRecord {
    pub(crate) id: String,
    pub(crate) owner: Option<Owner>,
    created: u64,
    updated: u64,
    /// Number of the changes that a client can see: a newer state has a larger number.
    #[serde(default)]
    number: u64,
    /// How far the wall clock was ahead of these times when the task began, in milliseconds.
    #[serde(default)]
    pub(crate) lag: i64,
    ttl: u64,
    /// Whether the client has set the ttl: the task may not work beyond it then.
    #[serde(default)]
    pub(crate) is_ttl_requested: bool,
    pub(crate) origin: TaskRequest,
    /// The answers, and the steps done once.
    pub(crate) journal: Journal,
    /// Open questions, in the order in which they were asked.
    pub(crate) questions: Vec<Question>,
    /// Answers that the handler has not received.
    pub(crate) given: Vec<Answered>,
    /// Number of all questions so far, because no key is used twice.
    asked: u32,
    /// Replica that runs the task.
    pub(crate) holder: String,
    pub(crate) end: Option<End>,
}

/// Principal that owns the task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) id: String,
    scopes: Vec<String>,
}

/// The request and its terms: enough to run the task again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TaskRequest {
    /// Name of the tool.
    pub(crate) name: String,
    pub(crate) arguments: Option<Box<RawValue>>,
    revision: String,
    capabilities: ClientCapabilities,
    client: Option<Implementation>,
    /// Responses of the retry that became a task.
    pub(crate) responses: InputResponses,
    pub(crate) state: Option<String>,
}

/// An open question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Question {
    /// Key under which the client answers.
    pub(crate) key: String,
    /// Name that the handler uses.
    pub(crate) name: String,
    pub(crate) request: InputRequest,
}

/// A question that is no longer open.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) name: String,
    pub(crate) request: InputRequest,
    pub(crate) given: StoredAnswer,
}

/// Final state of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum End {
    /// The result of the call, and whether it reports a failure of the tool.
    Result {
        has_failed: bool,
        message: Option<String>,
        result: Box<RawValue>,
    },
    Error(Error),
    Cancelled,
}

impl Owner {
    pub(crate) fn new(principal: &Principal) -> Self {
        Self {
            id: principal.id().to_owned(),
            scopes: principal.scopes().map(str::to_owned).collect(),
        }
    }

    pub(crate) fn to_principal(&self) -> Principal {
        Principal::new(&*self.id, self.scopes.iter().map(String::as_str))
    }
}

impl TaskRequest {
    pub(crate) fn new(name: &str, arguments: Option<RawJson<'_>>, terms: &Terms) -> Self {
        Self {
            name: name.to_owned(),
            arguments: arguments.map(RawJson::to_raw_value),
            revision: terms.revision.to_string(),
            capabilities: terms.capabilities.clone(),
            client: terms.client.clone(),
            responses: InputResponses::new(),
            state: None,
        }
    }

    /// Returns the terms of the call that outlive it, or `None` for an unknown revision.
    pub(crate) fn terms(&self) -> Option<Terms> {
        let mut terms = Terms::new(self.revision()?);
        terms.capabilities = self.capabilities.clone();
        terms.client = self.client.clone();
        Some(terms)
    }

    pub(crate) fn revision(&self) -> Option<Revision> {
        self.revision.parse().ok()
    }
}

impl TaskRecord {
    pub(crate) fn new(
        id: String,
        owner: Option<Owner>,
        now: StoreTime,
        ttl: Duration,
        origin: TaskRequest,
        holder: String,
    ) -> Self {
        Self {
            id,
            owner,
            created: now.as_millis(),
            updated: now.as_millis(),
            number: 0,
            lag: 0,
            ttl: u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX),
            is_ttl_requested: false,
            origin,
            journal: Journal::default(),
            questions: Vec::new(),
            given: Vec::new(),
            asked: 0,
            holder,
            end: None,
        }
    }

    /// Takes over what earlier rounds brought, and what the handler did so far.
    pub(crate) fn take_over(&mut self, questions: &QuestionState) {
        let retry = questions.current_retry();
        self.journal = questions.journal();
        self.origin.responses = retry.responses.clone();
        self.origin.state.clone_from(&retry.state);
    }

    pub(crate) fn owner_id(&self) -> Option<&str> {
        self.owner.as_ref().map(|owner| &*owner.id)
    }

    /// The status as the extension has it; the core calls a tool's failure a failure, too.
    pub(crate) fn status(&self) -> TaskStatus {
        match &self.end {
            None if self.questions.is_empty() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
            Some(End::Result { .. }) => TaskStatus::Completed,
            Some(End::Error(_)) => TaskStatus::Failed,
            Some(End::Cancelled) => TaskStatus::Cancelled,
        }
    }

    /// What to tell a human about the status.
    pub(crate) fn message(&self) -> Option<String> {
        match &self.end {
            None if self.questions.is_empty() => None,
            None => Some("answers are needed".to_owned()),
            Some(End::Result { message, .. }) => message.clone(),
            Some(End::Error(error)) => Some(error.message.clone().into_owned()),
            Some(End::Cancelled) => Some("cancelled by the client".to_owned()),
        }
    }

    pub(crate) fn created_at(&self) -> Timestamp {
        timestamp(self.created.saturating_add_signed(self.lag))
    }

    pub(crate) fn updated_at(&self) -> Timestamp {
        timestamp(self.updated.saturating_add_signed(self.lag))
    }

    pub(crate) fn ttl(&self) -> Duration {
        Duration::from_millis(self.ttl)
    }

    pub(crate) fn created(&self) -> StoreTime {
        StoreTime::from_millis(self.created)
    }

    pub(crate) fn updated(&self) -> StoreTime {
        StoreTime::from_millis(self.updated)
    }

    pub(crate) fn touch(&mut self, now: StoreTime) {
        // Clocks of two processes may differ: a later change must not have an earlier time.
        self.updated = self.updated.max(now.as_millis());
    }

    /// Notes that a client can see the latest change.
    pub(crate) fn count_change(&mut self, now: StoreTime) {
        self.number += 1;
        self.touch(now);
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Ends it, unless it has ended: a status that is final stays.
    pub(crate) fn end_with(&mut self, end: End, now: StoreTime) -> bool {
        if self.end.is_some() {
            return false;
        }
        self.end = Some(end);
        self.questions.clear();
        self.given.clear();
        self.journal = Journal::default();
        self.touch(now);
        true
    }

    /// Answers an open question; returns false if no open question has this key.
    pub(crate) fn answer(&mut self, key: &str, given: StoredAnswer, now: StoreTime) -> bool {
        let Some(at) = self.questions.iter().position(|open| open.key == key) else {
            return false;
        };
        let Question { name, request, .. } = self.questions.remove(at);
        self.given.push(Answered {
            name,
            request,
            given,
        });
        self.touch(now);
        true
    }

    /// Takes the answers that arrived since the handler last received any.
    pub(crate) fn take_given(&mut self) -> Vec<Answered> {
        let given = std::mem::take(&mut self.given);
        for Answered {
            name,
            request,
            given,
        } in &given
        {
            self.journal.give(name, request, given.clone());
        }
        given
    }

    /// Takes the values and questions of the draft, except the questions in `answered`. Returns true
    /// if that changed the record.
    pub(crate) fn take_draft(&mut self, draft: &TaskCheckpoint, answered: &[Answered]) -> bool {
        let did_more = draft.write(&mut self.journal);
        let before = self.questions.len();
        self.questions
            .retain(|open| draft.asked.get(&open.name).is_some());
        let withdrew = self.questions.len() < before;
        let asked = self.take_asked(&draft.asked, answered);
        did_more | withdrew | asked
    }

    fn take_asked(&mut self, asked: &InputRequests, answered: &[Answered]) -> bool {
        let before = self.questions.len();
        for (name, request) in asked {
            let is_open = self.questions.iter().any(|open| open.name == *name);
            let is_answered = answered.iter().any(|answered| answered.name == *name);
            if !is_open && !is_answered {
                self.asked += 1;
                self.questions.push(Question {
                    key: format!("{name}.{}", self.asked),
                    name: name.clone(),
                    request: request.clone(),
                });
            }
        }
        self.questions.len() > before
    }

    /// The size of what it must remember while it works, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let written = serde_json::to_vec(&(&self.journal, &self.questions, &self.given));
        written.map_or(usize::MAX, |bytes| bytes.len())
    }
}

/// Whether a client sees the difference.
pub(super) fn is_news_after(before: &TaskRecord, after: &TaskRecord) -> bool {
    let keys = |record: &TaskRecord| {
        let open = record.questions.iter().map(|open| open.key.clone());
        open.collect::<Vec<_>>()
    };
    before.status() != after.status() || keys(before) != keys(after)
}

fn timestamp(millis: u64) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_millis(millis))
}

impl StoredType for TaskRecord {
    const NAMESPACE: Namespace = Namespace::fixed("tasks");
    const SCHEMA: u16 = 2;

    fn encode(&self) -> Result<Bytes, DecodeError> {
        Ok(serde_json::to_vec(self)?.into())
    }

    fn decode(schema: u16, bytes: &[u8]) -> Result<Self, DecodeError> {
        // Always from a text, so that one decoder of the large type is compiled.
        let text = str::from_utf8(bytes)?;
        if schema > 1 {
            return Ok(serde_json::from_str(text)?);
        }
        let mut record: Value = serde_json::from_str(text)?;
        // Schema 1 has a lease with a time. Here the presence of the holder is the lease.
        record["holder"] = record["lease"]["holder"].take();
        Ok(serde_json::from_str(&record.to_string())?)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in crate::tasks) fn at(millis: u64) -> StoreTime {
        StoreTime::from_millis(millis)
    }

    /// A task that works, of a caller without authorization.
    pub(in crate::tasks) fn record(id: &str) -> TaskRecord {
        let origin = TaskRequest::new("wait", None, &Terms::new(Revision::V2026_07_28));
        let ttl = Duration::from_secs(60);
        TaskRecord::new(id.to_owned(), None, at(0), ttl, origin, "a".to_owned())
    }

    #[test]
    fn a_record_of_schema_1_is_read() {
        let mut stored = serde_json::to_value(record("a")).expect("JSON");
        let members = stored.as_object_mut().expect("an object");
        members.remove("holder");
        members.remove("number");
        members.insert("lease".into(), json!({ "holder": "7-ab", "until": 30_000 }));
        let bytes = serde_json::to_vec(&stored).expect("JSON");
        let read = TaskRecord::decode(1, &bytes).expect("a record");
        assert_eq!((&*read.id, &*read.holder, read.number), ("a", "7-ab", 0));
        let bytes = read.encode().expect("bytes");
        let again = TaskRecord::decode(TaskRecord::SCHEMA, &bytes).expect("a record");
        assert_eq!(again.holder, "7-ab");
    }
}
