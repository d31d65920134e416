//! `pintle tasks`: work that outlives its request.

use pintle::model::method::{
    CancelDetailedTask, CancelTask, GetDetailedTask, GetTask, GetTaskPayload, ListTasks,
};
use pintle::model::{CallToolResult, DetailedTask, Feature, ListParams, Task, TaskIdParams};
use serde::Serialize;
use serde_json::Value;

use crate::conversation::Conversation;
use crate::exit::Failure;
use crate::output::{self, Saving};
use crate::plan::{Format, TaskWish};
use crate::show;

/// How many pages of tasks are read.
const PAGES: usize = 1_000;

/// Does what is wanted of tasks.
pub(crate) async fn run(conversation: &Conversation, wish: &TaskWish) -> Result<(), Failure> {
    match wish {
        TaskWish::List => {
            let tasks = list(conversation).await?;
            print(conversation, &tasks, |look| show::tasks(&tasks, look))
        }
        TaskWish::Get(id) => look(conversation, id).await,
        TaskWish::Cancel(id) => cancel(conversation, id).await,
        TaskWish::Result(id, save) => {
            let result = result(conversation, id).await?;
            let screen = &conversation.screen;
            match (
                conversation.format,
                serde_json::from_value::<CallToolResult>(result.clone()),
            ) {
                (Format::Text, Ok(said)) if !said.content.is_empty() => {
                    let saving = Saving::new("task", save.as_deref());
                    output::parts(screen, show::blocks(&said.content, screen.output), saving)
                }
                _ => output::json(screen, &result),
            }
        }
    }
}

/// Whether the server's tasks are those of 2025-11-25; the extension has fewer methods.
fn is_core(conversation: &Conversation) -> bool {
    let server = conversation.client.server();
    server.is_some_and(|server| server.revision.has(Feature::CoreTasks))
}

async fn list(conversation: &Conversation) -> Result<Vec<Task>, Failure> {
    if !is_core(conversation) {
        let reason = "in this revision nobody can list tasks: ask for one by its name";
        return Err(Failure::NotFound(reason.to_owned()));
    }
    let mut tasks = Vec::new();
    let mut params = ListParams::default();
    for _ in 0..PAGES {
        let call = conversation.client.request::<ListTasks>(&params);
        let page = conversation.make(call).await?;
        tasks.extend(page.tasks);
        match page.next_cursor {
            Some(next) => params.cursor = Some(next),
            None => return Ok(tasks),
        }
    }
    Err(Failure::NotFound("the list of tasks has no end".to_owned()))
}

async fn look(conversation: &Conversation, id: &str) -> Result<(), Failure> {
    let params = TaskIdParams::new(id);
    if is_core(conversation) {
        let task = conversation
            .make(conversation.client.request::<GetTask>(&params))
            .await?;
        return print(conversation, &task, |look| show::task(&task, look));
    }
    let detailed = detailed(conversation, id).await?;
    let task = Task::from(detailed.handle.clone());
    print(conversation, &detailed, |look| show::task(&task, look))
}

async fn cancel(conversation: &Conversation, id: &str) -> Result<(), Failure> {
    let params = TaskIdParams::new(id);
    if is_core(conversation) {
        let call = conversation.client.request::<CancelTask>(&params);
        let task = conversation.make(call).await?;
        return print(conversation, &task, |look| show::task(&task, look));
    }
    let call = conversation.client.request::<CancelDetailedTask>(&params);
    conversation.make(call).await?;
    look(conversation, id).await
}

async fn result(conversation: &Conversation, id: &str) -> Result<Value, Failure> {
    if is_core(conversation) {
        let params = TaskIdParams::new(id);
        let call = conversation.client.request::<GetTaskPayload>(&params);
        return Ok(Value::Object(conversation.make(call).await?));
    }
    let detailed = detailed(conversation, id).await?;
    let result = detailed.result.clone().map(Value::Object);
    result.ok_or_else(|| Failure::NotFound(format!("the task {id} has no result yet")))
}

async fn detailed(conversation: &Conversation, id: &str) -> Result<DetailedTask, Failure> {
    let params = TaskIdParams::new(id);
    let call = conversation.client.request::<GetDetailedTask>(&params);
    conversation.make(call).await
}

fn print(
    conversation: &Conversation,
    value: &impl Serialize,
    text: impl FnOnce(crate::screen::Look) -> String,
) -> Result<(), Failure> {
    let screen = &conversation.screen;
    match conversation.format {
        Format::Json => output::json(screen, value),
        Format::Text => output::result(text(screen.output).as_bytes()),
    }
}
