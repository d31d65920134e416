//! `pintle listen`: prints changes of a server's offers.

use std::num::NonZeroUsize;

use pintle::client::Subscription;
use pintle::model::SubscriptionFilter;
use pintle::proto::Change;
use pintle::proto::PeerCallError;
use serde_json::{Value, json};

use crate::args::Format;
use crate::conversation::Conversation;
use crate::exit::{CliError, Exit};
use crate::output;
use crate::text;

/// The server ended the notifications of changes.
#[derive(Debug, thiserror::Error)]
#[error("the server no longer sends notifications of changes")]
struct ListenError(#[source] PeerCallError);

/// Prints each reported change on a line, until `count` changes or the end of the subscription.
pub(crate) async fn run(
    conversation: &Conversation,
    uris: Vec<String>,
    count: Option<NonZeroUsize>,
) -> Result<(), CliError> {
    let filter = filter(uris);
    let mut subscription = conversation.client.listen(filter.clone()).await?;
    if grants_nothing(&filter, &subscription) {
        let reason = "the server reports none of these changes";
        return Err(CliError::not_found(reason));
    }
    warn_of_less(conversation, &filter, &subscription);
    conversation.live.note("listening; Ctrl-C ends it");
    let mut left = count.map(NonZeroUsize::get);
    while left != Some(0) {
        let Some(change) = subscription.next().await else {
            break;
        };
        print(conversation, &change)?;
        left = left.map(|left| left - 1);
        match subscription.missed() {
            0 => {}
            missed => conversation.live.warn(&format!(
                "{} missed",
                text::counted(missed as usize, "change")
            )),
        }
    }
    match subscription.failure() {
        Some(failure) => Err(CliError::new(
            Exit::Unreachable,
            ListenError(failure.clone()),
        )),
        None => Ok(()),
    }
}

/// Returns a filter for these resources; without any, for changes of the lists.
fn filter(uris: Vec<String>) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    match uris.is_empty() {
        true => {
            filter.tools_list_changed = Some(true);
            filter.prompts_list_changed = Some(true);
            filter.resources_list_changed = Some(true);
        }
        false => filter.resource_subscriptions = Some(uris),
    }
    filter
}

/// Whether the server granted none of the requested changes.
fn grants_nothing(requested: &SubscriptionFilter, subscription: &Subscription) -> bool {
    let granted = subscription.granted();
    let mut uris = requested.resource_subscriptions.iter().flatten();
    let is_any_list = granted.wants_tools() || granted.wants_prompts() || granted.wants_resources();
    !is_any_list && !uris.any(|uri| granted.wants_resource(uri))
}

fn warn_of_less(
    conversation: &Conversation,
    requested: &SubscriptionFilter,
    subscription: &Subscription,
) {
    let granted = subscription.granted();
    let mut missing = Vec::new();
    for (requested, granted, name) in [
        (requested.wants_tools(), granted.wants_tools(), "its tools"),
        (
            requested.wants_prompts(),
            granted.wants_prompts(),
            "its prompts",
        ),
        (
            requested.wants_resources(),
            granted.wants_resources(),
            "its list of resources",
        ),
    ] {
        if requested && !granted {
            missing.push(name.to_owned());
        }
    }
    let uris = requested.resource_subscriptions.iter().flatten();
    missing.extend(uris.filter(|uri| !granted.wants_resource(uri)).cloned());
    if !missing.is_empty() {
        let missing = missing.join(", ");
        conversation
            .live
            .warn(&format!("the server does not report changes of {missing}"));
    }
}

fn print(conversation: &Conversation, change: &Change) -> Result<(), CliError> {
    let line = match conversation.format {
        Format::Json => text::clean_json(&data(change).to_string()).into_owned(),
        Format::Text => match change {
            Change::Tools => "tools".to_owned(),
            Change::Prompts => "prompts".to_owned(),
            Change::Resources => "resources".to_owned(),
            Change::Resource(uri) => format!("resource {}", text::line(uri)),
        },
    };
    output::result(format!("{line}\n").as_bytes())
}

fn data(change: &Change) -> Value {
    match change {
        Change::Tools => json!({ "changed": "tools" }),
        Change::Prompts => json!({ "changed": "prompts" }),
        Change::Resources => json!({ "changed": "resources" }),
        Change::Resource(uri) => json!({ "changed": "resource", "uri": uri }),
    }
}
