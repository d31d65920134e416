//! Responses: JSON if the answer is the first message, an event stream otherwise.
//!
//! If the answer is the first message, it decides the status. An earlier message, or a long silence,
//! makes the response a stream.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use pintle_model::jsonrpc::write_error;
use pintle_model::{Error, ErrorCode, RequestId};
use pintle_proto::{AnswerStatus, Frame};
use pintle_runtime::MissingScopes;
use tokio::time::timeout;

use super::events::{EventStream, MessageSource, OutgoingMessage, StreamTiming};
use super::peers::{BodyRejection, Excess};
use super::response::ResponseBody;
use crate::body::BodyError;
use crate::rules::cause::{self, Cause};
use crate::rules::classify::HttpRejection;
use crate::rules::media::{EVENT_STREAM, JSON};
use crate::rules::status::{Stage, status_of};

const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) const PLAIN_TEXT: &str = "text/plain; charset=utf-8";

/// The code for a request without an answer, whose session has ended or which was cancelled. The
/// protocol does not define it, but HTTP requires a response.
pub(super) const UNANSWERED: ErrorCode = ErrorCode(-32000);

/// Which statuses errors of a conversation have. Closed: there are two eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// The request stated its own terms.
    Modern,
    /// A handshake settled them.
    Legacy,
}

/// Answers one request with the messages of `source`, after its first poll returned `first`. The response
/// is a stream, and `source` is boxed, if another message precedes the answer or no message is ready
/// within `stream_delay`.
pub(crate) async fn reply<S: MessageSource + 'static>(
    mut source: S,
    first: Poll<Option<OutgoingMessage>>,
    id: &RequestId,
    era: Era,
    stream_delay: Duration,
    pace: StreamTiming,
) -> Response<ResponseBody> {
    let stream_of = |source| EventStream::new(Box::new(source), pace);
    let first = match first {
        Poll::Ready(first) => Ok(first),
        Poll::Pending => timeout(stream_delay, poll_fn(|cx| source.poll_message(cx))).await,
    };
    match first {
        Ok(Some(message)) if message.verdict.is_some() => answer(message, era),
        Ok(Some(notice)) => stream(stream_of(source).beginning_with(notice)),
        Ok(None) if source.is_owed() => error(StatusCode::OK, Some(id), &session_ended()),
        // The request was cancelled, or its client must resume: the response must end.
        Ok(None) => stream(stream_of(source)),
        Err(_) => stream(stream_of(source).beginning_with_a_sign_of_life()),
    }
}

/// Answers one request whose client accepts only one JSON body, after the first poll of `source` returned
/// `first`. Messages before the answer are dropped.
pub(crate) async fn reply_single<S: MessageSource>(
    mut source: S,
    first: Poll<Option<OutgoingMessage>>,
    id: &RequestId,
    era: Era,
) -> Response<ResponseBody> {
    let mut next = match first {
        Poll::Ready(first) => first,
        Poll::Pending => poll_fn(|cx| source.poll_message(cx)).await,
    };
    while let Some(message) = next {
        if message.verdict.is_some() {
            return answer(message, era);
        }
        next = poll_fn(|cx| source.poll_message(cx)).await;
    }
    let why = if source.is_owed() {
        session_ended()
    } else {
        Error::new(UNANSWERED, "the request was cancelled")
    };
    error(StatusCode::OK, Some(id), &why)
}

/// Returns the error for a request whose session has ended.
pub(crate) fn session_ended() -> Error {
    Error::new(UNANSWERED, "the session has ended")
}

/// Answers with an event stream.
pub(crate) fn stream(events: EventStream) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Answers with a status and no body.
pub(crate) fn bare(status: StatusCode) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = status;
    response
}

/// Answers a request that HTTP alone refuses, with the cause as text.
pub(crate) fn refusal(cause: &'static Cause) -> Response<ResponseBody> {
    let text = cause.text.as_bytes().to_vec();
    let mut response = Response::new(ResponseBody::message(Frame::whole(text)));
    *response.status_mut() = cause.status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(PLAIN_TEXT));
    response
}

/// Answers a request that is turned away.
pub(crate) fn reject(rejection: HttpRejection) -> Response<ResponseBody> {
    let mut response = match (&rejection.error, rejection.cause) {
        (Some(why), _) => error(rejection.status, rejection.id.as_ref(), why),
        (None, Some(cause)) => refusal(cause),
        (None, None) => bare(rejection.status),
    };
    if let Some(allow) = rejection.allow {
        response
            .headers_mut()
            .insert(http::header::ALLOW, HeaderValue::from_static(allow));
    }
    if let Some(missing) = rejection.scopes {
        step_up(&mut response, missing);
    }
    response
}

/// Adds a challenge for the missing scopes, and attaches them for an authorizing layer, which adds the
/// URL of its metadata.
fn step_up(response: &mut Response<ResponseBody>, missing: MissingScopes) {
    let challenge = format!(
        "Bearer error=\"insufficient_scope\", scope=\"{}\"",
        missing.joined()
    );
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response.extensions_mut().insert(missing);
}

/// Answers with an error of the protocol.
pub(crate) fn error(
    status: StatusCode,
    id: Option<&RequestId>,
    error: &Error,
) -> Response<ResponseBody> {
    let mut text = Vec::with_capacity(128);
    write_error(&mut text, id, error);
    json(status, Frame::whole(text))
}

/// Answers with a message that is the whole answer.
pub(crate) fn answer(message: OutgoingMessage, era: Era) -> Response<ResponseBody> {
    answer_with(message, era, HeaderMap::new())
}

/// As [`answer`], with the memory of an empty map for the headers.
pub(crate) fn answer_with(
    message: OutgoingMessage,
    era: Era,
    headers: HeaderMap,
) -> Response<ResponseBody> {
    let status = match (message.verdict, era) {
        (Some(AnswerStatus::Rejected(code)), Era::Modern) => status_of(code, Stage::Admission),
        (Some(AnswerStatus::Failed(code)), Era::Modern) => status_of(code, Stage::Handler),
        (Some(AnswerStatus::Rejected(code) | AnswerStatus::Failed(code)), Era::Legacy) => {
            status_of(code, Stage::Legacy)
        }
        _ => StatusCode::OK,
    };
    json_with(status, message.frame, headers)
}

/// Why a body was not read to its end.
pub(super) fn cause_of(unread: BodyRejection) -> &'static Cause {
    match unread {
        BodyRejection::Body(BodyError::TooLarge) => &cause::BODY_TOO_LARGE,
        BodyRejection::Body(BodyError::Stalled) => &cause::BODY_TOO_SLOW,
        BodyRejection::Body(BodyError::Broken) => &cause::BODY_BROKEN,
        BodyRejection::Excess(Excess::InTotal) => &cause::BODIES_OF_ALL,
        BodyRejection::Excess(Excess::OfPeer) => &cause::BODIES_OF_PEER,
    }
}

/// Answers a request whose body was not read to its end.
pub(super) fn unreadable(unread: BodyRejection) -> Response<ResponseBody> {
    let cause = cause_of(unread);
    let mut answer = match unread {
        BodyRejection::Body(_) => refusal(cause),
        BodyRejection::Excess(_) => busy(cause),
    };
    // The rest of the body is not read, so no other request can follow on this connection.
    answer
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// 429 or 503, with the cause and when to retry.
pub(crate) fn busy(cause: &'static Cause) -> Response<ResponseBody> {
    retry_later(refusal(cause), cause.retry_after)
}

/// A request that is one too many.
pub(crate) fn crowded(id: Option<&RequestId>, status: StatusCode) -> Response<ResponseBody> {
    retry_later(error(status, id, &one_too_many()), cause::RETRY_AFTER)
}

/// Requests above the quota of their peer. `rest` is the time until it has a quota again.
pub(crate) fn above_quota(id: Option<&RequestId>, rest: Duration) -> Response<ResponseBody> {
    let why = Error::new(ErrorCode::INTERNAL_ERROR, cause::QUOTA.text);
    let mut answer = error(cause::QUOTA.status, id, &why);
    let seconds = rest.as_secs() + u64::from(rest.subsec_nanos() > 0);
    let headers = answer.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    answer
}

/// Why a request that is one too many is refused.
pub(crate) fn one_too_many() -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, "too many requests are open")
}

fn retry_later(
    mut answer: Response<ResponseBody>,
    seconds: &'static str,
) -> Response<ResponseBody> {
    answer
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    answer
}

pub(crate) fn json(status: StatusCode, frame: Frame) -> Response<ResponseBody> {
    json_with(status, frame, HeaderMap::new())
}

fn json_with(status: StatusCode, frame: Frame, mut headers: HeaderMap) -> Response<ResponseBody> {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    let mut response = Response::new(ResponseBody::message(frame));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
