//! `pintle tasks`: work that outlives its request.

use std::path::Path;
use std::sync::Arc;

use pintle::client::Task;
use pintle::model::method::{GetDetailedTask, GetTask};
use pintle::model::{CallToolResult, DetailedTask, Feature, Task as Record, TaskIdParams};
use serde::Serialize;

use super::print;
use crate::args::{Format, TaskAction};
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;
use crate::show;
use crate::text;

/// Does an action on tasks.
pub(crate) async fn run(conversation: &Conversation, action: &TaskAction) -> Result<(), CliError> {
    match action {
        TaskAction::List => {
            let tasks = list(conversation).await?;
            print(conversation, &tasks, |look| show::tasks(&tasks, look))
        }
        TaskAction::Get(id) => look(conversation, id).await,
        TaskAction::Cancel(id) => cancel(conversation, id).await,
        TaskAction::Wait(id, save) => outcome(conversation, id, save.as_deref()).await,
        TaskAction::Result(id, save) => {
            let task = conversation.client.task(id.as_str()).refresh().await?;
            if !task.status.is_terminal() {
                let status = text::line(task.status.as_str());
                let reason = format!("the task {id} has no result yet, it is {status}");
                return Err(CliError::not_found(reason));
            }
            outcome(conversation, id, save.as_deref()).await
        }
    }
}

/// Waits for a task and shows its progress.
///
/// # Errors
///
/// The task has no result, or the wait failed.
pub(crate) async fn wait(
    conversation: &Conversation,
    task: &Task,
) -> Result<CallToolResult, CliError> {
    let (live, changes) = (
        Arc::clone(&conversation.live),
        Arc::clone(&conversation.live),
    );
    let waited = task
        .wait()
        .on_progress(move |progress| live.progress(&progress))
        .on_change(move |task| {
            if let Some(message) = &task.status_message {
                changes.draw(&text::line(message));
            }
        })
        .await;
    conversation.live.clear();
    Ok(waited?)
}

/// Prints the id of a detached task, which finds it again.
///
/// # Errors
///
/// The output cannot be written.
pub(crate) fn print_begun(conversation: &Conversation, task: &Task) -> Result<(), CliError> {
    conversation.live.clear();
    match (conversation.format, task.last()) {
        (Format::Json, Some(record)) => output::json(&conversation.screen, &record),
        _ => output::result(format!("{}\n", task.id()).as_bytes()),
    }
}

/// Waits for a task, and prints its result.
async fn outcome(
    conversation: &Conversation,
    id: &str,
    save: Option<&Path>,
) -> Result<(), CliError> {
    let result = wait(conversation, &conversation.client.task(id)).await?;
    print::print(conversation, "task", save, &result)?;
    match result.has_failed() {
        true => Err(print::tool_failed(&format!("of task {id}"))),
        false => Ok(()),
    }
}

/// Whether the server has the tasks of 2025-11-25. The extension has fewer methods.
fn is_core(conversation: &Conversation) -> bool {
    let server = conversation.client.server();
    server.is_some_and(|server| server.revision.has(Feature::CoreTasks))
}

async fn list(conversation: &Conversation) -> Result<Vec<Record>, CliError> {
    if !is_core(conversation) {
        let reason = "this revision has no method to list tasks; name a task by its id";
        return Err(CliError::not_found(reason));
    }
    let tasks = conversation.client.list_tasks();
    Ok(conversation.complete_list(tasks).await?.items)
}

async fn look(conversation: &Conversation, id: &str) -> Result<(), CliError> {
    let params = TaskIdParams::new(id);
    if is_core(conversation) {
        let task = conversation
            .make(conversation.client.request::<GetTask>(&params))
            .await?;
        return print(conversation, &task, |look| show::task(&task, look));
    }
    let detailed = detailed(conversation, id).await?;
    let task = Record::from(detailed.handle.clone());
    print(conversation, &detailed, |look| show::task(&task, look))
}

async fn cancel(conversation: &Conversation, id: &str) -> Result<(), CliError> {
    conversation.client.task(id).cancel().await?;
    look(conversation, id).await
}

async fn detailed(conversation: &Conversation, id: &str) -> Result<DetailedTask, CliError> {
    let params = TaskIdParams::new(id);
    let call = conversation.client.request::<GetDetailedTask>(&params);
    conversation.make(call).await
}

fn print(
    conversation: &Conversation,
    value: &impl Serialize,
    text: impl FnOnce(crate::screen::Look) -> String,
) -> Result<(), CliError> {
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, value),
        Format::Text => output::result(text(screen.output).as_bytes()),
    }
}
