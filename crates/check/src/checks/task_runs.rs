//! Calls of tools as tasks of 2025-11-25.

use std::sync::Arc;

use pintle_model::{Feature, Timestamp};
use serde_json::{Value, json};

use super::{run, without_fault};
use crate::check::{Check, must, should};
use crate::finding::{Judgement, Stop, ensure, observed, skipped};
use crate::peer::{Answer, Peer};
use crate::text::shown;
use crate::value::{self, Fault};

const CORE: &[Feature] = &[Feature::CoreTasks];
const RELATED: &str = "io.modelcontextprotocol/related-task";
/// Requested lifetime of a task, in milliseconds.
const TTL_MS: u64 = 60_000;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "task-created",
        "A call as a task is answered with a task, without the result of the tool.",
        "Tasks: Creating tasks",
        &[must(CORE, &["TASK-16", "TASK-18"])],
        run!(created),
    ),
    Check::new(
        "task-starts-working",
        "A new task has the status `working`.",
        "Tasks: Task status lifecycle",
        &[must(CORE, &["TASK-35"])],
        run!(starts_working),
    ),
    Check::new(
        "task-ids",
        "The id of a task is a text, and no two tasks have the same.",
        "Tasks: Task IDs",
        &[must(CORE, &["TASK-32", "TASK-34"])],
        run!(ids),
    ),
    Check::new(
        "task-times",
        "A task has the times of its creation and of its last change.",
        "Tasks: TTL and resource management",
        &[must(CORE, &["TASK-44", "TASK-45"])],
        run!(times),
    ),
    Check::new(
        "task-result",
        "`tasks/result` is answered at the end of the task, with the result of the tool or an error.",
        "Tasks: Result retrieval",
        &[must(CORE, &["TASK-50", "TASK-51"])],
        run!(ends_with_result),
    ),
    Check::new(
        "task-result-related",
        "The result of a task names the task in `_meta`.",
        "Tasks: Associating task-related messages",
        &[must(CORE, &["TASK-58"])],
        run!(result_is_related),
    ),
    Check::new(
        "task-get-unrelated",
        "The result of `tasks/get` does not repeat the task in `_meta`.",
        "Tasks: Associating task-related messages",
        &[should(CORE, &["TASK-57"])],
        run!(get_is_unrelated),
    ),
    Check::new(
        "task-get-json",
        "`tasks/get` is answered with JSON, and not with an event stream.",
        "Tasks: Task support and handling",
        &[should(CORE, &["TASK-43"]).http()],
        run!(get_is_json),
    ),
    Check::new(
        "task-listed",
        "`tasks/list` has a task that `tasks/get` returns.",
        "Tasks: Listing tasks",
        &[must(CORE, &["TASK-63"])],
        run!(is_listed),
    ),
    Check::new(
        "task-cancel-ended",
        "The cancellation of a task that has ended is answered with error -32602.",
        "Tasks: Task cancellation",
        &[must(CORE, &["TASK-64"])],
        run!(cancel_ended),
    ),
    Check::new(
        "task-required",
        "A call without a task of a tool that requires one is answered with error -32601.",
        "Tasks: Tool-level negotiation",
        &[must(CORE, &["TASK-13"])],
        run!(required),
    ),
    Check::new(
        "task-forbidden",
        "A call as a task of a tool without task support is answered with error -32601.",
        "Tasks: Tool-level negotiation",
        &[should(CORE, &["TASK-10"])],
        run!(forbidden),
    ),
];

fn needs(peer: &Peer, pointer: &str) -> Judgement {
    let tasks = peer.survey.capability("tasks");
    match tasks.and_then(|tasks| tasks.pointer(pointer)) {
        Some(_) => Ok(()),
        None => Err(skipped(format!(
            "the server does not declare `tasks{pointer}`"
        ))),
    }
}

/// Returns the parameters of a call that is allowed, of a tool with one of these kinds of support.
fn call_of(peer: &Peer, kinds: &[&str]) -> Result<Value, Stop> {
    needs(peer, "/requests/tools/call")?;
    let survey = Arc::clone(&peer.survey);
    let allowed = survey.callable_as_task(&peer.options);
    let support = |tool: &Value| {
        let support = tool.pointer("/execution/taskSupport");
        support
            .and_then(Value::as_str)
            .unwrap_or("forbidden")
            .to_owned()
    };
    let found = allowed
        .into_iter()
        .find(|(tool, _)| kinds.contains(&&*support(tool)));
    match found {
        Some((tool, arguments)) => Ok(json!({ "name": tool.get("name"), "arguments": arguments })),
        None => Err(skipped(format!(
            "no tool with the task support {} may be called; `--tool` allows one",
            kinds.join(" or ")
        ))),
    }
}

/// Calls a tool as a task.
async fn call_as_task(peer: &mut Peer) -> Result<Answer, Stop> {
    let mut params = call_of(peer, &["optional", "required"])?;
    params["task"] = json!({ "ttl": TTL_MS });
    peer.ask("tools/call", params).await
}

/// Returns a new task.
async fn task(peer: &mut Peer) -> Result<Value, Stop> {
    let answer = call_as_task(peer).await?;
    let task = answer.result()?.get("task");
    let missing = || observed(format!("no task: {}", shown(&answer.response)));
    task.filter(|task| task.is_object())
        .cloned()
        .ok_or_else(missing)
}

/// Sends a request about a task.
async fn about(peer: &mut Peer, method: &str, task: &Value) -> Result<Answer, Stop> {
    peer.be_patient();
    peer.ask(method, json!({ "taskId": task.get("taskId") }))
        .await
}

async fn created(peer: &mut Peer) -> Judgement {
    let answer = call_as_task(peer).await?;
    let result = answer.result()?;
    let has_outcome = ["content", "structuredContent", "isError"]
        .into_iter()
        .any(|name| result.get(name).is_some());
    let fault = value::object(result, "task")
        .or_else(|| has_outcome.then(|| format!("the result of the tool: {}", shown(result))));
    without_fault("tools/call", fault)
}

async fn starts_working(peer: &mut Peer) -> Judgement {
    let task = task(peer).await?;
    ensure(task.get("status") == Some(&json!("working")))
}

async fn ids(peer: &mut Peer) -> Judgement {
    let (one, other) = (task(peer).await?, task(peer).await?);
    let fault = value::text(&one, "taskId").or_else(|| value::text(&other, "taskId"));
    without_fault("tools/call", fault)?;
    ensure(one.get("taskId") != other.get("taskId"))
}

/// Returns a fault unless a member is a time. A time without an offset is one of ISO 8601, too.
fn time(task: &Value, name: &str) -> Fault {
    value::text(task, name).or_else(|| {
        let text = task.get(name).and_then(Value::as_str)?;
        let is_time = |text: &str| Timestamp::new(text).to_system_time().is_some();
        let is_valid = is_time(text) || is_time(&format!("{text}Z"));
        (!is_valid).then(|| format!("`{name}` is {text:?}"))
    })
}

async fn times(peer: &mut Peer) -> Judgement {
    let new = task(peer).await?;
    let answer = about(peer, "tasks/get", &new).await?;
    let found = answer.result()?;
    let fault = [&new, found]
        .into_iter()
        .find_map(|task| time(task, "createdAt").or_else(|| time(task, "lastUpdatedAt")));
    without_fault("tasks/get", fault)
}

async fn ends_with_result(peer: &mut Peer) -> Judgement {
    let task = task(peer).await?;
    let answer = about(peer, "tasks/result", &task).await?;
    if let Some(result) = answer.response.get("result") {
        let fault = value::list(result, "content");
        without_fault("tasks/result", fault)?;
    }
    let after = about(peer, "tasks/get", &task).await?;
    let status = after.result()?.get("status").and_then(Value::as_str);
    ensure(matches!(status, Some("completed" | "failed" | "cancelled")))
}

async fn result_is_related(peer: &mut Peer) -> Judgement {
    let task = task(peer).await?;
    let answer = about(peer, "tasks/result", &task).await?;
    let Some(result) = answer.response.get("result") else {
        return Err(skipped(
            "the task ended with an error, which has no `_meta`",
        ));
    };
    let related = result.get("_meta").and_then(|meta| meta.get(RELATED));
    ensure(related.and_then(|related| related.get("taskId")) == task.get("taskId"))
}

async fn get_is_unrelated(peer: &mut Peer) -> Judgement {
    let task = task(peer).await?;
    let answer = about(peer, "tasks/get", &task).await?;
    let meta = answer.result()?.get("_meta");
    ensure(meta.is_none_or(|meta| meta.get(RELATED).is_none()))
}

async fn get_is_json(peer: &mut Peer) -> Judgement {
    let task = task(peer).await?;
    let answer = about(peer, "tasks/get", &task).await?;
    ensure(!answer.reply.is_stream)
}

async fn is_listed(peer: &mut Peer) -> Judgement {
    needs(peer, "/list")?;
    let task = task(peer).await?;
    about(peer, "tasks/get", &task).await?.result()?;
    let mut params = json!({});
    for _ in 0..peer.options.max_list_pages {
        let answer = peer.ask("tasks/list", params).await?;
        let page = answer.result()?;
        if value::entries(page, "tasks").any(|entry| entry.get("taskId") == task.get("taskId")) {
            return Ok(());
        }
        match page.get("nextCursor") {
            Some(cursor) if !cursor.is_null() => params = json!({ "cursor": cursor }),
            _ => return Err(observed(format!("no page has {}", shown(&task)))),
        }
    }
    Err(skipped("the list has more pages than are read"))
}

async fn cancel_ended(peer: &mut Peer) -> Judgement {
    needs(peer, "/cancel")?;
    let task = task(peer).await?;
    about(peer, "tasks/result", &task).await?;
    about(peer, "tasks/cancel", &task)
        .await?
        .has_code(&[-32602])
}

async fn required(peer: &mut Peer) -> Judgement {
    let params = call_of(peer, &["required"])?;
    peer.ask("tools/call", params).await?.has_code(&[-32601])
}

async fn forbidden(peer: &mut Peer) -> Judgement {
    let mut params = call_of(peer, &["forbidden"])?;
    params["task"] = json!({ "ttl": TTL_MS });
    peer.ask("tools/call", params).await?.has_code(&[-32601])
}
