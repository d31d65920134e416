//! Tasks as the core of 2025-11-25 has them: looked at, waited for, listed, cancelled.
//!
//! Spec: [2025-11-25, Tasks][spec].
//!
//! [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use pintle_model::{
    Cursor, Error, ErrorCode, InputResponse, ListParams, ListTasksResult, Task, TaskIdParams,
};
use pintle_proto::{IncomingRequest, PeerCallError, Reply};
use pintle_runtime::{Ask, AskError, Context, Principal, StoredAnswer};
use pintle_store::{Changes, Item, Key, Page, StoredType};
use serde_json::Value;
use tokio::time::sleep_until;

use super::delivery::Delivery;
use super::id::{is_id, name_of, prefix_of};
use super::record::TaskRecord;
use super::task_store::{Tasks, cannot};
use super::unknown_task;
use super::wire::related;
use crate::page::{CursorError, cursor_of, key_of};

impl Tasks {
    /// Answers `tasks/get`.
    ///
    /// # Errors
    ///
    /// -32602 for no task of the client's own.
    pub(crate) async fn get_core(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let record = self.named(request, cx).await?.value;
        Reply::complete(self.core_task(&record), cx.terms().revision)
    }

    /// Answers `tasks/cancel`: the task has the status by then.
    ///
    /// # Errors
    ///
    /// -32602 for no task of the client's own, and for one that has ended.
    pub(crate) async fn cancel_core(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let found = self.named(request, cx).await?;
        match self.cancel_record(found).await? {
            Some(record) => Reply::complete(self.core_task(&record), cx.terms().revision),
            None => Err(Error::invalid_params(
                "the task has ended already; it cannot be cancelled",
            )),
        }
    }

    /// Answers `tasks/list` with the client's own tasks, oldest first.
    ///
    /// # Errors
    ///
    /// -32602 for a cursor of another list.
    pub(crate) async fn list_core(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let params: ListParams = request.params.decode()?;
        let owner = cx.principal().map(Principal::id);
        let most = self.options.page_size.max(1);
        let page = match &params.cursor {
            None => Page::first(most),
            Some(cursor) => Page::after(after(owner, cursor)?, most),
        };
        let listed = self
            .records
            .list(self.now(), &prefix_of(owner), page)
            .await
            .map_err(|error| cannot(&error))?;
        let last = listed.items.last().map(|(_, item)| item.value.id.clone());
        let own = listed.items.iter().map(|(_, item)| &item.value);
        let own = own.filter(|record| record.owner_id() == owner);
        let tasks: Vec<Task> = own.map(|record| self.core_task(record)).collect();
        let mut result = ListTasksResult::new(tasks);
        result.next_cursor = last
            .filter(|_| listed.next.is_some())
            .map(|id| Cursor::from(cursor_of(&id)));
        Reply::complete(result, cx.terms().revision)
    }

    /// Answers `tasks/result` once the task has ended, and asks the client on the way what the
    /// task waits for.
    ///
    /// # Errors
    ///
    /// -32602 for no task of the client's own; whatever error the task ended with.
    ///
    /// # Cancellation
    ///
    /// Ends the wait only. Questions that were not answered are sent again by the next wait.
    pub(crate) async fn result_core(
        self: &Arc<Self>,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Reply, Error> {
        let params: TaskIdParams = request.params.decode()?;
        let owner = cx.principal().map(Principal::id);
        let found = self.look_up(owner, &params.task_id).await?;
        let name = name_of(owner, &found.value.id);
        let changes = self.records.changed(&name).await;
        let mut wait = EndWait {
            tasks: self,
            cx,
            changes: changes.map_err(|error| cannot(&error))?,
            sent: Vec::new(),
        };
        let ended = wait.until_ended(owner, &params.task_id).await?;
        let outcome = ended.outcome().unwrap_or_else(|| Err(Error::internal()));
        Reply::complete(outcome?, cx.terms().revision)
    }

    fn core_task(&self, record: &TaskRecord) -> Task {
        record.core_task(&self.options, self.now())
    }

    async fn named(
        &self,
        request: &IncomingRequest,
        cx: &Context,
    ) -> Result<Item<TaskRecord>, Error> {
        let params: TaskIdParams = request.params.decode()?;
        let owner = cx.principal().map(Principal::id);
        self.look_up(owner, &params.task_id).await
    }
}

/// Where a list goes on.
fn after(owner: Option<&str>, cursor: &Cursor) -> Result<Key, Error> {
    let id = key_of(cursor.as_str())?;
    if !is_id(&id) {
        return Err(CursorError.into());
    }
    Key::new(&TaskRecord::NAMESPACE, &name_of(owner, &id)).map_err(|_| CursorError.into())
}

/// One wait for the end of a task.
struct EndWait<'a> {
    tasks: &'a Arc<Tasks>,
    cx: &'a Context,
    changes: Changes,
    /// The questions that this wait asks, or has asked in vain.
    sent: Vec<SentQuestion>,
}

/// A question on its way to the client.
struct SentQuestion {
    key: String,
    /// None once it came back without an answer.
    ask: Option<Ask<InputResponse>>,
    _turn: Delivery,
}

impl EndWait<'_> {
    async fn until_ended(&mut self, owner: Option<&str>, id: &str) -> Result<TaskRecord, Error> {
        loop {
            let record = self.tasks.find(owner, id).await?.value;
            if record.end.is_some() {
                return Ok(record);
            }
            self.ask_open(&record);
            let expiry = self
                .tasks
                .instant_of(record.stored_until(&self.tasks.options));
            let (changes, sent) = (&mut self.changes, &mut self.sent);
            let settled = tokio::select! {
                settled = next_settled(sent) => Some(settled),
                change = changes.next() => match change {
                    Some(()) => None,
                    None => return Err(Error::internal()),
                },
                () = sleep_until(expiry) => return Err(unknown_task()),
            };
            if let Some((key, outcome)) = settled
                && let Some(given) = given(outcome)
            {
                let found = self.tasks.find(owner, id).await?;
                self.tasks.answer(found, &[(key, given)]).await?;
            }
        }
    }

    /// Asks the open questions that no other session is asked, and withdraws questions that were closed.
    fn ask_open(&mut self, record: &TaskRecord) {
        let is_open = |key: &str| record.questions.iter().any(|open| open.key == key);
        self.sent.retain(|sent| is_open(&sent.key));
        for open in &record.questions {
            if let Some(turn) = self.tasks.deliveries.begin(&record.id, &open.key) {
                let request = related(open.request.clone(), &record.id);
                self.sent.push(SentQuestion {
                    key: open.key.clone(),
                    ask: Some(self.cx.ask(request)),
                    _turn: turn,
                });
            }
        }
    }
}

/// Waits for the first question that is settled.
fn next_settled(
    sent: &mut [SentQuestion],
) -> impl Future<Output = (String, Result<InputResponse, AskError>)> {
    poll_fn(|task| {
        for sent in sent.iter_mut() {
            if let Some(ask) = &mut sent.ask
                && let Poll::Ready(outcome) = Pin::new(ask).poll(task)
            {
                sent.ask = None;
                return Poll::Ready((sent.key.clone(), outcome));
            }
        }
        Poll::Pending
    })
}

/// What came of a question; nothing if somebody else may still answer it.
fn given(outcome: Result<InputResponse, AskError>) -> Option<StoredAnswer> {
    let failed = |message: String| Error::new(ErrorCode::INTERNAL_ERROR, message);
    match outcome {
        Ok(response) => match serde_json::to_value(response) {
            Ok(Value::Object(answer)) => Some(StoredAnswer::Answer(answer)),
            _ => None,
        },
        Err(AskError::Failed(PeerCallError::Answered(error))) => Some(StoredAnswer::Failure(error)),
        Err(error @ AskError::Malformed(_)) => {
            Some(StoredAnswer::Failure(failed(error.to_string())))
        }
        Err(AskError::Failed(failure @ PeerCallError::TimedOut(_))) => {
            Some(StoredAnswer::Failure(failed(failure.to_string())))
        }
        Err(_) => None,
    }
}
