//! A call from its first check to its result: a cached answer, attempts, and the task that it becomes.

use std::sync::Arc;

use pintle_model::method::MethodName;
use pintle_runtime::{BoxFuture, Connect};
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::cache::Question;
use crate::checks::prepare;
use crate::client::Client;
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::follow::see_through;
use crate::recovery::persist;
use crate::request::{Freshness, Request};
use crate::result::{RawOutcome, RawResult, Reading};
use crate::state::ClientState;
use crate::tool_lookup::ToolLookup;

/// The answer of a call, before its result is read.
pub(crate) struct Performed {
    client: Client,
    method: MethodName,
    tool: Option<Box<str>>,
    raw: Raw,
    session: Arc<Conversation>,
}

/// The text of a result.
#[derive(Debug)]
enum Raw {
    Received(Box<RawValue>),
    Cached(Arc<RawValue>),
}

impl Raw {
    fn into_text(self) -> Box<RawValue> {
        match self {
            Self::Received(raw) => raw,
            Self::Cached(raw) => (*raw).to_owned(),
        }
    }
}

impl Performed {
    /// Reads the result.
    ///
    /// # Errors
    ///
    /// [`CallError::Misbehaved`].
    pub(crate) fn read<R>(self, read: &Reading<R>) -> Result<R, CallError> {
        let read = match read {
            Reading::By(read) => read,
            Reading::Text(read) => return Ok(read(self.raw.into_text())),
        };
        let raw = match &self.raw {
            Raw::Received(raw) => raw,
            Raw::Cached(raw) => &**raw,
        };
        let given = RawResult {
            raw,
            session: &self.session,
            state: &self.client.0,
            tool: self.tool.as_deref(),
        };
        read(&given).map_err(|source| CallError::Misbehaved {
            method: self.method,
            source,
        })
    }
}

/// Sends a call. The future has one type for all results, so that other crates do not compile it again.
pub(crate) fn performed(
    client: Client,
    mut request: Request,
) -> BoxFuture<'static, Result<Performed, CallError>> {
    Box::pin(async move {
        let (raw, session) = perform(&client.0, &client, &mut request).await?;
        Ok(Performed {
            client,
            method: request.method,
            tool: request.tool,
            raw,
            session,
        })
    })
}

/// Sends a call, and again after a recovery.
async fn perform(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
) -> Result<(Raw, Arc<Conversation>), CallError> {
    prepare(state, lookup, request.tool.as_deref()).await?;
    let question = question(state, request);
    if let Some((raw, session)) = kept(state, request, question.as_ref()) {
        return Ok((Raw::Cached(raw), session));
    }
    let made = match persist(state, lookup, request, question.as_ref()).await {
        Ok((RawOutcome::Task(task), _)) => {
            Box::pin(see_through(state, lookup, request, *task)).await
        }
        Ok((RawOutcome::Result(raw), session)) => Ok((raw, session)),
        Err(error) => Err(error),
    };
    match made {
        Ok((raw, session)) => Ok((Raw::Received(raw), session)),
        Err(error) => match stale(state, request, question.as_ref(), &error) {
            Some((raw, session)) => Ok((Raw::Cached(raw), session)),
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
    use crate::output_schema::OutputCheck;
    use crate::tool_lookup::fake::{FakeLookup, offline};

    #[tokio::test]
    async fn a_tool_is_looked_up_before_the_client_connects() {
        let client = offline(Client::builder().check_output(OutputCheck::Always));
        let lookup = FakeLookup::failing();
        let mut request = Request::new("tools/call");
        request.tool = Some("t".into());
        let made = perform(&client.0, &lookup, &mut request).await;
        assert!(matches!(made, Err(CallError::NotConnected { .. })));
        assert_eq!(lookup.names(), ["t"]);
    }
}
