//! The servers that the page shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pintle_client::{Client, InProcess};
use pintle_proto::{TransportError, TransportErrorKind};
use pintle_runtime::{BoxConnect, BoxFuture, BoxTransport, Connect};
use pintle_showcase::ShowcaseOptions;
use pintle_tap::Mock;
use pintle_web::{
    Judge, OneTarget, RecordingText, ServerOutput, SignInSteps, Target, TargetError, TargetName,
    Targets,
};
use serde_json::json;

/// Markup in each text that a server controls.
const HOSTILE: &str = r#"
name = "<img src=x onerror='window.hacked=1'>"

[[tool]]
name = "markup"
description = "<script>window.hacked=2</script><b>bold</b><iframe src='javascript:window.hacked=3'></iframe>"
text = "<img src=x onerror='window.hacked=4'><script>window.hacked=5</script>"

[[tool]]
name = "rows"
description = "</p><h1>Another page</h1>"
structured = { "<b onclick='window.hacked=6'>key</b>" = "<img src=x onerror='window.hacked=7'>", list = [{ "<i>a</i>" = "<svg onload='window.hacked=8'>" }] }

[[tool]]
name = "ask"
text = "<i>done</i>"

[tool.question]
message = "<img src=x onerror='window.hacked=9'>"
fields = { reason = { type = "string", title = "<u>reason</u>", description = "<script>window.hacked=10</script>" } }

[[tool]]
name = "broken"
title = "<i>Broken</i>"
input_schema = { type = "object" }
error = "<img src=x onerror='window.hacked=12'>"

[[prompt]]
name = "letter"
description = "<img src=x onerror='window.hacked=13'>"
arguments = ["<b>to</b>"]
text = "<script>window.hacked=14</script>"

[[resource]]
uri = "note://<b>today</b>"
text = "<script>window.hacked=11</script>"
"#;

/// A server with everything that a target can add to the page.
pub struct Everything {
    target: Target,
    texts: Texts,
    /// Whether the first connection requires a sign-in.
    is_guarded: bool,
    is_signed_in: Arc<AtomicBool>,
    recording: Option<RecordingText>,
}

/// Texts of reports, as a server could choose them.
#[derive(Clone, Copy)]
struct Texts {
    word: &'static str,
    output: &'static str,
}

const PLAIN: Texts = Texts {
    word: "plain",
    output: "the tools are read",
};

const MARKUP: Texts = Texts {
    word: "<img src=x onerror='window.hacked=20'>",
    output: "<script>window.hacked=21</script>",
};

impl Everything {
    fn new(target: OneTarget, texts: Texts) -> Self {
        let mut target = Target::from(target);
        let output = ServerOutput::default();
        target.output = Some(output.clone());
        target.judge = Some(Arc::new(Reports(texts, output)));
        Self {
            target,
            texts,
            is_guarded: false,
            is_signed_in: Arc::default(),
            recording: None,
        }
    }

    /// Requires a sign-in.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.is_guarded = true;
        self
    }

    /// Opens a recording at the start of the page.
    #[must_use]
    pub fn with_recording(mut self, text: &str) -> Self {
        self.recording = Some(RecordingText::new("session.jsonl", text));
        self
    }
}

impl Targets for Everything {
    fn names(&self) -> Vec<TargetName> {
        let label = &self.target.label;
        vec![TargetName::new(label, label).given()]
    }

    fn find<'t>(&'t self, _: &'t str) -> BoxFuture<'t, Result<Target, TargetError>> {
        let needs_sign_in = self.is_guarded && !self.is_signed_in.load(Ordering::SeqCst);
        let mut target = self.target.clone();
        if needs_sign_in {
            target.connect = BoxConnect::new(Guarded);
        }
        Box::pin(async move { Ok(target) })
    }

    fn can_sign_in(&self) -> bool {
        true
    }

    fn sign_in<'t>(
        &'t self,
        _: &'t str,
        steps: SignInSteps,
    ) -> BoxFuture<'t, Result<(), TargetError>> {
        Box::pin(async move {
            let url = format!("https://issuer.example/authorize?hint={}", self.texts.word);
            steps.code(self.texts.word, &url, self.texts.output);
            // The user is at the page of the issuer for a moment.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            self.is_signed_in.store(true, Ordering::SeqCst);
            Ok(())
        })
    }

    fn recording(&self) -> Option<&RecordingText> {
        self.recording.as_ref()
    }
}

/// A server that requires a sign-in.
struct Guarded;

impl Connect for Guarded {
    type Transport = BoxTransport;

    async fn connect(&self) -> Result<BoxTransport, TransportError> {
        Err(TransportError::new(TransportErrorKind::Unauthorized(401)))
    }
}

struct Reports(Texts, ServerOutput);

impl Judge for Reports {
    fn check(&self) -> BoxFuture<'_, Result<String, TargetError>> {
        let word = self.0.word;
        let finding = |check: &str, verdict: &str, revision: &str| {
            json!({
                "check": check, "revision": revision, "carrier": "stdio", "level": "must",
                "requirements": ["N-PING-01"], "verdict": verdict, "reason": word, "sent": word,
                "came": word, "expected": word, "page": word,
            })
        };
        let findings = json!([
            finding("ping", "passed", "2025-11-25"),
            finding("ping", "skipped", "2026-07-28"),
            finding("answers-once", "failed", "2025-11-25"),
            finding("answers-once", "failed", "2026-07-28"),
        ]);
        let revisions = ["2025-11-25", "2026-07-28"];
        let report = json!({
            "name": word, "carrier": "stdio", "revisions": revisions, "findings": findings,
        });
        Box::pin(async move { Ok(report.to_string()) })
    }

    fn lint<'j>(&'j self, client: &'j Client) -> BoxFuture<'j, Result<String, TargetError>> {
        Box::pin(async {
            let tools = client.list_tools().await.expect("tools");
            self.1.line(self.0.output);
            let word = self.0.word;
            let findings = tools.items.iter().map(|tool| {
                json!({
                    "id": "every-host", "severity": "error", "host": null, "limit": word, "fix": word,
                    "source": word, "tool": tool.name, "pointer": "/name", "found": word,
                })
            });
            Ok(json!({ "findings": findings.collect::<Vec<_>>() }).to_string())
        })
    }
}

/// Returns the showcase as the only server.
///
/// # Panics
///
/// If it does not start.
pub async fn showcase() -> Everything {
    let service = pintle_showcase::service(ShowcaseOptions::default()).await;
    let service = Arc::new(service.expect("the showcase starts"));
    let target = Target::new("showcase", BoxConnect::new(InProcess::new(service)));
    Everything::new(target.into(), PLAIN)
}

/// Returns a server with markup in all of its texts.
///
/// # Panics
///
/// If its description is not valid.
pub fn hostile() -> Everything {
    let mock: Mock = HOSTILE.parse().expect("a description");
    let target = OneTarget::new("hostile", mock.server()).expect("a server");
    Everything::new(target, MARKUP)
}
