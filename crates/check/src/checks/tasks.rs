//! Tasks: of the core in 2025-11-25, and of the extension.

use pintle_model::Feature;
use serde_json::{Value, json};

use super::{MODERN, run, without_fault};
use crate::check::{Check, must};
use crate::finding::{Judgement, ensure, observed, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value::{self, Fault};

const CORE: &[Feature] = &[Feature::CoreTasks];
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const UNKNOWN: &str = "pintle-check-no-such-task";

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "task-unknown",
        "An unknown task is answered with error -32602.",
        "Tasks: Error handling",
        &[must(CORE, &["TASK-73"]), must(MODERN, &["X-TASK-20"])],
        run!(unknown),
    ),
    Check::new(
        "task-list",
        "`tasks/list` has a list of tasks with their members.",
        "Tasks: Listing tasks",
        &[must(CORE, &["TASK-02", "TASK-47"])],
        run!(list),
    ),
    Check::new(
        "task-list-cursor",
        "An unknown cursor of `tasks/list` is answered with error -32602.",
        "Tasks: Error handling",
        &[must(CORE, &["TASK-74"])],
        run!(cursor),
    ),
    Check::new(
        "task-undeclared",
        "Methods of tasks that are not declared are answered with error -32601.",
        "Tasks: Capabilities",
        &[must(CORE, &["TASK-07"])],
        run!(undeclared),
    ),
    Check::new(
        "task-ignored",
        "A request for a task that is not declared is served without a task.",
        "Tasks: Task support",
        &[must(CORE, &["TASK-30"])],
        run!(ignored),
    ),
    Check::new(
        "task-capability-legacy",
        "The capability of tasks is an extension.",
        "Tasks extension: Capabilities",
        &[must(MODERN, &["X-TASK-34"])],
        run!(no_legacy_capability),
    ),
    Check::new(
        "task-result-gone",
        "`tasks/result` is answered with error -32601.",
        "Tasks extension: Changes",
        &[must(MODERN, &["X-TASK-33"])],
        run!(result_gone),
    ),
    Check::new(
        "task-without-extension",
        "A client without the extension gets error -32021 for `tasks/get`.",
        "Tasks extension: Capabilities",
        &[must(MODERN, &["X-TASK-21"])],
        run!(without_extension),
    ),
];

/// Metadata of a client with the extension.
fn with_extension() -> Value {
    json!({ "io.modelcontextprotocol/clientCapabilities": { "extensions": { EXTENSION: {} } } })
}

fn needs_tasks(peer: &Peer) -> Judgement {
    let declared = match peer.is_modern() {
        true => peer
            .survey
            .capability("extensions")
            .and_then(|map| map.get(EXTENSION)),
        false => peer.survey.capability("tasks"),
    };
    match declared {
        Some(_) => Ok(()),
        None => Err(skipped("the server declares no tasks")),
    }
}

async fn unknown(peer: &mut Peer) -> Judgement {
    needs_tasks(peer)?;
    let params = match peer.is_modern() {
        true => json!({ "taskId": UNKNOWN, "_meta": with_extension() }),
        false => json!({ "taskId": UNKNOWN }),
    };
    peer.ask("tasks/get", params).await?.has_code(&[-32602])
}

fn needs_list(peer: &Peer) -> Judgement {
    needs_tasks(peer)?;
    let tasks = peer.survey.capability("tasks");
    match tasks.and_then(|tasks| tasks.get("list")) {
        Some(_) => Ok(()),
        None => Err(skipped("the server does not declare `tasks.list`")),
    }
}

async fn list(peer: &mut Peer) -> Judgement {
    needs_list(peer)?;
    let answer = peer.ask("tasks/list", json!({})).await?;
    let result = answer.result()?;
    let fault =
        value::list(result, "tasks").or_else(|| value::entries(result, "tasks").find_map(task));
    without_fault("tasks/list", fault)
}

fn task(task: &Value) -> Fault {
    let status = task.get("status").and_then(Value::as_str);
    let is_known = matches!(
        status,
        Some("working" | "input_required" | "completed" | "failed" | "cancelled")
    );
    value::text(task, "taskId")
        .or_else(|| (!is_known).then(|| format!("`status` is {status:?}")))
        .or_else(|| value::text(task, "createdAt"))
        .or_else(|| value::text(task, "lastUpdatedAt"))
        .or_else(|| {
            task.get("ttl")
                .is_none()
                .then(|| "`ttl` is missing".to_owned())
        })
}

async fn cursor(peer: &mut Peer) -> Judgement {
    needs_list(peer)?;
    let params = json!({ "cursor": "pintle-check-unknown" });
    peer.ask("tasks/list", params).await?.has_code(&[-32602])
}

async fn undeclared(peer: &mut Peer) -> Judgement {
    let tasks = peer.survey.capability("tasks").cloned().unwrap_or_default();
    let mut was_asked = false;
    for (member, method) in [("list", "tasks/list"), ("cancel", "tasks/cancel")] {
        if tasks.get(member).is_none() {
            was_asked = true;
            let params = json!({ "taskId": UNKNOWN });
            peer.ask(method, params).await?.has_code(&[-32601])?;
        }
    }
    match was_asked {
        true => Ok(()),
        false => Err(skipped("every method is declared")),
    }
}

async fn ignored(peer: &mut Peer) -> Judgement {
    let declared = peer.survey.capability("tasks");
    if declared
        .and_then(|tasks| tasks.pointer("/requests/tools/call"))
        .is_some()
    {
        return Err(skipped("the server declares tasks for calls of tools"));
    }
    let survey = std::sync::Arc::clone(&peer.survey);
    let callable = survey.callable(&peer.options);
    let Some((tool, arguments)) = callable.first() else {
        return Err(skipped("no tool may be called; `--tool` allows one"));
    };
    let params =
        json!({ "name": tool.get("name"), "arguments": arguments, "task": { "ttl": 1_000 } });
    let answer = peer.ask("tools/call", params).await?;
    match answer.response.pointer("/result/task") {
        None => Ok(()),
        Some(task) => Err(observed(shown(task))),
    }
}

async fn no_legacy_capability(peer: &mut Peer) -> Judgement {
    match peer.survey.capability("tasks") {
        None => Ok(()),
        Some(tasks) => Err(observed(format!("`tasks` is {}", shown(tasks)))),
    }
}

async fn result_gone(peer: &mut Peer) -> Judgement {
    let params = json!({ "taskId": UNKNOWN, "_meta": with_extension() });
    peer.ask("tasks/result", params).await?.has_code(&[-32601])
}

async fn without_extension(peer: &mut Peer) -> Judgement {
    needs_tasks(peer)?;
    let answer = peer.ask("tasks/get", json!({ "taskId": UNKNOWN })).await?;
    answer.has_code(&[-32021])?;
    let data = answer
        .response
        .pointer("/error/data/requiredCapabilities/extensions");
    ensure(data.is_some_and(|extensions| extensions.get(EXTENSION).is_some()))
}
