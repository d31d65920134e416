//! Calls and their outcomes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use pintle::client::{CallError, Client, EraMode};
use pintle::model::{CompleteParams, CompletionReference, ErrorCode, LoggingLevel, Revision};
use serde_json::json;

use crate::client::help_desk::{client, connect, modes, text, within};

// spec: 2026-07-28 N-BASE-11, N-VER-09 (client versions)
#[tokio::test(start_paused = true)]
async fn a_tool_is_called_in_every_revision() {
    for mode in modes() {
        let client = client(mode).await;
        let sum = within(client.call_tool("add", json!({ "a": 1, "b": 2 }))).await;
        assert_eq!(text(&sum.expect("a result").content), "3");
        let failed = within(client.call_tool("fail", ()))
            .await
            .expect("a result");
        assert!(failed.has_failed());
        let error = within(client.call_tool("no-such", ())).await.unwrap_err();
        assert_eq!(
            error.answer().expect("an answer").code,
            ErrorCode::INVALID_PARAMS
        );
        let error = within(client.call_tool("add", [1])).await.unwrap_err();
        assert!(matches!(error, CallError::InvalidParams { .. }), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn resources_prompts_and_completions_are_there_in_every_revision() {
    for mode in modes() {
        let client = client(mode).await;
        let hours = within(client.read_resource("desk://hours"))
            .await
            .expect("a resource");
        assert_eq!(hours.contents.len(), 1);
        assert!(
            within(client.read_resource("desk://no"))
                .await
                .unwrap_err()
                .answer()
                .is_some()
        );
        let prompt = within(client.get_prompt("triage", json!({ "case": "x" }))).await;
        assert_eq!(prompt.expect("a prompt").messages.len(), 1);
    }
}

// spec: 2025-11-25 LIFE-17, PROM-11 (client), GEN-05 (client asks), LIFE-23
#[tokio::test(start_paused = true)]
async fn a_request_without_the_server_capability_is_not_sent() {
    let client = client(EraMode::Auto).await;
    let reference = CompletionReference::prompt("triage");
    let params = CompleteParams::new(reference, "case", "x");
    let error = within(client.complete(params)).await.unwrap_err();
    assert!(matches!(error, CallError::NotSent { .. }), "{error}");
}

// spec: 2025-11-25 PROG-01, PROG-05
// spec: 2026-07-28 N-PROG-02
#[tokio::test(start_paused = true)]
async fn progress_arrives_in_order_before_the_result() {
    for mode in modes() {
        let client = client(mode).await;
        let progress = Arc::new(Mutex::new(Vec::new()));
        let observer = Arc::clone(&progress);
        let call = client
            .call_tool("steps", json!({ "n": 4 }))
            .on_progress(move |progress| {
                observer.lock().expect("no panic").push(progress.progress)
            });
        within(call).await.expect("a result");
        assert_eq!(*progress.lock().expect("no panic"), [1.0, 2.0, 3.0, 4.0]);

        let mut running = client.call_tool("steps", json!({ "n": 3 })).start();
        let mut taken = Vec::new();
        while let Some(progress) = within(running.progress()).await {
            taken.push(progress.progress);
        }
        assert_eq!(taken, [1.0, 2.0, 3.0]);
        assert_eq!(
            text(&within(running).await.expect("a result").content),
            "done"
        );
    }
}

// spec: 2025-11-25 TIME-01, TIME-02, TIME-03
// spec: 2026-07-28 N-CANC-12
// hardening: H-170
#[tokio::test(start_paused = true)]
async fn a_call_waits_as_long_as_its_caller() {
    for mode in modes() {
        let client = client(mode).await;
        let wait = Duration::from_secs(2);
        let error = within(client.call_tool("hang", ()).timeout(wait))
            .await
            .unwrap_err();
        let CallError::TimedOut { timeout, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(timeout, wait);
        let error = within(client.call_tool("hang", ()).total_timeout(wait)).await;
        assert!(matches!(error, Err(CallError::TimedOut { .. })));
        let error = within(client.call_tool("hang", ())).await.unwrap_err();
        assert!(error.to_string().ends_with("60s"), "{error}");
        within(client.ping()).await.expect("it is still there");
    }
}

// spec: 2026-07-28 N-STATE-02
#[tokio::test(start_paused = true)]
async fn many_calls_go_at_once() {
    let client = client(EraMode::Auto).await;
    let calls: Vec<_> = (0..100)
        .map(|n| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("add", json!({ "a": n, "b": 0 })).await })
        })
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        let sum = within(call).await.expect("no panic").expect("a result");
        assert_eq!(text(&sum.content), n.to_string());
    }
}

// spec: 2026-07-28 N-LOG-02
// spec: 2025-11-25 LOG-02
#[tokio::test(start_paused = true)]
async fn logs_come_from_the_level_on_that_was_asked_for() {
    for mode in modes() {
        let progress = Arc::new(Mutex::new(Vec::new()));
        let observer = Arc::clone(&progress);
        let builder = Client::builder()
            .on_log(move |message| observer.lock().expect("no panic").push(message.level));
        let client = connect(builder, mode).await;
        within(client.set_level(LoggingLevel::Warning))
            .await
            .expect("a level");
        within(client.call_tool("loud", ()))
            .await
            .expect("a result");
        // The log was sent before the answer, so its handler has run.
        within(client.ping()).await.expect("it is there");
        assert_eq!(
            *progress.lock().expect("no panic"),
            [LoggingLevel::Error],
            "{mode:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_that_the_revision_lacks_is_not_sent() {
    let client = client(EraMode::Pinned(Revision::LATEST)).await;
    let call = client.request_raw("logging/setLevel", Default::default());
    assert!(matches!(within(call).await, Err(CallError::NotSent { .. })));
}
