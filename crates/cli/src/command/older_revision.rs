//! A hint for servers that ask their client in older revisions only.
//!
//! Some frameworks send questions as requests of their own, which 2026-07-28 does not have: the tool
//! fails there, and works in the revision before.

use pintle::client::CallError;
use pintle::model::{CallToolResult, ContentBlock, Feature, Revision};

use crate::conversation::Conversation;
use crate::exit::CliError;

/// Parts of error texts, in lower case, that are about questions to a client.
const SIGNS: [&str; 7] = [
    "elicit",
    "sampling",
    "create_message",
    "createmessage",
    "roots/list",
    "list_roots",
    "listroots",
];

/// Suggests an older revision when a tool has failed because its server cannot ask in this one.
pub(super) fn hint_at_result(conversation: &Conversation, result: &CallToolResult) {
    let texts = result.content.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    hint_at(conversation, &texts.collect::<Vec<_>>().join(" "));
}

/// Suggests the same when the server answered the call with an error.
pub(super) fn hint_at_failure(conversation: &Conversation, failure: &CliError) {
    if let Some(CallError::Answered { error, .. }) = failure.as_error() {
        hint_at(conversation, &error.message);
    }
}

fn hint_at(conversation: &Conversation, error: &str) {
    let server = conversation.client.server();
    if server.is_some_and(|server| suggests_older(server.revision, error)) {
        let older = Revision::LATEST_LEGACY;
        conversation.live.warn(&format!(
            "the server may be able to ask in older revisions only; try --revision {older}"
        ));
    }
}

/// Whether an error in this revision may come from a question that only older ones can ask.
fn suggests_older(revision: Revision, error: &str) -> bool {
    let error = error.to_lowercase();
    !revision.has(Feature::ServerRequests) && SIGNS.iter().any(|sign| error.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_revision_is_suggested_only_for_failed_questions_of_the_newest() {
        for error in [
            "Error calling tool 'book': Elicitation is not supported in stateless mode",
            "AttributeError: 'Session' object has no attribute 'create_message'",
            "Method not found: roots/list",
        ] {
            assert!(suggests_older(Revision::LATEST, error), "{error}");
            assert!(!suggests_older(Revision::LATEST_LEGACY, error), "{error}");
        }
        assert!(!suggests_older(Revision::LATEST, "the saw is blunt"));
    }
}
