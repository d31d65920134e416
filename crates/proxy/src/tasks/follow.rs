//! A call of a server of 2026-07-28 up to its result: its questions, and the task that it becomes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pintle::client::Call;
use pintle::model::method::{CancelTask, GetTask, Method, UpdateTask};
use pintle::model::{
    ClientCapabilities, DetailedTask, Error, InputRequest, InputRequests, InputResponses, Outcome,
    ResultType, TaskHandle, TaskIdParams, TaskStatus, UpdateTaskParams,
};
use pintle::proto::{Rounds, retry_params};
use pintle::runtime::{BoxFuture, Context};
use serde_json::value::{RawValue, to_raw_value};
use tokio::time::sleep;

use crate::error::{error_of, internal};
use crate::link::Link;
use crate::questions::Answered;
use crate::reply::requires_input;
use crate::sink::Sink;
use crate::task_form as form;
use crate::upstream::{Upstream, declared};

/// The pause before a poll: shortest, usual and longest.
const POLL: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_secs(1),
    Duration::from_secs(60),
];
/// The number of idle timeouts of a call that a task may take.
const TOTAL: u32 = 24;

/// Asks the client the questions of a call.
pub(crate) trait AskClient: Send + Sync {
    /// Waits for the answer to a question.
    fn ask(&self, question: InputRequest) -> BoxFuture<'_, Answered>;

    /// Notes the state of the task that the call became.
    fn note(&self, _task: &TaskHandle) {}
}

/// Asks the client of a request.
pub(crate) struct OfContext<'a>(pub(crate) &'a Context);

impl AskClient for OfContext<'_> {
    fn ask(&self, question: InputRequest) -> BoxFuture<'_, Answered> {
        Box::pin(async move { self.0.ask(question).await.map_err(|error| error.to_error()) })
    }
}

/// A request of a client, and its way to the server.
pub(crate) struct Round<'a> {
    pub(crate) upstream: &'a Upstream,
    pub(crate) link: &'a Arc<Link>,
    pub(crate) cx: &'a Context,
    pub(crate) sink: &'a Sink,
    pub(crate) params: &'a str,
    /// The capabilities that the request states; `None` for those of its client.
    pub(crate) capabilities: Option<Arc<ClientCapabilities>>,
}

impl Round<'_> {
    fn call(&self, params: &str) -> Call<Box<RawValue>> {
        let request = self.cx.request();
        let call = self.sink.call(self.upstream, self.link, request, params);
        self.stating(call)
    }

    fn stating(&self, call: Call<Box<RawValue>>) -> Call<Box<RawValue>> {
        match &self.capabilities {
            Some(capabilities) => call.capabilities(Arc::clone(capabilities)),
            None => call,
        }
    }

    /// Sends a method of a task.
    async fn about(
        &self,
        method: &str,
        params: &impl serde::Serialize,
    ) -> Result<Box<RawValue>, Error> {
        let params = serde_json::to_string(params).map_err(|_| Error::internal())?;
        let call = self.link.client().forward(method, &params);
        let call = call.timeout(self.upstream.options.call_timeout);
        self.stating(call).await.map_err(error_of)
    }

    async fn answered(
        asker: &dyn AskClient,
        questions: Option<InputRequests>,
    ) -> Result<InputResponses, Error> {
        let mut responses = InputResponses::new();
        for (name, question) in questions.into_iter().flatten() {
            responses.insert(name, asker.ask(question).await?);
        }
        Ok(responses)
    }
}

/// Asks the questions of a result, until the result has none.
///
/// # Errors
///
/// Those of the server and of the client; -32603 after too many rounds.
pub(crate) async fn rounds(
    round: &Round<'_>,
    asker: &dyn AskClient,
    mut raw: Box<RawValue>,
) -> Result<Box<RawValue>, Error> {
    let mut rounds = Rounds::new(round.upstream.options.max_rounds);
    while requires_input(&raw) {
        let required = match Outcome::<pintle::model::EmptyResult>::decode(&raw) {
            Ok(Outcome::InputRequired(required)) => required,
            Ok(_) => return Err(Error::internal()),
            Err(error) => return Err(internal(&format!("invalid result of the server: {error}"))),
        };
        let pause = rounds.next(&required);
        sleep(pause.map_err(|fault| internal(&fault.to_string()))?).await;
        let responses = Round::answered(asker, required.input_requests).await?;
        let state = required.request_state.as_deref();
        let retry = retry_params(round.params.as_bytes(), Some(&responses), state);
        let retry = std::str::from_utf8(&retry).map_err(|_| Error::internal())?;
        raw = round.call(retry).await.map_err(error_of)?;
    }
    Ok(raw)
}

/// Sends a call that may become a task, and waits for its result. Dropping the future cancels the task.
///
/// # Errors
///
/// Those of the server and of the client.
pub(crate) async fn to_end(
    round: &Round<'_>,
    asker: &dyn AskClient,
) -> Result<Box<RawValue>, Error> {
    let raw = round.call(round.params).await.map_err(error_of)?;
    let raw = rounds(round, asker, raw).await?;
    if !matches!(ResultType::of(&raw), Ok(Some(ResultType::Task))) {
        return Ok(raw);
    }
    let handle: TaskHandle = serde_json::from_str(raw.get())
        .map_err(|error| internal(&format!("invalid task of the server: {error}")))?;
    within(round.upstream, follow(round, asker, handle)).await
}

/// Waits for the end of a task, for a limited time.
///
/// # Errors
///
/// Those of the task; -32603 if it does not end in time.
pub(crate) async fn within<T>(
    upstream: &Upstream,
    end: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let total = upstream.options.call_timeout.saturating_mul(TOTAL);
    let ended = tokio::time::timeout(total, end).await;
    ended.unwrap_or_else(|_| Err(internal("the task of the server did not end in time")))
}

/// Returns the pause before the next poll of a task.
pub(crate) fn pause_before_poll(handle: &TaskHandle) -> Duration {
    let [least, usual, most] = POLL;
    handle.poll_interval.unwrap_or(usual).clamp(least, most)
}

/// Polls a task until it ends. Dropping the future cancels the task.
///
/// # Errors
///
/// Those of the task, of the server and of the client.
pub(crate) async fn follow(
    round: &Round<'_>,
    asker: &dyn AskClient,
    mut handle: TaskHandle,
) -> Result<Box<RawValue>, Error> {
    let id = TaskIdParams::new(&*handle.task_id);
    let params = serde_json::to_string(&id).unwrap_or_default();
    let mut cancel = CancelOnDrop::new(round.link, params, round.capabilities.clone());
    let mut answered = BTreeSet::new();
    loop {
        asker.note(&handle);
        sleep(pause_before_poll(&handle)).await;
        let raw = round.about(GetTask::NAME, &id).await?;
        let polled: DetailedTask = serde_json::from_str(raw.get())
            .map_err(|error| internal(&format!("invalid task of the server: {error}")))?;
        handle = polled.handle;
        cancel.is_over = handle.status.is_terminal();
        match handle.status {
            TaskStatus::Completed => {
                let result = polled.result.unwrap_or_default();
                return to_raw_value(&result).map_err(|_| Error::internal());
            }
            TaskStatus::Failed => return Err(polled.error.unwrap_or_else(Error::internal)),
            TaskStatus::Cancelled => return Err(form::cancelled()),
            TaskStatus::InputRequired => {
                asker.note(&handle);
                let open = polled.input_requests.into_iter().flatten();
                let new = open.filter(|(name, _)| answered.insert(name.clone()));
                let new: InputRequests = new.collect();
                if answered.len() > round.upstream.options.max_questions {
                    return Err(internal("the task of the server has too many questions"));
                }
                let responses = Round::answered(asker, Some(new)).await?;
                if !responses.is_empty() {
                    let update = UpdateTaskParams::new(&*handle.task_id, responses);
                    round.about(UpdateTask::NAME, &update).await?;
                }
            }
            _ => {}
        }
    }
}

/// Cancels a task at the server when it is dropped, unless the task is over.
pub(crate) struct CancelOnDrop {
    link: Arc<Link>,
    params: String,
    capabilities: Option<Arc<ClientCapabilities>>,
    pub(crate) is_over: bool,
}

impl CancelOnDrop {
    /// Cancels with these parameters. The request states the capabilities; `None` for those of the client.
    pub(crate) fn new(
        link: &Arc<Link>,
        params: String,
        capabilities: Option<Arc<ClientCapabilities>>,
    ) -> Self {
        Self {
            link: Arc::clone(link),
            params,
            capabilities,
            is_over: false,
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let call = self.link.client().forward(CancelTask::NAME, &self.params);
        let call = match self.capabilities.take() {
            Some(capabilities) => call.capabilities(capabilities),
            None => call,
        };
        let link = Arc::clone(&self.link);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            if let Err(error) = call.await {
                tracing::debug!(%error, "a task was not cancelled");
            }
            drop(link);
        });
    }
}

/// Returns the capabilities of a client with the extension of tasks.
pub(crate) fn stated(of_client: &ClientCapabilities) -> Arc<ClientCapabilities> {
    Arc::new(form::with_tasks(declared(of_client).into_owned()))
}
