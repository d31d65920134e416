//! Requests of a server about client tasks.

use pintle_model::method::{CancelTask, GetTask, GetTaskPayload, ListTasks, Method};
use pintle_model::{
    Cursor, Error, ErrorCode, ListParams, ListTasksResult, TaskIdParams, TaskStatus,
};
use pintle_proto::{IncomingRequest, Rendered, Reply};
use serde_json::json;

use super::ClientTaskHandle;

/// Tasks of one page.
const PAGE: usize = 50;
/// The error code of the result of a cancelled task.
const CANCELLED: ErrorCode = ErrorCode(-32000);

impl ClientTaskHandle {
    /// Answers a request about tasks; none if it is about something else.
    ///
    /// # Errors
    ///
    /// -32602 for a task that does not exist; otherwise the error of its question.
    ///
    /// # Cancellation
    ///
    /// The task goes on.
    pub(crate) async fn serve(&self, incoming: &IncomingRequest) -> Option<Result<Reply, Error>> {
        Some(match incoming.method.as_str() {
            GetTask::NAME => self.get(incoming),
            CancelTask::NAME => self.cancel(incoming),
            ListTasks::NAME => self.list(incoming),
            GetTaskPayload::NAME => self.payload(incoming).await,
            _ => return None,
        })
    }

    fn get(&self, incoming: &IncomingRequest) -> Result<Reply, Error> {
        let params: TaskIdParams = incoming.params.decode()?;
        let table = self.0.lock();
        let row = table.get(&params.task_id).ok_or_else(unknown)?;
        Reply::complete(row.task.clone(), incoming.terms.revision)
    }

    fn cancel(&self, incoming: &IncomingRequest) -> Result<Reply, Error> {
        let params: TaskIdParams = incoming.params.decode()?;
        let mut table = self.0.lock();
        table.get(&params.task_id).ok_or_else(unknown)?;
        let cancelled = table.end(&params.task_id, TaskStatus::Cancelled, None, None);
        let task = cancelled.ok_or_else(|| {
            Error::invalid_params("the task has ended already; it cannot be cancelled")
        })?;
        drop(table);
        self.0.notify(&task);
        Reply::complete(task, incoming.terms.revision)
    }

    fn list(&self, incoming: &IncomingRequest) -> Result<Reply, Error> {
        let params: ListParams = incoming.params.decode()?;
        let place = params.cursor.as_ref().map_or(Ok(0), place_of)?;
        let table = self.0.lock();
        let mut rows = table.after(place);
        let page: Vec<_> = rows.by_ref().take(PAGE).collect();
        let has_more = rows.next().is_some();
        let tasks = page.iter().map(|row| row.task.clone()).collect();
        let mut result = ListTasksResult::new(tasks);
        let last = page.last().filter(|_| has_more);
        result.next_cursor = last.map(|row| Cursor::from(format!("after-{:x}", row.place)));
        Reply::complete(result, incoming.terms.revision)
    }

    async fn payload(&self, incoming: &IncomingRequest) -> Result<Reply, Error> {
        let TaskIdParams { task_id, .. } = incoming.params.decode()?;
        let mut end = self.0.lock().get(&task_id).ok_or_else(unknown)?.end();
        end.wait_for(|has_ended| *has_ended)
            .await
            .map_err(|_| unknown())?;
        let table = self.0.lock();
        let row = table.get(&task_id).ok_or_else(unknown)?;
        match &row.outcome {
            Some(Ok((json, meta))) => {
                let mut meta = meta.clone();
                meta.set_related_task(&task_id);
                let rendered = Rendered::from_object(json.clone(), Some(meta));
                Ok(Reply::Complete(rendered))
            }
            Some(Err(error)) => Err(error.clone()),
            None => {
                let data = json!({ "taskId": task_id, "status": TaskStatus::Cancelled });
                Err(Error::new(CANCELLED, "task cancelled").with_data(data))
            }
        }
    }
}

/// -32602: the answer does not reveal whether a task has expired or never existed.
fn unknown() -> Error {
    Error::invalid_params("there is no such task; it may have expired")
}

fn place_of(cursor: &Cursor) -> Result<u64, Error> {
    let place = cursor.as_str().strip_prefix("after-");
    place
        .and_then(|place| u64::from_str_radix(place, 16).ok())
        .ok_or_else(|| Error::invalid_params("the cursor does not belong to this list"))
}
