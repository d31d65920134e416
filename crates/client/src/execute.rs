//! A call from its first check to its result: a cached answer, attempts, and the task that it becomes.

use std::sync::Arc;

use pintle_runtime::Connect;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::cache::Question;
use crate::checks::prepare;
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::follow::see_through;
use crate::recovery::persist;
use crate::request::{Freshness, Request};
use crate::result::{RawOutcome, Reader, read_as};
use crate::state::ClientState;
use crate::tool_lookup::ToolLookup;

/// Sends a call, and again after a recovery.
pub(crate) async fn perform<R>(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
    read: Reader<R>,
) -> Result<R, CallError> {
    prepare(state, lookup, request.tool.as_deref()).await?;
    let question = question(state, request);
    if let Some((raw, session)) = kept(state, request, question.as_ref()) {
        return read_as(state, request, read, &raw, &session);
    }
    let made = match persist(state, lookup, request, question.as_ref()).await {
        Ok((RawOutcome::Task(task), _)) => {
            Box::pin(see_through(state, lookup, request, *task)).await
        }
        Ok((RawOutcome::Result(raw), session)) => Ok((raw, session)),
        Err(error) => Err(error),
    };
    match made {
        Ok((raw, session)) => read_as(state, request, read, &raw, &session),
        Err(error) => match stale(state, request, question.as_ref(), &error) {
            Some((raw, session)) => read_as(state, request, read, &raw, &session),
            None => Err(error),
        },
    }
}

/// Sends a call, and does not wait for the task that it may become.
///
/// # Errors
///
/// [`CallError`].
pub(crate) async fn begin(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
) -> Result<(RawOutcome, Arc<Conversation>), CallError> {
    prepare(state, lookup, request.tool.as_deref()).await?;
    persist(state, lookup, request, None).await
}

/// Returns the cache question of a call if its result may be cached.
fn question(state: &ClientState, request: &Request) -> Option<Question> {
    if request.is_forwarded {
        return None;
    }
    let params = request.params.as_ref().ok()?;
    let principal = || state.connect.principal();
    state
        .cache
        .question(request.method.as_str(), params, principal)
}

fn kept(
    state: &ClientState,
    request: &Request,
    question: Option<&Question>,
) -> Option<(Arc<RawValue>, Arc<Conversation>)> {
    if request.freshness == Freshness::Anew {
        return None;
    }
    let raw = state.cache.fresh(question?, Instant::now())?;
    Some((raw, state.current()?))
}

/// Returns a stale result if the caller allows one and the server did not answer.
fn stale(
    state: &ClientState,
    request: &Request,
    question: Option<&Question>,
    error: &CallError,
) -> Option<(Arc<RawValue>, Arc<Conversation>)> {
    let is_unanswered = matches!(
        error,
        CallError::Disconnected { .. }
            | CallError::NotConnected { .. }
            | CallError::TimedOut { .. }
    );
    if request.freshness != Freshness::OrStale || !is_unanswered {
        return None;
    }
    Some((state.cache.stale(question?)?, state.current()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;
    use crate::output_schema::OutputCheck;
    use crate::tool_lookup::fake::{FakeLookup, offline};

    #[tokio::test]
    async fn a_tool_is_looked_up_before_the_client_connects() {
        let client = offline(Client::builder().check_output(OutputCheck::Always));
        let lookup = FakeLookup::failing();
        let mut request = Request::new("tools/call");
        request.tool = Some("t".into());
        let made = perform(&client.0, &lookup, &mut request, |_| Ok(())).await;
        assert!(
            matches!(made, Err(CallError::NotConnected { .. })),
            "{made:?}"
        );
        assert_eq!(lookup.names(), ["t"]);
    }
}
