use std::time::Duration;

use serde_json::json;

use super::*;
use crate::{Error, JsonObject, TaskMetadata};

// spec: 2025-11-25 TASK-36, TASK-37
// spec: 2026-07-28 X-TASK-13
#[test]
fn a_task_that_ended_stays_as_it_ended() {
    for ended in [
        TaskStatus::Completed,
        TaskStatus::Failed,
        TaskStatus::Cancelled,
    ] {
        assert!(ended.is_terminal());
        assert!(!ended.may_become(&TaskStatus::Working));
    }
    assert!(TaskStatus::Working.may_become(&TaskStatus::InputRequired));
    assert!(TaskStatus::InputRequired.may_become(&TaskStatus::Working));
}

// spec: 2025-11-25 TASK-47, AMB-88
#[test]
fn how_long_a_task_is_kept_is_always_written() {
    let task = Task::new("t", "2025-11-25T00:00:00Z");
    let wire = serde_json::to_value(&task).unwrap();

    assert_eq!(wire["ttl"], json!(null));
    assert_eq!(serde_json::from_value::<Task>(wire).unwrap(), task);
}

// spec: 2025-11-25 AMB-01
#[test]
fn spans_are_read_from_any_number_and_written_as_integers() {
    let metadata: TaskMetadata = serde_json::from_value(json!({"ttl": 60000.5})).unwrap();

    assert_eq!(metadata, TaskMetadata::with_ttl(Duration::from_secs(60)));
    assert_eq!(
        serde_json::to_value(&metadata).unwrap(),
        json!({"ttl": 60000})
    );
}

// spec: 2026-07-28 X-TASK-08, X-TASK-16
#[test]
fn a_detailed_task_is_flat_and_has_the_members_of_its_status() {
    let handle = TaskHandle::new("t", "2026-07-28T00:00:00Z");
    let failed = DetailedTask::failed(handle.clone(), Error::invalid_params("no"));
    let wire = serde_json::to_value(&failed).unwrap();

    assert_eq!(wire["taskId"], "t");
    assert_eq!(wire["status"], "failed");
    assert_eq!(wire["error"]["code"], -32602);
    assert_eq!(
        serde_json::from_value::<DetailedTask>(wire).unwrap(),
        failed
    );
    assert_eq!(
        DetailedTask::completed(handle, JsonObject::new())
            .handle
            .status,
        TaskStatus::Completed
    );
}

#[test]
fn both_faces_show_the_same_task() {
    let mut handle = TaskHandle::new("t", "2026-07-28T00:00:00Z");
    handle.poll_interval = Some(Duration::from_millis(250));
    let task = Task::from(handle.clone());

    assert_eq!(serde_json::to_value(&task).unwrap()["pollInterval"], 250);
    assert_eq!(
        serde_json::to_value(&handle).unwrap()["pollIntervalMs"],
        250
    );
    assert_eq!(TaskHandle::from(task), handle);
}
