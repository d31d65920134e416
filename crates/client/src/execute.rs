//! Making a call: on which conversation, in how many rounds, and what came of it. What can be put
//! right before it is made once more is in [`crate::mend`].

use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use pintle_model::method::MethodName;
use pintle_model::{
    EmptyResult, ErrorCode, Feature, InputRequest, InputRequired, InputResponses, Outcome,
    OutcomeFault, ResultType, Task,
};
use pintle_proto::{NewCall, Rounds, retry_params};
use pintle_runtime::{Connect, Step};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::approvals::{admit, pinned};
use crate::cache::Question;
use crate::cache_invalidation::watch;
use crate::call::{Freshness, Given, Reader, Request};
use crate::checks;
use crate::client::{Client, Inner};
use crate::conversation::{Session, fitted};
use crate::error::{CallError, Misbehavior};
use crate::follow::see_through;
use crate::output_schema::prepare;
use crate::pending_task::Creating;
use crate::questions::Unanswered;
use crate::recovery::Mends;
use crate::result::task_in;

/// Makes a call, and once more where what was in its way can be put right.
pub(crate) async fn perform<R>(
    client: Client,
    mut request: Request,
    read: Reader<R>,
) -> Result<R, CallError> {
    prepare(&client, request.tool.as_deref()).await?;
    let inner = &*client.0;
    let question = question(inner, &request);
    if let Some((raw, session)) = kept(inner, &request, question.as_ref()) {
        return read_as(&client, &request, read, &raw, &session);
    }
    let made = match persist(&client, &mut request, question.as_ref()).await {
        Ok((Answer::Task(task), _)) => Box::pin(see_through(&client, &mut request, *task)).await,
        Ok((Answer::Result(raw), session)) => Ok((raw, session)),
        Err(error) => Err(error),
    };
    match made {
        Ok((raw, session)) => read_as(&client, &request, read, &raw, &session),
        Err(error) => match stale(inner, &request, question.as_ref(), &error) {
            Some((raw, session)) => read_as(&client, &request, read, &raw, &session),
            None => Err(error),
        },
    }
}

/// What a call was answered with. Closed: the outcome of a call is nothing else.
pub(crate) enum Answer {
    /// The result.
    Result(Box<RawValue>),
    /// A task, whose result comes later.
    Task(Box<Task>),
}

/// Makes a call, and does not wait for the task that it may become.
///
/// # Errors
///
/// [`CallError`].
pub(crate) async fn begin(
    client: &Client,
    request: &mut Request,
) -> Result<(Answer, Arc<Session>), CallError> {
    prepare(client, request.tool.as_deref()).await?;
    persist(client, request, None).await
}

/// Reads what a request was answered with.
///
/// # Errors
///
/// [`CallError::Misbehaved`].
pub(crate) fn read_as<R>(
    client: &Client,
    request: &Request,
    read: Reader<R>,
    raw: &RawValue,
    session: &Session,
) -> Result<R, CallError> {
    let given = Given {
        raw,
        session,
        client,
        tool: request.tool.as_deref(),
    };
    read(&given).map_err(|source| misbehaved(request, source))
}

/// Makes a call, and again as long as something can be put right.
///
/// # Errors
///
/// [`CallError`].
pub(crate) async fn persist(
    client: &Client,
    request: &mut Request,
    question: Option<&Question>,
) -> Result<(Answer, Arc<Session>), CallError> {
    let mut mends = Mends::default();
    loop {
        let error = match on_one_conversation(client, request, question).await {
            Ok(made) => return Ok(made),
            Err(error) => error,
        };
        if !mends.mend(client, request, &error).await {
            return Err(error);
        }
        tracing::debug!(method = request.method.as_str(), %error, "a call is made again");
    }
}

/// What the call asks, if its answer may be kept.
fn question(inner: &Inner, request: &Request) -> Option<Question> {
    let params = request.params.as_ref().ok()?;
    let principal = || inner.connect.principal();
    inner
        .cache
        .question(request.method.as_str(), params, principal)
}

fn kept(
    inner: &Inner,
    request: &Request,
    question: Option<&Question>,
) -> Option<(Arc<RawValue>, Arc<Session>)> {
    if request.freshness == Freshness::Anew {
        return None;
    }
    let raw = inner.cache.fresh(question?, Instant::now())?;
    Some((raw, inner.current()?))
}

/// A stale answer, if it was asked for and the server did not give one.
fn stale(
    inner: &Inner,
    request: &Request,
    question: Option<&Question>,
    error: &CallError,
) -> Option<(Arc<RawValue>, Arc<Session>)> {
    let is_unanswered = matches!(
        error,
        CallError::Disconnected { .. } | CallError::Unconnected { .. } | CallError::TimedOut { .. }
    );
    if request.freshness != Freshness::OrStale || !is_unanswered {
        return None;
    }
    Some((inner.cache.stale(question?)?, inner.current()?))
}

/// Keeps an answer that came at once, or drops what its error makes doubtful.
fn keep(
    inner: &Inner,
    session: &Arc<Session>,
    question: Option<&Question>,
    answer: &Result<Box<RawValue>, CallError>,
) {
    let Some(question) = question else {
        return;
    };
    match answer {
        Ok(raw)
            if session.info.revision.has(Feature::Freshness)
                && inner.cache.put(question, raw, Instant::now()) =>
        {
            watch(inner, session);
        }
        Err(CallError::Answered { method, error }) if error.code == ErrorCode::INVALID_PARAMS => {
            inner.cache.forget_method(method.as_str());
        }
        _ => {}
    }
}

/// Makes a call as what it is there: a plain one, or one that asks to be a task.
async fn on_one_conversation(
    client: &Client,
    request: &mut Request,
    question: Option<&Question>,
) -> Result<(Answer, Arc<Session>), CallError> {
    let inner = &*client.0;
    let plain = request
        .params
        .clone()
        .map_err(|reason| CallError::Invalid {
            method: request.method.clone(),
            reason,
        })?;
    let session = inner.session(&request.method).await?;
    if let Some(tool) = pinned(client, request) {
        Box::pin(admit(client, tool)).await?;
    }
    // What few calls need is kept apart, so that the others are not as large.
    let wish = match checks::may_wish(&session, request) {
        true => Box::pin(checks::wish(client, request)).await?,
        false => None,
    };
    request.is_augmented = wish.is_some();
    let params = match &wish {
        Some(wish) => checks::with_task(&plain, wish),
        None => plain,
    };
    let answer = rounds(inner, &session, request, params, question).await?;
    Ok((answer, session))
}

/// Makes a call in as many rounds as it takes, all on one conversation.
async fn rounds(
    inner: &Inner,
    session: &Arc<Session>,
    request: &mut Request,
    params: Bytes,
    question: Option<&Question>,
) -> Result<Answer, CallError> {
    let mut rounds = Rounds::new(inner.options.limits.rounds);
    let mut body = params.clone();
    loop {
        let is_first = body == params;
        let answer = exchange(inner, session, request, body).await;
        let (required, task) = match &answer {
            Ok(raw) => (
                question_in(raw, session, request)?,
                task_in(raw, session, request).map_err(|source| misbehaved(request, source))?,
            ),
            Err(_) => (None, None),
        };
        if let Some(task) = task {
            return Ok(Answer::Task(Box::new(task)));
        }
        let Some(required) = required else {
            // What took answers or state to get is nobody else's answer.
            if is_first {
                keep(inner, session, question, &answer);
            }
            return answer.map(Answer::Result);
        };
        let pause = rounds
            .next(&required)
            .map_err(|fault| misbehaved(request, Misbehavior::Rounds(fault)))?;
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        body = answered(inner, session, &request.method, &params, required).await?;
    }
}

/// One request and its answer.
async fn exchange(
    inner: &Inner,
    session: &Session,
    request: &mut Request,
    body: Bytes,
) -> Result<Box<RawValue>, CallError> {
    let mut call = NewCall::new(request.method.clone(), body);
    call.patience = Some(request.patience.patience(session.patience));
    call.wants_progress = request.on_progress.is_some();
    call.routing.clone_from(&request.routing);
    call.meta.clone_from(&request.meta);
    if session.info.revision.has(Feature::RequestLogLevel)
        && let Some(level) = inner.log_level()
    {
        call.meta.set_log_level(&level);
    }
    let made = session.peer.call(call);
    let made = made.map_err(|source| CallError::Refused {
        method: request.method.clone(),
        source,
    })?;
    let mut call = Creating::new(&session.peer, made, request.is_augmented);
    loop {
        match poll_fn(|task| call.poll_step(task)).await {
            Step::Progress(progress) => {
                if let Some(hear) = &mut request.on_progress {
                    hear(progress);
                }
            }
            Step::Done(outcome) => {
                return outcome.map_err(|failure| CallError::of(&request.method, failure));
            }
        }
    }
}

/// The questions that are a result, where results may be questions.
fn question_in(
    raw: &RawValue,
    session: &Session,
    request: &Request,
) -> Result<Option<InputRequired>, CallError> {
    if !session.info.revision.has(Feature::InputRequired) {
        return Ok(None);
    }
    let peek: Peek<'_> = serde_json::from_str(raw.get())
        .map_err(|error| misbehaved(request, unreadable(OutcomeFault::Malformed(error))))?;
    match peek.result_type.as_deref().map(ResultType::from) {
        Some(ResultType::InputRequired) if may_ask(request) => {
            match Outcome::<EmptyResult>::decode(raw) {
                Ok(Outcome::InputRequired(required)) => Ok(Some(required)),
                Ok(_) => Ok(None),
                Err(fault) => Err(misbehaved(request, unreadable(fault))),
            }
        }
        Some(ResultType::InputRequired) => {
            Err(misbehaved(request, Misbehavior::UnexpectedQuestion))
        }
        _ => Ok(None),
    }
}

/// The member that says what a result is.
#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(rename = "resultType", borrow)]
    result_type: Option<Cow<'a, str>>,
}

fn may_ask(request: &Request) -> bool {
    use pintle_model::method::{CallTool, GetPrompt, Method, ReadResource};
    let asking = [CallTool::NAME, GetPrompt::NAME, ReadResource::NAME];
    asking.contains(&request.method.as_str())
}

/// The parameters of the retry that answers what was asked.
async fn answered(
    inner: &Inner,
    session: &Session,
    method: &MethodName,
    params: &[u8],
    required: InputRequired,
) -> Result<Bytes, CallError> {
    let state = required.request_state;
    let Some(questions) = required.input_requests else {
        return Ok(retry_params(params, None, state.as_deref()));
    };
    let mut responses = InputResponses::new();
    for (name, question) in questions {
        let answer = answer(inner, session, question).await;
        let answer = answer.map_err(|source| CallError::Unanswered {
            method: method.clone(),
            source,
        })?;
        responses.insert(name, answer);
    }
    Ok(retry_params(params, Some(&responses), state.as_deref()))
}

/// Answers a question that came in answer to a call.
///
/// # Errors
///
/// [`Unanswered`].
pub(crate) async fn answer(
    inner: &Inner,
    session: &Session,
    question: InputRequest,
) -> Result<pintle_model::InputResponse, Unanswered> {
    let terms = session.terms();
    let terms = terms.ok_or_else(|| Unanswered::Failed("the conversation ended".into()))?;
    let server = session.info.identity.clone();
    let answer = inner.handlers.answer(question, &terms, server).await?;
    fitted(answer, terms.revision).map_err(|error| Unanswered::Failed(error.to_string()))
}

fn misbehaved(request: &Request, source: Misbehavior) -> CallError {
    CallError::Misbehaved {
        method: request.method.clone(),
        source,
    }
}

pub(crate) fn unreadable(fault: OutcomeFault) -> Misbehavior {
    Misbehavior::Unreadable(Arc::new(fault))
}

/// Reads a result that must be complete by now.
pub(crate) fn complete<R: DeserializeOwned>(given: &Given<'_>) -> Result<R, Misbehavior> {
    let raw = given.raw;
    if !given.session.info.revision.has(Feature::ResultType) {
        let read = serde_json::from_str(raw.get());
        return read.map_err(|error| unreadable(OutcomeFault::Malformed(error)));
    }
    match Outcome::<R>::decode(raw) {
        Ok(Outcome::Complete(result)) => Ok(result),
        Ok(Outcome::InputRequired(_)) => Err(Misbehavior::UnexpectedQuestion),
        Ok(Outcome::Task(_)) => Err(Misbehavior::UnexpectedTask),
        Err(fault) => Err(unreadable(fault)),
    }
}
