//! One attempt of a call: on the conversation of this moment, as a plain call or as a task.

use std::sync::Arc;

use crate::cache::Question;
use crate::checks;
use crate::conversation::Conversation;
use crate::error::CallError;
use crate::request::Request;
use crate::result::RawOutcome;
use crate::rounds::rounds;
use crate::state::ClientState;
use crate::tool_lookup::ToolLookup;

/// Sends a call, as a plain call or with a request for a task.
pub(crate) async fn on_one_conversation(
    state: &ClientState,
    lookup: &dyn ToolLookup,
    request: &mut Request,
    question: Option<&Question>,
) -> Result<(RawOutcome, Arc<Conversation>), CallError> {
    let plain = request
        .params
        .clone()
        .map_err(|reason| CallError::InvalidParams {
            method: request.method.clone(),
            reason,
        })?;
    let session = state.session(&request.method).await?;
    if let Some(tool) = checks::pinned(state, request) {
        Box::pin(checks::admit(state, lookup, tool)).await?;
    }
    // What few calls need is kept apart, so that the others are not as large.
    let wish = match checks::may_wish(&session, request) {
        true => Box::pin(checks::wish(state, lookup, request)).await?,
        false => None,
    };
    request.is_augmented = wish.is_some();
    request.is_on_remembered = session.is_remembered;
    let params = match &wish {
        Some(wish) => checks::with_task(&plain, wish),
        None => plain,
    };
    let answer = rounds(state, &session, request, params, question).await?;
    Ok((answer, session))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;
    use crate::tool_lookup::fake::{FakeLookup, offline};

    #[tokio::test]
    async fn invalid_parameters_are_reported_before_the_client_connects() {
        let client = offline(Client::builder());
        let lookup = FakeLookup::failing();
        let mut request = Request::new("tools/call");
        let attempt = on_one_conversation(&client.0, &lookup, &mut request, None).await;
        assert!(matches!(attempt, Err(CallError::NotConnected { .. })));
        request.params = Err("no object".to_owned());
        let attempt = on_one_conversation(&client.0, &lookup, &mut request, None).await;
        assert!(
            matches!(attempt, Err(CallError::InvalidParams { reason, .. }) if reason == "no object")
        );
    }
}
