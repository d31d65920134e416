//! Recoveries between a call that failed and a retry of the same call.
//!
//! - **Lost connection**, if the call can be repeated. That is certain if the connection was lost
//!   before the call was sent.
//! - **Headers that do not match** ([2026-07-28, -32020][headers]): the tool's schema has changed
//!   since it was listed, or the tool was never listed. The client lists the tools again and
//!   repeats the arguments in headers as the new schema requires.
//! - **Required visits** ([2025-11-25, -32042][visits]): the handler of URL questions sends the
//!   user there. The call waits for a limited time until the visits are done.
//! - **A revision that the server does not support any more** ([2026-07-28, -32022][versions]), if its description
//!   is from the cache: the client discovers the server again.
//! - **A tool that runs only as a task** ([2025-11-25, -32601][tasks]), while the client did not
//!   know that: the client reads the list, and the retry requests a task.
//!
//! Each recovery is tried once per call.
//!
//! [headers]: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
//! [tasks]: https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks
//! [versions]: https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
//! [visits]: https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error

use std::sync::Arc;

use pintle_model::method::{CallTool, ListTools, Method};
use pintle_model::{
    ElicitAction, ElicitParams, ElicitUrlParams, Error, ErrorCode, Feature, InputRequest,
    InputResponse, TaskSupport, UrlElicitationRequired,
};
use pintle_proto::lifecycle::Binding;
use pintle_proto::{SendError, TransportErrorKind};
use pintle_runtime::Connect;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::attempt::on_one_conversation;
use crate::cache::Question;
use crate::checks::{may_wish, task_support};
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::pending_visits::VisitEnd;
use crate::request::Request;
use crate::result::RawOutcome;
use crate::rounds::answer;
use crate::state::ClientState;
use crate::tool_lookup::{ToolLookup, is_listed};

/// Sends a call, and again after each successful recovery.
///
/// # Errors
///
/// [`CallError`].
pub(crate) async fn persist(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
    question: Option<&Question>,
) -> Result<(RawOutcome, Arc<Conversation>), CallError> {
    let mut recovery = Recovery::default();
    loop {
        let error = match on_one_conversation(state, lookup, request, question).await {
            Ok(made) => return Ok(made),
            Err(error) => error,
        };
        // Boxed, so that calls without an error are not as large.
        if !Box::pin(recovery.recover(state, lookup, request, &error)).await {
            return Err(error);
        }
        tracing::debug!(method = request.method.as_str(), %error, "a call is made again");
    }
}

/// The recoveries that were tried for one call.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    loss: bool,
    closed: bool,
    headers: bool,
    visits: bool,
    task: bool,
    revision: bool,
}

impl Recovery {
    /// Tries to recover from an error. Returns true if the call should be sent again.
    pub(crate) async fn recover(
        &mut self,
        state: &ClientState,
        lookup: &dyn ToolLookup,
        request: &mut Request,
        error: &CallError,
    ) -> bool {
        match error {
            CallError::Disconnected { source, .. }
                if request.is_on_remembered && is_refused(source.kind()) =>
            {
                first(&mut self.revision) && discover_again(state)
            }
            CallError::Disconnected { source, .. } => {
                let is_safe = request.is_repeatable || !source.may_have_acted();
                is_safe && lost_the_server(source.kind()) && first(&mut self.loss)
            }
            // The conversation ended just before the call was sent. This may follow a loss.
            CallError::NotSent {
                source: SendError::Closed,
                ..
            } => first(&mut self.closed),
            CallError::Answered { error, .. } => match error.code {
                ErrorCode::HEADER_MISMATCH => {
                    has_headers(state, request)
                        && first(&mut self.headers)
                        && relearn(state, lookup, request).await
                }
                ErrorCode::UNSUPPORTED_REVISION if request.is_on_remembered => {
                    first(&mut self.revision) && discover_again(state)
                }
                ErrorCode::URL_ELICITATION_REQUIRED if request.is_forwarded => {
                    expect_visits(state, error);
                    false
                }
                ErrorCode::URL_ELICITATION_REQUIRED => {
                    first(&mut self.visits) && visit(state, error).await
                }
                ErrorCode::METHOD_NOT_FOUND => {
                    first(&mut self.task) && is_task_only(state, lookup, request).await
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Returns true if the server was not able to answer. After a refusal or a malformed answer, a
/// retry would fail again.
fn lost_the_server(loss: TransportErrorKind) -> bool {
    use TransportErrorKind::{Disconnected, ProcessExited, SessionLost, Unreachable};
    matches!(
        loss,
        Unreachable | Disconnected | SessionLost | ProcessExited
    )
}

/// Returns true at the first call; sets the flag.
fn first(done: &mut bool) -> bool {
    !std::mem::replace(done, true)
}

/// Returns true if an HTTP server refused a request before it read it. A server of the other era does that.
fn is_refused(loss: TransportErrorKind) -> bool {
    matches!(loss, TransportErrorKind::Status(400 | 404 | 405))
}

/// Ends a conversation that began with a description from the cache, so that the retry discovers the server again.
/// Another call may have done this.
fn discover_again(state: &ClientState) -> bool {
    if let Some(session) = state.current().filter(|session| session.is_remembered) {
        if let Some(key) = state.connect.key() {
            state.eras.forget(&key);
        }
        session.peer.close();
    }
    true
}

/// Returns true if a call may repeat arguments in headers.
fn has_headers(state: &ClientState, request: &Request) -> bool {
    request.method.as_str() == CallTool::NAME && state.connect.binding() == Binding::Http
}

/// Lists the tools again up to the called one, and sets the headers that the call repeats. Returns
/// true if the headers have changed.
async fn relearn(state: &ClientState, lookup: &dyn ToolLookup, request: &mut Request) -> bool {
    let (Some(routing), Ok(params)) = (&mut request.routing, &request.params) else {
        return false;
    };
    let Some(name) = routing.name.clone() else {
        return false;
    };
    state.cache.forget_method(ListTools::NAME);
    if !is_listed(lookup, &name).await {
        return false;
    }
    let repeated = state.tool_cache.get(&name);
    let repeated = repeated.map(|tool| tool.repeated(arguments_of(params)));
    let repeated = repeated.unwrap_or_default();
    let has_changed = repeated != routing.params;
    Arc::make_mut(routing).params = repeated;
    has_changed
}

#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

pub(crate) fn arguments_of(params: &[u8]) -> &[u8] {
    let called: Option<Called<'_>> = serde_json::from_slice(params).ok();
    let arguments = called.and_then(|called| called.arguments);
    arguments.map_or(b"{}", |arguments| arguments.get().as_bytes())
}

/// Returns true if the list has the tool as one that runs only as a task. The call then requests a
/// task from now on.
async fn is_task_only(state: &ClientState, lookup: &dyn ToolLookup, request: &mut Request) -> bool {
    let session = state.current();
    let is_plain = session.is_some_and(|session| may_wish(&session, request));
    let tool = request.tool.as_deref().filter(|_| !request.is_augmented);
    let (true, Some(tool)) = (is_plain, tool) else {
        return false;
    };
    match task_support(lookup, tool).await {
        Ok(Some(TaskSupport::Required)) => {
            request.wish.get_or_insert_default();
            true
        }
        Ok(_) => false,
        Err(error) => {
            tracing::debug!(%error, "a tool could not be looked up");
            false
        }
    }
}

/// Reports the ends of the visits that an error requires, because its caller makes the visits.
fn expect_visits(state: &ClientState, error: &Error) {
    let (Some(session), Some(required)) =
        (state.current(), UrlElicitationRequired::of_error(error))
    else {
        return;
    };
    let visits = required.elicitations.into_iter();
    let ids = visits.filter_map(|visit| visit.elicitation_id);
    let most = state.options.max_visits_per_call;
    ids.take(most)
        .for_each(|id| session.dispatcher.expect_visit(id));
}

/// Asks the user to make the required visits. Returns true if the user agreed to all.
async fn visit(state: &ClientState, error: &Error) -> bool {
    let Some(session) = state.current() else {
        return false;
    };
    let Some(required) = UrlElicitationRequired::of_error(error) else {
        return false;
    };
    let count = required.elicitations.len();
    let is_asked = state.handlers.visit.is_some()
        && session.info.revision.has(Feature::ElicitationIds)
        && (1..=state.options.max_visits_per_call).contains(&count);
    if !is_asked {
        return false;
    }
    let mut ends = Vec::new();
    for asked in required.elicitations {
        match go(state, &session, asked).await {
            Some(end) => ends.extend(end),
            None => return false,
        }
    }
    let all = async {
        for end in ends {
            // An error means that the end can no longer be reported; the retry shows the state.
            let _ = end.await;
        }
    };
    // The call is sent again even if the server does not report the end of a visit.
    let _ = tokio::time::timeout(state.options.visit_timeout, all).await;
    true
}

/// Asks the user to visit one URL: none if the user declines. Otherwise returns the end of the
/// visit if the server gives it an id.
async fn go(
    state: &ClientState,
    session: &Conversation,
    asked: ElicitUrlParams,
) -> Option<Option<VisitEnd>> {
    let id = asked.elicitation_id.clone();
    // This happens before the question, because the visit may end before the handler returns.
    let end = id.clone().map(|id| session.dispatcher.await_visit(id));
    let question = InputRequest::from(ElicitParams::Url(asked));
    let consent = match answer(state, session, question).await {
        Ok(InputResponse::Elicit(result)) => result.action == ElicitAction::Accept,
        Ok(_) => false,
        Err(reason) => {
            tracing::warn!(%reason, "a user was not sent where a server wants");
            false
        }
    };
    if consent {
        return Some(end);
    }
    if let Some(id) = id {
        session.dispatcher.end_visit(&id);
    }
    None
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use pintle_proto::{Routing, TransportError};
    use pintle_runtime::ParamHeader;

    use super::*;
    use crate::client::Client;
    use crate::tool_lookup::fake::{FakeLookup, offline, tool};

    fn call() -> Request {
        let mut request = Request::new(CallTool::NAME);
        request.params = Ok(Bytes::from_static(br#"{"name":"t","arguments":{"a":"x"}}"#));
        request.routing = Some(Arc::new(Routing::new("t")));
        request
    }

    #[tokio::test]
    async fn a_header_mismatch_is_recovered_once() {
        let client = offline(Client::builder());
        let header = ParamHeader::new("A", [Box::from("a")]);
        client
            .0
            .tool_cache
            .learn(&tool("t"), vec![header], None, 0, 1);
        let lookup = FakeLookup::new(Ok(Some(tool("t"))));
        let (mut recovery, mut request) = (Recovery::default(), call());
        let error = CallError::Answered {
            method: CallTool::NAME.into(),
            error: Box::new(Error::new(ErrorCode::HEADER_MISMATCH, "other headers")),
        };
        assert!(
            recovery
                .recover(&client.0, &lookup, &mut request, &error)
                .await
        );
        let params = request
            .routing
            .as_ref()
            .map(|routing| routing.params.clone());
        assert_eq!(params, Some(vec![("A".into(), "x".into())]));
        assert!(
            !recovery
                .recover(&client.0, &lookup, &mut request, &error)
                .await
        );
        assert_eq!(lookup.names(), ["t"]);
    }

    #[tokio::test]
    async fn a_header_mismatch_is_final_if_the_tool_is_not_listed() {
        let client = offline(Client::builder());
        let error = CallError::Answered {
            method: CallTool::NAME.into(),
            error: Box::new(Error::new(ErrorCode::HEADER_MISMATCH, "other headers")),
        };
        for lookup in [FakeLookup::new(Ok(None)), FakeLookup::failing()] {
            let (mut recovery, mut request) = (Recovery::default(), call());
            assert!(
                !recovery
                    .recover(&client.0, &lookup, &mut request, &error)
                    .await
            );
        }
    }

    #[tokio::test]
    async fn a_lost_call_is_repeated_once_and_only_if_that_is_safe() {
        let client = offline(Client::builder());
        let lookup = FakeLookup::failing();
        for (loss, is_repeatable, is_repeated) in [
            (TransportErrorKind::Unreachable, false, true),
            (TransportErrorKind::Disconnected, false, false),
            (TransportErrorKind::Disconnected, true, true),
            (TransportErrorKind::TooLarge, true, false),
        ] {
            let (mut recovery, mut request) = (Recovery::default(), call());
            request.is_repeatable = is_repeatable;
            let error = CallError::Disconnected {
                method: CallTool::NAME.into(),
                source: TransportError::new(loss),
            };
            let first = recovery
                .recover(&client.0, &lookup, &mut request, &error)
                .await;
            assert_eq!(first, is_repeated, "{loss:?}, {is_repeatable}");
            assert!(
                !recovery
                    .recover(&client.0, &lookup, &mut request, &error)
                    .await
            );
        }
        assert!(lookup.names().is_empty());
    }

    #[test]
    fn the_arguments_of_a_call_are_found() {
        let params = br#"{"name":"t","arguments":{"a": 1}}"#;
        assert_eq!(arguments_of(params), br#"{"a": 1}"#);
        assert_eq!(arguments_of(br#"{"name":"t"}"#), b"{}");
        assert_eq!(arguments_of(b"nonsense"), b"{}");
    }

    #[tokio::test]
    async fn a_call_that_was_not_sent_is_repeated_once_also_after_a_loss() {
        let client = offline(Client::builder());
        let lookup = FakeLookup::failing();
        let (mut recovery, mut request) = (Recovery::default(), call());
        let lost = CallError::Disconnected {
            method: CallTool::NAME.into(),
            source: TransportError::new(TransportErrorKind::Unreachable),
        };
        let unsent = CallError::NotSent {
            method: CallTool::NAME.into(),
            source: SendError::Closed,
        };
        for (error, is_repeated) in [(&lost, true), (&unsent, true), (&unsent, false)] {
            let repeats = recovery.recover(&client.0, &lookup, &mut request, error);
            assert_eq!(repeats.await, is_repeated, "{error}");
        }
    }
}
