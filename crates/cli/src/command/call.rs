//! `pintle call`: calls a tool.

use std::sync::Arc;

use pintle::client::{Call as Made, TaskStart};
use pintle::model::{CallToolResult, ContentBlock, JsonObject, Tool};

use super::print::{print, tool_failed};
use super::{older_revision, tasks};
use crate::args::{Call, CallTaskOptions};
use crate::arguments::{self, Built};
use crate::conversation::{Conversation, read_argument};
use crate::exit::{CliError, need_hint};
use crate::text;
use pintle_hosts::suggestion;

/// Calls a tool and prints its result.
///
/// # Errors
///
/// Exit code 5 if the tool reports a failure; its content is printed before.
pub(crate) async fn run(conversation: &Conversation, call: &Call) -> Result<(), CliError> {
    let tool = find(conversation, &call.tool).await?;
    let built = built(conversation, call, &tool)?;
    let made = conversation.client.call_tool(&call.tool, built);
    let result = match &call.task {
        None => {
            let result = conversation.make(made).await;
            result.inspect_err(|failure| older_revision::hint_at_failure(conversation, failure))?
        }
        Some(options) => match as_task(conversation, made, options).await? {
            Some(result) => result,
            None => return Ok(()),
        },
    };
    print(conversation, &call.tool, call.save.as_deref(), &result)?;
    match result.has_failed() {
        true => {
            older_revision::hint_at_result(conversation, &result);
            let blocks = result.content.iter();
            let texts: Vec<_> = blocks.filter_map(ContentBlock::as_text).collect();
            if let Some(hint) = need_hint(&texts.join(" ")) {
                conversation.live.note(hint);
            }
            Err(tool_failed(&call.tool))
        }
        false => Ok(()),
    }
}

/// Runs a call as a task. It waits for the result, or prints the id of the task and returns `None`.
async fn as_task(
    conversation: &Conversation,
    call: Made<CallToolResult>,
    options: &CallTaskOptions,
) -> Result<Option<CallToolResult>, CliError> {
    let live = Arc::clone(&conversation.live);
    let call = conversation
        .bounded(call)
        .on_progress(move |progress| live.progress(&progress));
    let start = match options.keep {
        Some(keep) => conversation.wait_for(call.as_task().ttl(keep)).await?,
        None => conversation.wait_for(call.as_task()).await?,
    };
    match start {
        TaskStart::Task(task) if options.is_detached => {
            tasks::print_begun(conversation, &task)?;
            Ok(None)
        }
        TaskStart::Task(task) => {
            let id = text::line(task.id());
            conversation.live.note(&format!("task {id}"));
            tasks::wait(conversation, &task).await.map(Some)
        }
        TaskStart::Done(result) => {
            conversation.live.clear();
            conversation.live.note("the server did not create a task");
            Ok(Some(*result))
        }
    }
}

/// Returns the tool of a name. Arguments are read with its schema, so it is needed before the call.
///
/// # Errors
///
/// Exit code 5 if the server has no such tool; the text suggests a similar name.
pub(crate) async fn find(conversation: &Conversation, name: &str) -> Result<Tool, CliError> {
    let mut pages = conversation
        .bounded_list(conversation.client.list_tools())
        .pages();
    let mut names = Vec::new();
    while let Some(page) = pages.next().await {
        for tool in page?.items {
            if tool.name == name {
                return Ok(tool);
            }
            names.push(tool.name);
        }
    }
    let near = suggestion(name, names.iter().map(String::as_str));
    Err(CliError::not_found(format!(
        "the server has no tool `{name}`{near}"
    )))
}

/// Builds the arguments for a tool.
///
/// # Errors
///
/// Exit code 1 if the arguments cannot be read; 6 if they do not fit the schema.
pub(crate) fn built(
    conversation: &Conversation,
    call: &Call,
    tool: &Tool,
) -> Result<JsonObject, CliError> {
    let words = arguments::words(&call.words)?;
    let read = &mut read_argument;
    let Built { arguments, remarks } = match call.is_unchecked {
        true => arguments::build_unchecked(&words, &tool.input_schema, read)?,
        false => arguments::build(&words, &tool.input_schema, read)?,
    };
    for remark in remarks {
        conversation.live.warn(&remark);
    }
    Ok(arguments)
}
