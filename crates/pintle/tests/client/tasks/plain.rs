//! Plain calls: their caller need not handle tasks.

use std::sync::{Arc, Mutex};

use pintle::client::{CallError, Client, EraMode, InProcess};
use pintle::model::{ErrorCode, TaskStatus};
use pintle::runtime::Answer;
use serde_json::json;
use tokio::time::Instant;

use super::{BOTH, CORE, SECOND, client, of, yard};
use crate::client::help_desk::{modes, text, within};

// spec: 2025-11-25 TASK-20, TASK-26
// spec: 2026-07-28 X-TASK-04, X-TASK-17, X-TASK-18, X-TASK-37, X-TASK-39
#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_is_a_call_in_every_revision() {
    for mode in modes() {
        let client = within(Client::builder().mode(mode).connect(InProcess::new(yard()))).await;
        let client = client.expect("a server");
        let began = Instant::now();
        let said = within(client.call_tool("slow", json!({ "seconds": 20 }))).await;
        let took = began.elapsed();
        assert_eq!(text(&said.expect("a result").content), "after 20 s");
        assert!(took <= 22 * SECOND, "{mode:?}: {took:?}");
    }
}

// spec: 2025-11-25 TASK-12, TASK-13
#[tokio::test(start_paused = true)]
async fn a_tool_that_requires_a_task_is_called_as_one_without_a_list() {
    for revision in BOTH {
        for is_listed in [false, true] {
            let client = client(Client::builder(), revision).await;
            if is_listed {
                within(client.list_tools()).await.expect("a list");
            }
            let said = within(client.call_tool("paint", ())).await;
            assert_eq!(text(&said.expect("a result").content), "painted");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_tasks_a_call_waits_and_a_tool_that_requires_one_is_refused() {
    let builder = Client::builder().without_tasks();
    let client = client(builder, BOTH[1]).await;
    let said = within(client.call_tool("slow", json!({ "seconds": 20 }))).await;
    assert_eq!(text(&said.expect("a result").content), "after 20 s");
    let error = within(client.call_tool("paint", ())).await.unwrap_err();
    let code = error.answer().expect("an answer").code;
    assert_eq!(code, ErrorCode::MISSING_CLIENT_CAPABILITY);
}

// spec: 2025-11-25 TASK-40
// spec: 2026-07-28 X-TASK-22, X-TASK-23
#[tokio::test(start_paused = true)]
async fn questions_of_a_task_are_answered_once_by_the_same_handlers() {
    for revision in BOTH {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&asked);
        let builder = Client::builder().on_elicit(move |form| {
            hear.lock().expect("no panic").push(form.message);
            async {
                tokio::time::sleep(30 * SECOND).await;
                let said = json!({ "colour": "red" });
                Answer::Accepted(said.as_object().expect("an object").clone())
            }
        });
        let client = client(builder, revision).await;
        let said = within(client.call_tool("ask_first", ()).as_task()).await;
        let said = within(said.expect("begun").result()).await;
        assert_eq!(text(&said.expect("a result").content), "red, red inside");
        let asked = asked.lock().expect("no panic");
        assert_eq!(*asked, ["Which colour?", "And inside?"], "{revision}");
    }
}

// spec: 2025-11-25 TASK-70
#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_in_a_task_reports_its_error() {
    for revision in BOTH {
        let client = client(Client::builder(), revision).await;
        let began = client.call_tool("fail_slowly", ()).as_task();
        let said = within(within(began).await.expect("begun").result()).await;
        let said = said.expect("a result");
        assert!(said.has_failed());
        assert_eq!(text(&said.content), "out of paint");
    }
}

// spec: 2025-11-25 PROG-10, PROG-11
#[tokio::test(start_paused = true)]
async fn progress_of_a_call_that_became_a_task_arrives() {
    let progress = Arc::new(Mutex::new(Vec::new()));
    for is_waited_for in [false, true] {
        let observer = Arc::clone(&progress);
        let hear = move |progress: pintle::model::ProgressParams| {
            observer.lock().expect("no panic").push(progress.progress);
        };
        let client = client(Client::builder(), CORE).await;
        let call = client.call_tool("paint", ());
        let said = match is_waited_for {
            true => {
                let task = super::create_task(call.on_progress(|_| {}).as_task()).await;
                within(task.wait().on_progress(hear)).await
            }
            false => within(call.on_progress(hear)).await,
        };
        assert_eq!(text(&said.expect("a result").content), "painted");
        let progress = std::mem::take(&mut *progress.lock().expect("no panic"));
        assert_eq!(progress, [1.0, 2.0, 3.0]);
    }
}

// spec: 2025-11-25 CANC-04, CANC-05, TIME-02
#[tokio::test(start_paused = true)]
async fn an_abandoned_task_is_cancelled() {
    let yard = yard();
    let client = of(&yard, Client::builder(), CORE).await;
    within(client.list_tools()).await.expect("a list");
    let waited = tokio::time::timeout(SECOND, client.call_tool("paint", ()).into_future()).await;
    waited.expect_err("it takes longer");
    let late = within(client.call_tool("paint", ()).total_timeout(2 * SECOND)).await;
    assert!(
        matches!(&late, Err(CallError::TimedOut { timeout, .. }) if *timeout == 2 * SECOND),
        "{late:?}"
    );
    let tasks = within(client.list_tasks()).await.expect("a list").items;
    let statuses: Vec<_> = tasks.into_iter().map(|task| task.status).collect();
    assert_eq!(statuses, [TaskStatus::Cancelled, TaskStatus::Cancelled]);
}

// spec: 2025-11-25 TASK-11
#[tokio::test(start_paused = true)]
async fn a_call_that_cannot_be_a_task_is_one_as_any_other() {
    for mode in modes() {
        let client = within(Client::builder().mode(mode).connect(InProcess::new(yard()))).await;
        let client = client.expect("a server");
        let start = within(client.call_tool("quick", ()).as_task()).await;
        let start = start.expect("a result");
        assert!(start.task().is_none(), "{mode:?}");
        let said = within(start.result()).await.expect("a result");
        assert_eq!(text(&said.content), "quick");
    }
    let client = client(Client::builder(), CORE).await;
    let error = within(client.call_tool("nothing", ()).as_task()).await;
    assert!(error.unwrap_err().answer().is_some());
    let auto = within(
        Client::builder()
            .mode(EraMode::Auto)
            .connect(InProcess::new(yard())),
    )
    .await;
    within(auto.expect("a server").call_tool("paint", ()))
        .await
        .expect("a result");
}
