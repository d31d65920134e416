//! Tasks as the extension of 2026-07-28 has them: looked at, answered, cancelled.
//!
//! Spec: SEP-2663, extension `io.modelcontextprotocol/tasks`.

use pintle_model::{EmptyResult, Error, InputResponse, JsonObject, TaskIdParams};
use pintle_proto::{IncomingRequest, Reply};
use pintle_runtime::{Context, Principal, StoredAnswer};
use serde::Deserialize;
use serde_json::Value;

use super::record::{End, TaskRecord};
use super::task_store::{Tasks, cannot};
use super::wire::{declares_extension, needs_extension};

/// Parameters of `tasks/update`. Invalid answers are ignored, one by one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateParams {
    task_id: String,
    input_responses: JsonObject,
}

impl Tasks {
    /// Answers `tasks/get`.
    ///
    /// # Errors
    ///
    /// -32021 if the client does not know tasks, or none of the questions; -32602 for no task of
    /// its own.
    pub(crate) async fn get_detailed(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let record = self.declared(request, cx).await?;
        let task = record.detailed(&self.options, self.clock.now(), cx.terms())?;
        Reply::complete(task, cx.terms().revision)
    }

    /// Answers `tasks/update`: the answers are taken over, and the task goes on by itself.
    ///
    /// # Errors
    ///
    /// As for `tasks/get`; -32602 if there is no object of answers.
    pub(crate) async fn update(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        check_declared(cx)?;
        let params: UpdateParams = request.params.decode()?;
        let owner = cx.principal().map(Principal::id);
        let record = self.look_up(owner, &params.task_id).await?.value;
        let given: Vec<_> = params
            .input_responses
            .into_iter()
            .filter_map(|(key, answer)| answer_to(&record, key, answer))
            .collect();
        if !given.is_empty() {
            self.answer(owner, &record.id, &given).await?;
        }
        Reply::complete(EmptyResult::default(), cx.terms().revision)
    }

    /// Answers `tasks/cancel`, also for a task that has ended.
    ///
    /// # Errors
    ///
    /// As for `tasks/get`.
    pub(crate) async fn cancel_detailed(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let record = self.declared(request, cx).await?;
        self.cancel_record(&record).await?;
        Reply::complete(EmptyResult::default(), cx.terms().revision)
    }

    /// Ends a task as cancelled, unless it has ended; gives it then.
    pub(super) async fn cancel_record(
        &self,
        record: &TaskRecord,
    ) -> Result<Option<TaskRecord>, Error> {
        let cancelled = self.change(record.owner_id(), &record.id, |record, now| {
            let mut next = record.clone();
            next.end_with(End::Cancelled, now).then_some(next)
        });
        cancelled.await.map_err(|error| cannot(&error))
    }

    /// The task that a client names who knows tasks.
    async fn declared(&self, request: &IncomingRequest, cx: &Context) -> Result<TaskRecord, Error> {
        check_declared(cx)?;
        let params: TaskIdParams = request.params.decode()?;
        let owner = cx.principal().map(Principal::id);
        Ok(self.look_up(owner, &params.task_id).await?.value)
    }
}

fn check_declared(cx: &Context) -> Result<(), Error> {
    if declares_extension(cx.terms()) {
        return Ok(());
    }
    Err(needs_extension())
}

/// Returns the answer to an open question. An invalid answer leaves it open.
fn answer_to(record: &TaskRecord, key: String, answer: Value) -> Option<(String, StoredAnswer)> {
    let open = record.questions.iter().find(|open| open.key == key)?;
    let Value::Object(answer) = answer else {
        return None;
    };
    InputResponse::decode(open.request.kind()?, &answer).ok()?;
    Some((key, StoredAnswer::Answer(answer)))
}
