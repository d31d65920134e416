//! The rounds of a call on one conversation: a result may be a question, and the retry answers it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pintle_model::method::MethodName;
use pintle_model::{ErrorCode, Feature, InputRequest, InputRequired, InputResponses, Task};
use pintle_proto::{Rounds, retry_params};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::cache::Question;
use crate::cache_invalidation::watch;
use crate::conversation::{Conversation, fitted};
use crate::error::{CallError, Misbehavior, QuestionError};
use crate::exchange::exchange;
use crate::request::Request;
use crate::result::{RawOutcome, kind_of, misbehaved, question_in, task_in};
use crate::state::ClientState;

/// Makes a call in as many rounds as it takes, all on one conversation.
pub(crate) async fn rounds(
    state: &ClientState,
    session: &Arc<Conversation>,
    request: &mut Request,
    params: Bytes,
    question: Option<&Question>,
) -> Result<RawOutcome, CallError> {
    if request.is_forwarded {
        let answer = exchange(state, session, request, params).await;
        return answer.map(RawOutcome::Result);
    }
    let mut rounds = Rounds::new(state.options.limits.max_rounds);
    let mut body = params.clone();
    let mut is_first = true;
    loop {
        let answer = exchange(state, session, request, body).await;
        // A result that depended on answers or state is not cached.
        let question = question.filter(|_| is_first);
        let required = match end_of_round(state, session, request, question, answer)? {
            RoundEnd::Outcome(outcome) => return Ok(outcome),
            RoundEnd::Question(required) => required,
        };
        let pause = rounds
            .next(&required)
            .map_err(|fault| misbehaved(request, Misbehavior::Rounds(fault)))?;
        // Boxed, so that calls without questions are not as large.
        let answered = answered(state, session, &request.method, &params, *required, pause);
        body = Box::pin(answered).await?;
        is_first = false;
    }
}

/// The end of a round. The question is boxed, so that calls without questions are not as large.
enum RoundEnd {
    Outcome(RawOutcome),
    Question(Box<InputRequired>),
}

/// Reads the answer of a round, and caches a result.
fn end_of_round(
    state: &ClientState,
    session: &Arc<Conversation>,
    request: &Request,
    question: Option<&Question>,
    answer: Result<Box<RawValue>, CallError>,
) -> Result<RoundEnd, CallError> {
    if let Ok(raw) = &answer {
        match read_kind(raw, session, request)? {
            (_, Some(task)) => return Ok(RoundEnd::Outcome(RawOutcome::Task(Box::new(task)))),
            (Some(required), None) => return Ok(RoundEnd::Question(Box::new(required))),
            (None, None) => {}
        }
    }
    keep(state, session, question, &answer);
    answer.map(|raw| RoundEnd::Outcome(RawOutcome::Result(raw)))
}

/// Returns the questions or the task in an answer; neither if the answer is a result.
fn read_kind(
    raw: &RawValue,
    session: &Conversation,
    request: &Request,
) -> Result<(Option<InputRequired>, Option<Task>), CallError> {
    let misbehaved = |source| misbehaved(request, source);
    let kind = kind_of(raw, session, request).map_err(misbehaved)?;
    let required = question_in(raw, kind.as_ref(), session, request)?;
    let task = task_in(raw, kind.as_ref(), session, request).map_err(misbehaved)?;
    Ok((required, task))
}

/// Keeps an answer that came at once, or drops what its error makes doubtful.
fn keep(
    state: &ClientState,
    session: &Arc<Conversation>,
    question: Option<&Question>,
    answer: &Result<Box<RawValue>, CallError>,
) {
    let Some(question) = question else {
        return;
    };
    match answer {
        Ok(raw)
            if session.info.revision.has(Feature::Freshness)
                && state.cache.put(question, raw, Instant::now()) =>
        {
            watch(state, session);
        }
        Err(CallError::Answered { method, error }) if error.code == ErrorCode::INVALID_PARAMS => {
            state.cache.forget_method(method.as_str());
        }
        _ => {}
    }
}

/// Returns the parameters of the retry that contains the answers, after the pause that the server requests.
async fn answered(
    state: &ClientState,
    session: &Conversation,
    method: &MethodName,
    params: &[u8],
    required: InputRequired,
    pause: Duration,
) -> Result<Bytes, CallError> {
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    let request_state = required.request_state;
    let Some(questions) = required.input_requests else {
        return Ok(retry_params(params, None, request_state.as_deref()));
    };
    let mut responses = InputResponses::new();
    for (name, question) in questions {
        let answer = answer(state, session, question).await;
        let answer = answer.map_err(|source| CallError::QuestionFailed {
            method: method.clone(),
            source,
        })?;
        responses.insert(name, answer);
    }
    Ok(retry_params(
        params,
        Some(&responses),
        request_state.as_deref(),
    ))
}

/// Answers a question that came in answer to a call.
///
/// # Errors
///
/// [`QuestionError`].
pub(crate) async fn answer(
    state: &ClientState,
    session: &Conversation,
    question: InputRequest,
) -> Result<pintle_model::InputResponse, QuestionError> {
    let terms = session.terms();
    let terms = terms.ok_or_else(|| QuestionError::Failed("the conversation ended".into()))?;
    let server = session.info.identity.clone();
    let answer = state.handlers.answer(question, &terms, server).await?;
    fitted(answer, terms.revision).map_err(|error| QuestionError::Failed(error.to_string()))
}
