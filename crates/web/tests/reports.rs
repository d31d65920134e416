//! What targets add to the page: judgements, sign-ins, recordings, standard error.

use std::sync::Arc;
use std::time::Duration;

use pintle_client::{Client, InProcess};
use pintle_runtime::{BoxConnect, BoxFuture};
use pintle_showcase::ShowcaseOptions;
use pintle_web::{
    Judge, RecordingText, ServerOutput, SignInSteps, Target, TargetError, TargetName, Targets,
    WebOptions,
};
use serde_json::json;
use tokio::sync::Notify;

use crate::browser::Browser;

/// A server with everything that targets can add. A sign-in and a check wait for `go`.
struct Everything {
    target: Target,
    recording: RecordingText,
    go: Arc<Notify>,
}

struct Reports(Arc<Notify>);

impl Judge for Reports {
    fn check(&self) -> BoxFuture<'_, Result<String, TargetError>> {
        Box::pin(async {
            self.0.notified().await;
            Ok("{\"findings\":[]}".to_owned())
        })
    }

    fn lint<'j>(&'j self, client: &'j Client) -> BoxFuture<'j, Result<String, TargetError>> {
        Box::pin(async {
            let tools = client.list_tools().await.expect("tools");
            match tools.items.is_empty() {
                true => Err(TargetError::new("there are no tools")),
                false => Ok("{\"findings\":[]}".to_owned()),
            }
        })
    }
}

impl Targets for Everything {
    fn names(&self) -> Vec<TargetName> {
        vec![TargetName::new("all", "all")]
    }

    fn find<'t>(&'t self, _: &'t str) -> BoxFuture<'t, Result<Target, TargetError>> {
        Box::pin(async { Ok(self.target.clone()) })
    }

    fn can_sign_in(&self) -> bool {
        true
    }

    fn sign_in<'t>(
        &'t self,
        name: &'t str,
        steps: SignInSteps,
    ) -> BoxFuture<'t, Result<(), TargetError>> {
        Box::pin(async move {
            if name != "all" {
                return Err(TargetError::new("no sign-in").with_hint("none"));
            }
            steps.visit(
                "https://issuer.example",
                "https://issuer.example/authorize?state=1",
            );
            self.go.notified().await;
            Ok(())
        })
    }

    fn recording(&self) -> Option<&RecordingText> {
        Some(&self.recording)
    }
}

async fn page() -> (Browser, Arc<Notify>, ServerOutput) {
    let service = pintle_showcase::service(ShowcaseOptions::default()).await;
    let service = Arc::new(service.expect("starts"));
    let mut target = Target::new("all", BoxConnect::new(InProcess::new(service)));
    let (go, output) = (Arc::new(Notify::new()), ServerOutput::default());
    target.judge = Some(Arc::new(Reports(Arc::clone(&go))));
    target.output = Some(output.clone());
    let targets = Everything {
        target,
        recording: RecordingText::new("a.jsonl", "{}\n"),
        go: Arc::clone(&go),
    };
    let browser = Browser::open(targets, WebOptions::default()).await;
    (browser, go, output)
}

async fn connected() -> (Browser, Arc<Notify>, ServerOutput) {
    let page = page().await;
    let shown = page.0.post("connect", json!({ "target": "all" })).await;
    assert_eq!(shown["canJudge"], true, "{shown}");
    page
}

#[tokio::test]
async fn the_server_is_judged_on_request() {
    let (browser, go, _) = connected().await;
    go.notify_one();
    let report = browser.post("check", json!({})).await;
    assert_eq!(report, json!({ "result": { "findings": [] } }));
    let report = browser.post("lint", json!({})).await;
    assert_eq!(report, json!({ "result": { "findings": [] } }));
}

#[tokio::test]
async fn one_check_runs_at_a_time() {
    let (browser, _go, _) = connected().await;
    let first = browser
        .begin("POST", "/api/check", &browser.headers(), "{}")
        .await;
    let status = loop {
        let second = browser
            .send("POST", "/api/lint", &browser.headers(), "{}")
            .await;
        if second.status == 429 {
            break second.status;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(status, 429);
    // A page that goes away ends the check.
    drop(first);
    let judged = async {
        let headers = browser.headers();
        while browser
            .send("POST", "/api/lint", &headers, "{}")
            .await
            .status
            != 200
        {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), judged).await;
    ended.expect("the check has ended");
}

#[tokio::test]
async fn a_sign_in_shows_its_steps_in_the_page() {
    let (browser, go, _) = page().await;
    let state = browser.post("state", json!({})).await;
    assert_eq!(state["canSignIn"], true);
    let body = json!({ "op": 7, "target": "all" });
    let visited = async {
        let step = browser.event("signIn", 0).await;
        assert_eq!(
            (&step["op"], &step["issuer"]),
            (&json!(7), &json!("https://issuer.example"))
        );
        go.notify_one();
    };
    let (signed_in, ()) = tokio::join!(browser.post("sign-in", body), visited);
    assert_eq!(signed_in, json!({ "result": null }));
    let other = json!({ "op": 8, "target": "other" });
    let failed = browser.post("sign-in", other).await;
    let error = &failed["error"];
    assert_eq!(
        (&error["messages"][0], &error["hint"]),
        (&json!("no sign-in"), &json!("none"))
    );
}

#[tokio::test]
async fn targets_without_a_sign_in_reject_it() {
    let browser = Browser::showcase(WebOptions::default()).await;
    let body = json!({ "op": 1, "target": "showcase" });
    let failed = browser.post("sign-in", body).await;
    assert_eq!(
        failed["error"]["messages"][0],
        "there is no sign-in for \"showcase\" here"
    );
    let recording = browser
        .send("POST", "/api/recording", &browser.headers(), "{}")
        .await;
    assert_eq!(recording.status, 404);
    browser.connect("2026-07-28").await;
    let failed = browser.post("check", json!({})).await;
    assert_eq!(
        failed["error"]["messages"][0],
        "this server cannot be checked here"
    );
}

#[tokio::test]
async fn a_recording_of_the_targets_is_passed_on() {
    let (browser, ..) = page().await;
    assert_eq!(
        browser.post("state", json!({})).await["recording"],
        "a.jsonl"
    );
    let recording = browser.post("recording", json!({})).await;
    assert_eq!(recording, json!({ "name": "a.jsonl", "text": "{}\n" }));
}

#[tokio::test]
async fn lines_of_standard_error_are_events() {
    let (browser, _, output) = connected().await;
    output.line("it starts");
    assert_eq!(browser.event("stderr", 0).await["text"], "it starts");
}

#[tokio::test]
async fn a_measurement_has_a_connection_of_its_own() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let browser = Browser::showcase(WebOptions::default()).await;
        browser.connect(revision).await;
        let body = json!({ "op": 1, "name": "vessels", "calls": 20, "callers": 3 });
        let measured = browser.post("bench", body).await;
        let result = &measured["result"];
        assert_eq!(
            (&result["calls"], &result["concurrency"]),
            (&json!(20), &json!(3)),
            "{measured}"
        );
        assert!(
            result["microseconds"]["p50"].as_f64() > Some(0.0),
            "{measured}"
        );
        let page = browser.post("events", json!({ "after": 0 })).await;
        assert!(!page.to_string().contains("tools/call"), "{page}");
        let unknown = json!({ "op": 1, "name": "none", "calls": 20, "callers": 3 });
        assert!(browser.post("bench", unknown).await["error"].is_object());
    }
}
