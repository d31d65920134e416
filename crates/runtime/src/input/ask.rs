//! One question, from being asked to being answered.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, ready};
use std::time::Duration;

use pintle_model::{
    ElicitParams, ElicitUrlParams, Feature, InputRequest, InputResponse, JsonObject, TaskMetadata,
};
use pintle_proto::{CallId, Lane, NewCall, PeerCallError};
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::Answer;
use super::error::AskError;
use super::followed::{Followed, created_task, follow};
use super::prepare::prepare;
use super::waiting::Waiting;
use crate::context::Context;
use crate::questions::{StoredAnswer, with_reason};

/// How an answer is read, by its question.
type Read<A> = fn(&InputRequest, InputResponse) -> Result<A, String>;

/// A question on its way. It is asked when it is first polled; questions that are polled together
/// are asked together.
#[must_use = "a question is asked when it is awaited"]
pub struct Ask<A> {
    cx: Context,
    name: Option<String>,
    request: Result<InputRequest, AskError>,
    /// Whether the request fails without the answer, in revisions with an error for this.
    is_required: bool,
    /// The task into which the client may turn the question.
    task: Option<TaskMetadata>,
    stage: Stage,
    /// Why the last answer was not accepted.
    reason: Option<String>,
    /// While it is open.
    waiting: Option<Waiting>,
    read: Read<A>,
}

/// How far a question has come.
enum Stage {
    New,
    /// The client was sent a request.
    Live(CallId),
    /// The client has turned the question into a task.
    Followed(Followed),
    /// The retry will bring the answer, or the task does.
    Suspended,
    Done,
}

impl<A> Ask<A> {
    pub(super) fn new(
        cx: &Context,
        request: Result<InputRequest, AskError>,
        read: Read<A>,
    ) -> Self {
        Self {
            cx: cx.clone(),
            // Names follow the order of construction, because the order of polling may be random.
            name: name_of(cx, &request),
            request,
            is_required: false,
            task: None,
            stage: Stage::New,
            reason: None,
            waiting: None,
            read,
        }
    }

    /// Names the question. By default its name is its content and the number of equal questions
    /// before it. Equal questions that are asked at the same time need names, if it matters which
    /// answer belongs to which.
    pub fn named(mut self, name: &str) -> Self {
        self.name = self
            .cx
            .questions()
            .replaying()
            .map(|replay| replay.unique(name));
        self
    }

    /// Asks again, even if an earlier run of the handler was answered: for drivers of handlers that
    /// return their questions. Where results ask, this fails.
    pub fn afresh(mut self) -> Self {
        self.name = None;
        self
    }

    /// Lets the client turn the question into a task, in 2025-11-25 and if the client supports it.
    /// The client then answers at once, and its user later. The client is asked to store the task
    /// for `ttl`, which is also the timeout of the answer; at most
    /// [`Limits::client_task_timeout`](pintle_proto::Limits::client_task_timeout). Other clients
    /// are asked as usual.
    ///
    /// Spec: [2025-11-25, Tasks][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
    pub fn as_task(mut self, ttl: Duration) -> Self {
        self.task = Some(TaskMetadata::with_ttl(ttl));
        self
    }

    /// Makes the question ready to be asked on these terms.
    fn prepare(&mut self) -> Result<(), AskError> {
        let terms = self.cx.terms();
        let request = self.request.as_mut().map_err(|error| error.clone())?;
        prepare(request, terms).inspect_err(|error| {
            if let (AskError::Unsupported(_), Some(replay)) =
                (error, self.cx.questions().replaying())
            {
                replay.report_missing_capability(error.to_error());
            }
        })
    }

    /// Returns the answer of an earlier run. Where results ask, a question whose answer does not
    /// fit is asked
    /// again, until there were [`Limits::max_unfit_answers`](pintle_proto::Limits::max_unfit_answers).
    fn earlier(&mut self) -> Option<Result<A, AskError>> {
        let replay = self.cx.questions().replaying()?;
        let name = self.name.as_deref()?;
        let given = replay.answer(name, self.request.as_ref().ok()?)?;
        let read = self.read_given(&given);
        if let Err(AskError::Malformed(reason)) = &read
            && self.cx.terms().has(Feature::InputRequired)
            && replay.unfit_answers(name) + 1 < u64::from(self.cx.limits().max_unfit_answers)
        {
            self.reason = Some(reason.clone());
            return None;
        }
        Some(read)
    }

    /// Asks the client, or leaves the question for the result or the task.
    fn begin(&self) -> Result<Stage, AskError> {
        let request = self.request.as_ref().map_err(AskError::clone)?;
        let questions = self.cx.questions();
        // A task has been accepted already: in it, this is a question like any other.
        if let Some(url) = self.url_to_require()
            && !questions.is_parked()
        {
            let replay = questions.replaying().ok_or(AskError::NotHere)?;
            replay.require(url);
            questions.wake();
            return Ok(Stage::Suspended);
        }
        if !self.cx.terms().has(Feature::InputRequired) && !questions.is_parked() {
            return call(&self.cx, request, self.task_here(request));
        }
        let replay = questions.replaying().ok_or(AskError::NotHere)?;
        let name = self.name.as_deref().ok_or(AskError::NotHere)?;
        let request = match &self.reason {
            Some(reason) => with_reason(request.clone(), reason),
            None => request.clone(),
        };
        replay.ask(name, request);
        questions.change();
        Ok(Stage::Suspended)
    }

    fn read_given(&self, given: &StoredAnswer) -> Result<A, AskError> {
        match given {
            StoredAnswer::Answer(answer) => self.read_answer(answer),
            StoredAnswer::Failure(error) => {
                Err(AskError::Failed(PeerCallError::Answered(error.clone())))
            }
        }
    }

    /// In a task the answer comes while the handler waits; otherwise it does not come in this run.
    fn poll_parked(&mut self, task: &TaskContext<'_>) -> Poll<Result<A, AskError>> {
        let questions = self.cx.questions();
        let (Some(park), Some(name)) = (questions.parked(), self.name.as_deref()) else {
            return Poll::Pending;
        };
        // First the waker: the answer may come from another thread.
        park.wait(task.waker());
        let is_open = questions
            .replaying()
            .is_none_or(|replay| replay.is_open(name));
        if is_open || !park.is_started() {
            return Poll::Pending;
        }
        if let Some(answer) = self.earlier() {
            self.stage = Stage::Done;
            return Poll::Ready(answer);
        }
        match self.begin() {
            Ok(_) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn withdraw(&self) {
        let questions = self.cx.questions();
        if questions.is_parked()
            && let (Some(replay), Some(name)) = (questions.replaying(), &self.name)
        {
            replay.withdraw(name);
            questions.change();
        }
    }

    /// Returns the visit that the request fails for, in revisions with an error for this.
    fn url_to_require(&self) -> Option<ElicitUrlParams> {
        if !(self.is_required && self.cx.terms().has(Feature::ElicitationIds)) {
            return None;
        }
        match self.request.as_ref().ok()? {
            InputRequest::Elicit(params) => match &**params {
                ElicitParams::Url(url) => Some(url.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    fn read_answer(&self, answer: &JsonObject) -> Result<A, AskError> {
        let request = self.request.as_ref().map_err(AskError::clone)?;
        let kind = request.kind().ok_or(AskError::NotHere)?;
        let response = InputResponse::decode(kind, answer)
            .map_err(|error| AskError::Malformed(error.to_string()))?;
        (self.read)(request, response).map_err(AskError::Malformed)
    }

    /// Returns the task to request, if the revision has tasks and the client supports them for this
    /// question.
    fn task_here(&self, request: &InputRequest) -> Option<&TaskMetadata> {
        let terms = self.cx.terms();
        let method = request.kind()?.method();
        let tasks = terms.capabilities.tasks.as_ref()?;
        let is_offered = terms.has(Feature::CoreTasks) && tasks.has_request(method);
        self.task.as_ref().filter(|_| is_offered)
    }

    fn poll_live(&mut self, call: CallId, task: &mut TaskContext<'_>) -> Poll<Result<A, AskError>> {
        let settled = ready!(self.cx.engine().with(|engine| engine.poll_call(call, task)));
        self.stage = Stage::Done;
        if let (Some(metadata), Ok(result)) = (&self.task, &settled)
            && let Some(created) = created_task(result)
        {
            self.stage = Stage::Followed(follow(self.cx.clone(), created, metadata.ttl));
            return self.poll_followed(task);
        }
        Poll::Ready(self.read_settled(settled.map_err(AskError::Failed)))
    }

    fn poll_followed(&mut self, task: &mut TaskContext<'_>) -> Poll<Result<A, AskError>> {
        let Stage::Followed(followed) = &mut self.stage else {
            return Poll::Pending;
        };
        let settled = ready!(followed.as_mut().poll(task));
        self.stage = Stage::Done;
        Poll::Ready(self.read_settled(settled))
    }

    fn poll_stage(&mut self, task: &mut TaskContext<'_>) -> Poll<Result<A, AskError>> {
        match self.stage {
            Stage::Live(call) => self.poll_live(call, task),
            Stage::Followed(_) => self.poll_followed(task),
            Stage::Suspended => self.poll_parked(task),
            Stage::New | Stage::Done => panic!("a question was polled after its answer"),
        }
    }

    fn read_settled(&self, settled: Result<Box<RawValue>, AskError>) -> Result<A, AskError> {
        let answer: JsonObject = serde_json::from_str(settled?.get())
            .map_err(|error| AskError::Malformed(error.to_string()))?;
        let read = self.read_answer(&answer)?;
        // A handler that returns questions, too, is run again, and must not ask this again.
        if let Some(replay) = self.cx.questions().replaying()
            && let (Some(name), Ok(request)) = (&self.name, &self.request)
        {
            replay.learn(name, request, answer);
        }
        Ok(read)
    }
}

impl Ask<Answer<()>> {
    /// States that the request cannot succeed before the user has visited the URL.
    ///
    /// In 2025-11-25 the request fails with -32042, which lists all visits that were asked for
    /// together. The client then repeats the request automatically, and the handler must not ask
    /// again. Since 2026-07-28 this is a question like any other, and its retry contains the user's
    /// consent.
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }
}

impl<A> Future for Ask<A> {
    type Output = Result<A, AskError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Self::Output> {
        if let Stage::New = self.stage {
            self.stage = Stage::Done;
            self.prepare()?;
            if let Some(answer) = self.earlier() {
                return Poll::Ready(answer);
            }
            self.stage = self.begin()?;
            self.waiting = Some(Waiting::begin(&self.cx));
        }
        let answered = ready!(self.poll_stage(task));
        self.waiting = None;
        Poll::Ready(answered)
    }
}

/// Cancels a question whose handler no longer waits.
impl<A> Drop for Ask<A> {
    fn drop(&mut self) {
        match self.stage {
            Stage::Live(call) => self.cx.engine().with(|engine| engine.forget_call(call)),
            Stage::Suspended => self.withdraw(),
            Stage::New | Stage::Followed(_) | Stage::Done => {}
        }
    }
}

impl<A> fmt::Debug for Ask<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

fn name_of(cx: &Context, request: &Result<InputRequest, AskError>) -> Option<String> {
    let request = request.as_ref().ok()?;
    cx.questions()
        .replaying()
        .map(|replay| replay.name_of(request))
}

fn call(
    cx: &Context,
    request: &InputRequest,
    task: Option<&TaskMetadata>,
) -> Result<Stage, AskError> {
    let kind = request.kind().ok_or(AskError::NotHere)?;
    let mut params = params_of(request)?;
    if let Some(task) = task {
        params.insert("task".to_owned(), serde_json::json!(task));
    }
    let mut call = NewCall::new(kind.method(), params);
    call.lane = Lane::Reply(cx.key());
    let now = tokio::time::Instant::now().into_std();
    let made = cx.engine().with(|engine| {
        let call = engine.call_polled(now, call)?;
        if let Some(id) = visit_of(request) {
            engine.expect_visit(cx.key(), id);
        }
        Ok(call)
    });
    made.map(Stage::Live).map_err(AskError::Refused)
}

/// The id of the visit that is asked for.
fn visit_of(request: &InputRequest) -> Option<&str> {
    match request {
        InputRequest::Elicit(params) => match &**params {
            ElicitParams::Url(url) => url.elicitation_id.as_deref(),
            _ => None,
        },
        _ => None,
    }
}

fn params_of(request: &InputRequest) -> Result<JsonObject, AskError> {
    let written = serde_json::to_value(request);
    let mut written = written.map_err(|error| AskError::Invalid(error.to_string()))?;
    match written.get_mut("params").map(Value::take) {
        Some(Value::Object(params)) => Ok(params),
        _ => Ok(JsonObject::new()),
    }
}
