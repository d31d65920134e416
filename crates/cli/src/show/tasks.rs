//! Tasks of a server.

use pintle::model::Task;
use serde_json::Value;

use crate::page::{Page, Row};
use crate::screen::Look;

/// Lists tasks: the id, the state and the last message of each.
pub(crate) fn tasks(all: &[Task], look: Look) -> String {
    let mut page = Page::new(look);
    let rows = all
        .iter()
        .map(|task| Row::new(&task.task_id, summary(task)));
    page.rows(0, &rows.collect::<Vec<_>>());
    page.into_text()
}

/// Shows one task like a list of one.
pub(crate) fn task(task: &Task, look: Look) -> String {
    tasks(std::slice::from_ref(task), look)
}

fn summary(task: &Task) -> String {
    let status = serde_json::to_value(&task.status).unwrap_or(Value::Null);
    let mut text = status.as_str().unwrap_or_default().to_owned();
    if let Some(message) = &task.status_message {
        text.push_str(": ");
        text.push_str(message);
    }
    text
}
