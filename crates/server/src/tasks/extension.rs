//! Tasks as the extension of 2026-07-28 has them: looked at, answered, cancelled.
//!
//! Spec: SEP-2663, extension `io.modelcontextprotocol/tasks`.

use pintle_model::{EmptyResult, Error, InputResponse, JsonObject, TaskIdParams};
use pintle_proto::{IncomingRequest, Reply};
use pintle_runtime::{Context, Principal, StoredAnswer};
use pintle_store::Item;
use serde::Deserialize;
use serde_json::Value;

use super::holding::StoredTask;
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
        let record = self.declared(request, cx).await?.value;
        let task = record.detailed(&self.options, self.now(), cx.terms())?;
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
        let found = self.look_up(owner, &params.task_id).await?;
        let given: Vec<_> = params
            .input_responses
            .into_iter()
            .filter_map(|(key, answer)| answer_to(&found.value, key, answer))
            .collect();
        if !given.is_empty() {
            self.answer(found, &given).await?;
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
        let found = self.declared(request, cx).await?;
        self.cancel_record(found).await?;
        Reply::complete(EmptyResult::default(), cx.terms().revision)
    }

    /// Ends a task as cancelled and returns it, unless it has ended.
    pub(super) async fn cancel_record(
        &self,
        found: Item<TaskRecord>,
    ) -> Result<Option<TaskRecord>, Error> {
        let found = StoredTask::from(found);
        let (owner, id) = (found.record.owner.clone(), found.record.id.clone());
        let owner = owner.as_ref().map(|owner| &*owner.id);
        let cancelled = self.change((owner, &id), Some(found), |record, now| {
            let mut next = record.clone();
            next.end_with(End::Cancelled, now).then_some(next)
        });
        let cancelled = cancelled.await.map_err(|error| cannot(&error))?;
        Ok(cancelled.map(|stored| stored.record))
    }

    /// Finds the task that a client with the extension names.
    async fn declared(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Item<TaskRecord>, Error> {
        check_declared(cx)?;
        let params: TaskIdParams = request.params.decode()?;
        let owner = cx.principal().map(Principal::id);
        self.look_up(owner, &params.task_id).await
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
