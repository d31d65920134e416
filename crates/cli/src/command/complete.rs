//! `pintle complete`: completes an argument.

use std::collections::BTreeMap;

use pintle::model::{CompleteParams, CompletionContext, CompletionReference};

use crate::args::{Completion, Format};
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;
use crate::text;

/// Prints the values, one on each line.
pub(crate) async fn run(
    conversation: &Conversation,
    completion: &Completion,
) -> Result<(), CliError> {
    let call = conversation.client.complete(params(completion));
    let result = conversation.make(call).await?;
    let screen = &conversation.screen;
    if conversation.format == Format::Json {
        return output::json(screen, &result);
    }
    let completed = &result.completion;
    let mut values = String::new();
    for value in &completed.values {
        values.push_str(&text::line(value));
        values.push('\n');
    }
    output::result(values.as_bytes())?;
    let shown = completed.values.len() as u64;
    match completed.total {
        Some(total) if total > shown => conversation.live.note(&format!("{shown} of {total}")),
        None if completed.has_more == Some(true) => conversation.live.note("there are more"),
        _ => {}
    }
    Ok(())
}

/// Returns the parameters of a completion. A reference with a brace or `://` is a template.
pub(crate) fn params(completion: &Completion) -> CompleteParams {
    let is_template = completion.of.contains('{') || completion.of.contains("://");
    let reference = match is_template {
        true => CompletionReference::resource_template(&completion.of),
        false => CompletionReference::prompt(&completion.of),
    };
    let mut params = CompleteParams::new(reference, &completion.argument, &completion.prefix);
    if !completion.others.is_empty() {
        let others: BTreeMap<_, _> = completion.others.iter().cloned().collect();
        let mut context = CompletionContext::default();
        context.arguments = Some(others);
        params.context = Some(context);
    }
    params
}
