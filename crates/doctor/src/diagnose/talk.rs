//! Rules for a conversation: revision, lists and tools.

use super::Findings;
use crate::facts::{Conversation, Failure};
use crate::rule;

/// Number of faults of tools that are shown for one server.
const TOOLS: usize = 10;

impl Findings<'_> {
    /// Checks a conversation that was opened.
    pub(super) fn check_conversation(&mut self, conversation: &Conversation) {
        let key = self.url_key().or(self.command_key());
        if conversation.is_outdated {
            self.add(
                rule::OLD_REVISION,
                key,
                format!(
                    "the newest revision of the server is {}",
                    conversation.revision
                ),
                "update the server: install its newest version, or remove a pinned one".to_owned(),
            );
        }
        for list in &conversation.lists {
            if let Err(reason) = &list.result {
                self.add(
                    rule::LIST,
                    key,
                    format!("{} fails: {reason}", list.method),
                    "the server announces this list and has to answer it: report it to the author"
                        .to_owned(),
                );
            }
            for item in list.invalid.iter().take(TOOLS) {
                self.add(
                    rule::INVALID_ITEM,
                    key,
                    format!("{} has an item that is not valid: {item}", list.method),
                    "the server has to correct it: report it to the author".to_owned(),
                );
            }
        }
        for tool in conversation.tools.iter().take(TOOLS) {
            let rule = match tool.is_error {
                true => rule::REJECTED_TOOL,
                false => rule::TOOL,
            };
            let message = format!("the tool `{}`: {}", tool.tool, tool.text);
            self.add(rule, key, message, tool.fix.to_owned());
        }
    }

    /// Checks why no conversation was opened, if neither a crash nor silence is the reason.
    pub(super) fn check_refusal(&mut self, failure: &Failure, key: Option<&str>) {
        match failure {
            Failure::NoCommonRevision(reason) => self.add(
                rule::NO_REVISION,
                key,
                reason.clone(),
                "update the server, or the host".to_owned(),
            ),
            Failure::Other(reason) => self.add(
                rule::HANDSHAKE,
                key,
                format!("the conversation cannot be opened: {reason}"),
                "see the messages with `pintle inspect --trace FILE`, and report them to the author".to_owned(),
            ),
            Failure::TimedOut => self.add(
                rule::HANG,
                key,
                "the server does not answer the handshake in time".to_owned(),
                "try again, and raise the time limit of the host".to_owned(),
            ),
            Failure::Ended | Failure::Unauthorized(_) => {}
        }
    }
}
