//! Requests that HTTP alone refuses: the client reads the cause, and the log has the setting.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use http_body_util::BodyExt as _;
use pintle_http::{HostPolicy, HttpOptions};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

use crate::common::{Ask, Endpoint, ask, endpoint, endpoint_with, list, modern, post};

/// The lines of a log.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

/// One line of the log, rendered.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").expect("a string takes everything");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        !metadata.is_span() && metadata.target().starts_with("pintle_http")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("no panic").push(line.0);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// The response and the log line of a rejection.
struct Refused {
    status: u16,
    text: String,
    lines: Vec<String>,
}

async fn refused(endpoint: &Endpoint, ask: Ask) -> Refused {
    let log = Log::default();
    let here = Dispatch::new(log.clone());
    // A second subscriber, so that other threads do not set the log level of this one.
    let _other = Dispatch::new(Log::default());
    let guard = tracing::dispatcher::set_default(&here);
    let response = ask.of(endpoint).await;
    drop(guard);
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body");
    let text = String::from_utf8(body.to_bytes().to_vec()).expect("text");
    let lines = log.0.lock().expect("no panic").clone();
    Refused {
        status,
        text,
        lines,
    }
}

fn foreign(header: &str, value: &str) -> Ask {
    list().having(header, value)
}

// spec: 2025-11-25 TRANS-HTTP-01
// hardening: H-1, H-3
#[tokio::test]
async fn a_refusal_has_a_short_body_and_one_line_that_names_the_setting() {
    let listen = modern(1, "subscriptions/listen", json!({ "notifications": {} }));
    let rows = [
        (
            foreign("host", "evil.example"),
            403,
            "the host is not allowed",
            "HostPolicy::hosts",
        ),
        (
            foreign("origin", "http://evil.example"),
            403,
            "the origin is not allowed",
            "HostPolicy::with_origin",
        ),
        (
            list().without("host"),
            400,
            "header host is missing or invalid",
            "status=400",
        ),
        (
            ask("PUT"),
            405,
            "the HTTP method is not allowed",
            "HttpOptions::legacy",
        ),
        (
            ask("GET").with("accept", "text/html"),
            406,
            "text/event-stream",
            "status=406",
        ),
        (
            list().having("accept", "text/html"),
            406,
            "application/json",
            "status=406",
        ),
        (
            listen.having("accept", "application/json"),
            406,
            "text/event-stream",
            "status=406",
        ),
        (
            list().having("content-type", "text/plain"),
            415,
            "content-type",
            "status=415",
        ),
        (
            post(vec![b'x'; 5 << 20]),
            413,
            "the body is too large",
            "HttpLimits::max_body_bytes",
        ),
    ];
    for (ask, status, text, line) in rows {
        let came = refused(&endpoint(), ask).await;
        assert_eq!(came.status, status, "{text}");
        assert!(
            came.text.contains(text) && came.text.len() < 100,
            "{}",
            came.text
        );
        assert_eq!(came.lines.len(), 1, "{:?}", came.lines);
        assert!(came.lines[0].contains(line), "{:?}", came.lines);
    }
}

#[tokio::test]
async fn a_refusal_repeats_nothing_of_the_request_but_escaped_in_the_log() {
    let mut options = HttpOptions::default();
    options.host_policy = HostPolicy::hosts(["tides.example"]).expect("a host");
    let (endpoint, _) = endpoint_with(options);
    let evil = format!("evil\t\u{202e}{}", "x".repeat(10_000));
    let came = refused(
        &endpoint,
        foreign("origin", &evil).having("host", "tides.example"),
    )
    .await;
    assert_eq!(came.text, "the origin is not allowed");
    let line = &came.lines[0];
    assert!(
        line.contains(r"evil\t\u{202e}xxx") && line.len() < 500,
        "{line}"
    );
    assert!(line.starts_with("WARN"), "{line}");
}

// spec: 2026-07-28 N-HDR-06
#[tokio::test]
async fn an_error_of_the_protocol_is_one_line_too() {
    let came = refused(&endpoint(), list().having("mcp-method", "tools/call")).await;
    assert_eq!(
        (came.status, came.lines.len()),
        (400, 1),
        "{:?}",
        came.lines
    );
    assert!(came.lines[0].contains("code=-32020"), "{:?}", came.lines);
}
