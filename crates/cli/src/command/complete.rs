//! `pintle complete`: how an argument may go on.

use std::collections::BTreeMap;

use pintle::model::{CompleteParams, CompletionContext, CompletionReference};

use crate::args::{Completion, Format};
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;
use crate::text;

/// Prints the values, one on each line.
pub(crate) async fn run(conversation: &Conversation, wanted: &Completion) -> Result<(), CliError> {
    let call = conversation.client.complete(params(wanted));
    let result = conversation.make(call).await?;
    let screen = &conversation.screen;
    if conversation.format == Format::Json {
        return output::json(screen, &result);
    }
    let completion = &result.completion;
    let mut values = String::new();
    for value in &completion.values {
        values.push_str(&text::line(value));
        values.push('\n');
    }
    output::result(values.as_bytes())?;
    let shown = completion.values.len() as u64;
    match completion.total {
        Some(total) if total > shown => conversation.live.note(&format!("{shown} of {total}")),
        None if completion.has_more == Some(true) => conversation.live.note("there are more"),
        _ => {}
    }
    Ok(())
}

/// The request for a completion. A template has variables in braces, or is an address.
pub(crate) fn params(wanted: &Completion) -> CompleteParams {
    let is_template = wanted.of.contains('{') || wanted.of.contains("://");
    let reference = match is_template {
        true => CompletionReference::resource_template(&wanted.of),
        false => CompletionReference::prompt(&wanted.of),
    };
    let mut params = CompleteParams::new(reference, &wanted.argument, &wanted.prefix);
    if !wanted.others.is_empty() {
        let known: BTreeMap<_, _> = wanted.others.iter().cloned().collect();
        let mut context = CompletionContext::default();
        context.arguments = Some(known);
        params.context = Some(context);
    }
    params
}
