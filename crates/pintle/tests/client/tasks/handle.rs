//! Tasks by id: in this process, and in a later one.

use std::sync::{Arc, Mutex};

use pintle::client::{CallError, Client};
use pintle::model::{ErrorCode, TaskStatus};
use pintle::runtime::Answer;
use serde_json::json;
use tokio::time::Instant;

use super::{BOTH, CORE, SECOND, client, create_task, of, yard};
use crate::client::help_desk::{text, within};

fn slow(client: &Client, seconds: u64) -> pintle::client::TaskCall {
    let call = client.call_tool("slow", json!({ "seconds": seconds }));
    call.as_task().ttl(600 * SECOND)
}

// spec: 2025-11-25 TASK-14, TASK-15, TASK-22
// spec: 2026-07-28 X-TASK-18
#[tokio::test(start_paused = true)]
async fn a_task_has_a_name_a_status_and_a_result() {
    for revision in BOTH {
        let client = client(Client::builder(), revision).await;
        let began = Instant::now();
        let task = create_task(slow(&client, 20)).await;
        assert!(began.elapsed() < SECOND, "it is not waited for");
        let last = task.last().expect("it was told");
        assert_eq!(last.status, TaskStatus::Working);
        if revision == CORE {
            assert_eq!(last.ttl, Some(600 * SECOND));
        }
        let changes = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&changes);
        let wait = task.wait().on_change(move |task| {
            hear.lock().expect("no panic").push(task.status.clone());
        });
        let said = within(wait).await.expect("a result");
        assert_eq!(text(&said.content), "after 20 s");
        let seen = changes.lock().expect("no panic").clone();
        assert_eq!(seen, [TaskStatus::Working, TaskStatus::Completed]);
        assert_eq!(task.last().expect("told").status, TaskStatus::Completed);
        let again = within(task.wait()).await.expect("a result");
        assert_eq!(again, said, "it is kept");
    }
}

// spec: 2026-07-28 X-TASK-18, N-STATE-05
#[tokio::test(start_paused = true)]
async fn a_task_is_found_again_after_a_restart() {
    for revision in BOTH {
        let yard = yard();
        let first = of(&yard, Client::builder(), revision).await;
        let id = create_task(slow(&first, 20)).await.id().to_owned();
        within(first.close()).await;
        drop(first);
        let second = of(&yard, Client::builder(), revision).await;
        let task = second.task(&*id);
        assert_eq!((task.id(), task.last()), (id.as_str(), None));
        let now = within(task.refresh()).await.expect("it is there");
        assert_eq!(now.status, TaskStatus::Working);
        let said = within(task.wait()).await.expect("a result");
        assert_eq!(text(&said.content), "after 20 s");
        // The task ended before, so its result is there at once.
        let began = Instant::now();
        within(second.task(id).wait()).await.expect("a result");
        assert!(began.elapsed() < SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_left_open_is_asked_after_a_restart() {
    for revision in BOTH {
        let yard = yard();
        let never = Client::builder().on_elicit(|_| std::future::pending());
        let first = of(&yard, never, revision).await;
        let task = create_task(first.call_tool("ask_first", ()).as_task()).await;
        let wait = tokio::time::timeout(10 * SECOND, task.wait().into_future()).await;
        wait.expect_err("nobody answers");
        within(first.close()).await;
        let builder = Client::builder().on_elicit(|_| async {
            let said = json!({ "colour": "blue" });
            Answer::Accepted(said.as_object().expect("an object").clone())
        });
        let second = of(&yard, builder, revision).await;
        let said = within(second.task(task.id()).wait()).await;
        assert_eq!(text(&said.expect("a result").content), "blue, blue inside");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_was_given_up_asks_anew_and_one_beside_another_does_not() {
    for revision in BOTH {
        let asked = Arc::new(Mutex::new(0));
        let count = Arc::clone(&asked);
        let builder = Client::builder().on_elicit(move |_| {
            *count.lock().expect("no panic") += 1;
            async {
                tokio::time::sleep(5 * SECOND).await;
                Answer::Declined
            }
        });
        let client = client(builder, revision).await;
        let task = create_task(client.call_tool("ask_first", ()).as_task()).await;
        let (one, other) = tokio::join!(within(task.wait()), within(task.wait()));
        assert_eq!(text(&one.expect("a result").content), "left as it is");
        assert_eq!(text(&other.expect("a result").content), "left as it is");
        assert_eq!(*asked.lock().expect("no panic"), 2, "{revision}");
    }
}

// spec: 2025-11-25 TASK-69
// spec: 2026-07-28 X-TASK-27
#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_by_its_name() {
    for revision in BOTH {
        let client = client(Client::builder(), revision).await;
        let task = create_task(slow(&client, 200)).await;
        let waits = tokio::spawn(task.wait().into_future());
        within(client.task(task.id()).cancel())
            .await
            .expect("it is told");
        let ended = within(waits).await.expect("no panic");
        match ended {
            Err(CallError::TaskCancelled { task: id, .. }) => assert_eq!(id, task.id()),
            other => panic!("{other:?}"),
        }
        let now = within(task.refresh()).await.expect("it is kept");
        assert_eq!(now.status, TaskStatus::Cancelled);
        let again = within(task.cancel()).await;
        assert_eq!(again.is_err(), revision == CORE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_goes_on_when_its_handle_and_its_wait_are_dropped() {
    for revision in BOTH {
        let client = client(Client::builder(), revision).await;
        let task = create_task(slow(&client, 20)).await;
        let id = task.id().to_owned();
        let wait = task.wait().total_timeout(5 * SECOND);
        let error = within(wait).await.unwrap_err();
        assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
        let wait = tokio::time::timeout(5 * SECOND, task.wait().into_future());
        wait.await.expect_err("it takes longer");
        drop(task);
        let said = within(client.task(id).wait()).await.expect("a result");
        assert_eq!(text(&said.content), "after 20 s");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_not_there_is_a_typed_error() {
    for revision in BOTH {
        let client = client(Client::builder(), revision).await;
        for error in [
            within(client.task("nothing").refresh()).await.unwrap_err(),
            within(client.task("nothing").wait()).await.unwrap_err(),
            within(client.task("nothing").cancel()).await.unwrap_err(),
        ] {
            let code = error.answer().expect("an answer").code;
            assert_eq!(code, ErrorCode::INVALID_PARAMS);
        }
        let task = create_task(slow(&client, 1)).await;
        tokio::time::sleep(700 * SECOND).await;
        assert!(within(task.wait()).await.is_err(), "it is kept no longer");
    }
}

// spec: 2025-11-25 TASK-62
#[tokio::test(start_paused = true)]
async fn tasks_are_listed_where_they_can_be() {
    let core = client(Client::builder(), CORE).await;
    let (one, other) = (
        create_task(slow(&core, 5)).await,
        create_task(slow(&core, 5)).await,
    );
    let listed = within(core.list_tasks()).await.expect("a list").items;
    let mut ids: Vec<_> = listed.iter().map(|task| task.task_id.as_str()).collect();
    let mut expected = [one.id(), other.id()];
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected);
    let modern = client(Client::builder(), BOTH[1]).await;
    let error = within(modern.list_tasks()).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent { .. }), "{error}");
}
