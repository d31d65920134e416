//! A server over HTTP that is broken in one place. The check of this place fails.

use pintle_check::{CheckOptions, Target, Verdict, check, checks};
use pintle_http::client::{HttpClientOptions, WebClient};
use pintle_model::Revision;
use pintle_testkit::fake_http::{FakeServer, SeenRequest};

use crate::toy_http::{Response, Site, result};

type Break = fn(&SeenRequest, &mut Response);

fn target(breaks: Break) -> Target {
    let site = Site::default();
    let server = FakeServer::new(move |seen, _| {
        let mut response = site.respond(seen);
        breaks(seen, &mut response);
        response.render()
    });
    let client = WebClient::over(server, &HttpClientOptions::default());
    Target::http_over("http://127.0.0.1/mcp", client).expect("a URL")
}

#[tokio::test(start_paused = true)]
async fn the_toy_passes_every_check_over_http() {
    let report = check(&target(|_, _| {}), CheckOptions::default()).await;
    let report = report.expect("judged");
    assert_eq!(report.revisions, Revision::ALL, "{:?}", report.not_served);
    assert!(report.failures().is_empty(), "{:#?}", report.failures());
    assert!(
        report.requirements().len() >= 300,
        "{}",
        report.requirements().len()
    );
}

#[tokio::test(start_paused = true)]
async fn a_later_revision_is_not_judged_by_event_ids_of_a_handshake() {
    let mut options = CheckOptions::default();
    options.revisions = vec![M];
    let target = target(|seen, it| {
        if seen.is("initialize") {
            it.stream = Some(vec!["0".to_owned()]);
        }
    });
    let report = check(&target, options).await.expect("judged");
    let mut failures = report.failures().into_iter();
    assert!(!failures.any(|failure| failure.check == "http-stream-ids"));
}

/// Answers a rejected request with a result.
fn serves(seen: &SeenRequest, response: &mut Response) {
    if response.status >= 400 && seen.verb == "POST" {
        *response = Response::new(200, vec![result(seen)]);
    }
}

fn one<'s>(seen: &'s SeenRequest, name: &str) -> &'s str {
    let mut found = seen.headers.iter().filter(|(own, _)| own == name);
    found.next().map_or("", |(_, value)| value.as_str())
}

fn mentions(seen: &SeenRequest, name: &str) -> bool {
    seen.headers.iter().any(|(own, _)| own == name)
}

const L: Revision = Revision::LATEST_LEGACY;
const M: Revision = Revision::LATEST;

fn rows() -> Vec<(&'static str, Revision, Break)> {
    let mut rows = messages();
    rows.extend(headers());
    rows.extend(sessions());
    rows
}

fn messages() -> Vec<(&'static str, Revision, Break)> {
    vec![
        ("version-unsupported-status", M, |_, it| it.status = 200),
        ("meta-status", M, |_, it| it.status = 200),
        ("method-unknown-status", M, |_, it| it.status = 200),
        ("json-invalid", M, |_, it| it.status = 200),
        ("json-invalid", L, |_, it| it.status = 200),
        ("notification-accepted", L, |_, it| {
            if it.status == 202 {
                it.status = 200;
            }
        }),
        ("notification-accepted", M, |_, it| {
            if it.status == 202 {
                it.text = Some("null".to_owned());
            }
        }),
        ("http-post", L, |seen, it| {
            if seen.is("ping") {
                it.status = 201;
            }
        }),
        ("http-response-type", L, |seen, it| {
            if seen.is("prompts/list") {
                it.set("content-type", "text/plain");
            }
        }),
        ("http-get", L, |seen, it| {
            if seen.verb == "GET" {
                *it = Response::new(200, Vec::new());
            }
        }),
        ("http-get-without-response", L, |seen, it| {
            if seen.verb == "GET" {
                let response = |id| serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": {} });
                it.status = 200;
                it.messages = (0..64).map(response).collect();
                it.stream = Some(Vec::new());
                it.ends = false;
            }
        }),
        ("http-get-modern", M, |seen, it| {
            if seen.is("initialize") {
                *it = Response::new(400, Vec::new());
            }
            if seen.verb == "GET" {
                it.status = 404;
            }
        }),
        ("http-method-unknown", L, |seen, it| {
            if seen.verb == "PUT" {
                *it = Response::new(200, vec![result(seen)]);
            }
        }),
        ("http-content-type", L, |seen, it| {
            if one(seen, "content-type") == "text/plain" {
                serves(seen, it);
            }
        }),
        ("http-stream-ends", L, |_, it| it.ends = false),
        ("http-stream-ends", M, |_, it| it.ends = false),
        ("http-stream-buffering", M, |_, it| {
            it.headers.retain(|(name, _)| name != "x-accel-buffering")
        }),
        ("http-stream-ids", M, |_, it| {
            if let Some(ids) = &mut it.stream {
                ids.push("1".to_owned());
            }
        }),
        ("http-event-ids-unique", L, |seen, it| {
            if seen.is("ping") {
                it.stream = Some(vec!["1".to_owned()]);
            }
        }),
        ("http-resume-own-stream", L, |seen, it| {
            if mentions(seen, "last-event-id") {
                let response = |id| serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": {} });
                *it = Response::new(200, (0..64).map(response).collect());
                it.stream = Some(Vec::new());
                it.ends = false;
            }
        }),
        ("http-stream-has-response", L, |seen, it| {
            if seen.is("tools/list") {
                it.messages.clear();
            }
        }),
        ("task-get-json", L, |seen, it| {
            let answered = std::mem::take(&mut it.messages);
            it.messages = crate::broken::tasks::with_tasks(&seen.json(), answered);
            if seen.is("tasks/get") {
                it.stream = Some(Vec::new());
            }
        }),
        ("listen-quiet", M, |seen, it| {
            if seen.is("subscriptions/listen") {
                it.messages.push(
                    serde_json::json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                    "params": { "progressToken": "listen-7-progress", "progress": 1 } }),
                );
            }
        }),
        ("http-error-bodies", L, |_, it| {
            if it.status >= 400 {
                it.text = Some("thread panicked at src/main.rs:5".to_owned());
            }
        }),
        ("listen-stream", M, |seen, it| {
            if seen.is("subscriptions/listen") {
                it.stream = None;
            }
        }),
        ("capability-required-status", M, |seen, it| {
            if seen.is("tools/call") {
                it.messages = vec![crate::toy::error(&seen.id(), -32021, serde_json::json!({}))];
            }
        }),
        ("header-large", L, |seen, it| {
            if mentions(seen, "x-pintle-check") {
                BROKEN.store(true, std::sync::atomic::Ordering::SeqCst);
            }
            if BROKEN.load(std::sync::atomic::Ordering::SeqCst) {
                *it = Response::new(503, Vec::new());
            }
        }),
    ]
}

static BROKEN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

fn headers() -> Vec<(&'static str, Revision, Break)> {
    vec![
        ("header-version-mismatch", M, serves),
        ("header-version-missing", M, |seen, it| {
            if seen.is("initialize") {
                *it = Response::new(400, Vec::new());
            } else if !mentions(seen, "mcp-protocol-version") {
                *it = Response::new(200, vec![result(seen)]);
            }
        }),
        ("header-method-missing", M, serves),
        ("header-method-mismatch", M, |_, it| it.status = 200),
        ("header-name-missing", M, serves),
        ("header-name-mismatch", M, serves),
        ("header-name-encoded", M, |seen, it| {
            if one(seen, "mcp-name").starts_with("=?") {
                it.messages = vec![crate::toy::error(
                    &seen.id(),
                    -32020,
                    serde_json::json!(null),
                )];
            }
        }),
        ("header-name-encoding-invalid", M, serves),
        ("header-value-case", M, serves),
        ("header-blanks", M, |seen, it| {
            if one(seen, "mcp-method").ends_with(' ') || one(seen, "mcp-method").starts_with(' ') {
                *it = Response::new(400, Vec::new());
            }
        }),
        ("header-duplicate", M, serves),
        ("header-param-missing", M, |seen, it| {
            if seen.is("tools/list") {
                it.messages[0]["result"]["tools"] = serde_json::json!([{ "name": "half",
                    "annotations": { "readOnlyHint": true }, "inputSchema": { "type": "object",
                    "properties": { "a": { "type": "string", "x-mcp-header": "A" } }, "required": ["a"] } }]);
            }
        }),
        ("header-session-ignored", M, |seen, it| {
            if mentions(seen, "mcp-session-id") {
                it.set("mcp-session-id", "new");
            }
        }),
        ("header-last-event-ignored", M, |seen, it| {
            if mentions(seen, "last-event-id") {
                *it = Response::new(400, Vec::new());
            }
        }),
        ("origin-foreign", L, serves),
        ("origin-foreign", M, serves),
        ("origin-foreign-status", M, |_, it| {
            if it.status == 403 {
                it.status = 400;
            }
        }),
        ("origin-look-alike", L, |seen, it| {
            if one(seen, "origin").contains("localhost") {
                serves(seen, it);
            }
        }),
        ("origin-absent", L, |seen, it| {
            if seen.is("ping") && !mentions(seen, "origin") {
                *it = Response::new(403, Vec::new());
            }
        }),
        ("host-foreign", L, serves),
        ("cors-closed", L, |_, it| {
            it.set("access-control-allow-origin", "*")
        }),
    ]
}

fn sessions() -> Vec<(&'static str, Revision, Break)> {
    vec![
        ("session-id-characters", L, |seen, it| {
            if seen.is("initialize") {
                it.headers = vec![("mcp-session-id".to_owned(), "with a blank".to_owned())];
            }
        }),
        ("session-id-unique", L, |seen, it| {
            if seen.is("initialize") {
                it.headers = vec![("mcp-session-id".to_owned(), "1".to_owned())];
            }
        }),
        ("session-missing", L, |_, it| {
            if it.status == 400 {
                it.status = 404;
            }
        }),
        ("session-forged", L, serves),
        ("session-fixation", L, |seen, it| {
            if seen.is("initialize") && mentions(seen, "mcp-session-id") {
                it.headers = vec![(
                    "mcp-session-id".to_owned(),
                    one(seen, "mcp-session-id").to_owned(),
                )];
            }
        }),
        ("session-ended", L, |_, it| {
            if it.status == 404 {
                it.status = 400;
            }
        }),
        ("session-ids-apart", L, |seen, it| {
            if seen.id() == "same-id" {
                *it = Response::new(200, vec![result(seen)]);
            }
        }),
        ("version-header-invalid", L, |seen, it| {
            if one(seen, "mcp-protocol-version") == "nonsense" {
                serves(seen, it);
            }
        }),
        ("version-header-missing", L, |seen, it| {
            if seen.is("ping") && !mentions(seen, "mcp-protocol-version") {
                *it = Response::new(400, Vec::new());
            }
        }),
    ]
}

#[tokio::test(start_paused = true)]
async fn each_check_over_http_fails_for_a_server_that_is_broken_there() {
    let mut wrong = Vec::new();
    for (id, revision, breaks) in rows() {
        let mut options = CheckOptions::default();
        options.only = vec![
            id.to_owned(),
            "method-unknown".to_owned(),
            "json-invalid".to_owned(),
        ];
        options.revisions = vec![revision];
        options.answer_timeout = std::time::Duration::from_millis(700);
        options.opening_timeout = std::time::Duration::from_secs(2);
        let report = check(&target(breaks), options).await;
        let found = report.as_ref().map(|report| {
            let mut findings = report.findings.iter();
            findings
                .find(|finding| finding.check == id)
                .map(|finding| finding.verdict.clone())
        });
        match found {
            Ok(Some(Verdict::Failed)) => {}
            found => wrong.push(format!("{id} {revision}: {found:?}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} checks did not fail:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_check_of_http_alone_is_broken_once() {
    let rows = rows();
    use pintle_check::Carrier::{Http, Stdio};
    let applies = |check: &&pintle_check::Check, carrier| {
        Revision::ALL
            .into_iter()
            .any(|revision| check.level(revision, carrier).is_some())
    };
    let missing: Vec<&str> = checks()
        .filter(|check| applies(check, Http) && !applies(check, Stdio))
        .map(|check| check.id)
        .filter(|id| rows.iter().all(|(row, ..)| row != id))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
