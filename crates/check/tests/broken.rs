//! A server in memory that is broken in one place. The check of this place fails.

use pintle_check::{CheckOptions, Target, check, checks};
use pintle_http::client::BoxIo;
use pintle_model::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

use crate::toy::Toy;

/// Replaces the lines of the server. It has the received line, the message in it, and the answers.
pub(crate) type Break = fn(&[u8], &Value, Vec<Value>) -> Vec<String>;

pub(crate) fn lines(answers: Vec<Value>) -> Vec<String> {
    answers.iter().map(ToString::to_string).collect()
}

/// Serves the toy on a pipe, with its lines replaced.
pub(crate) fn on_pipe(breaks: Break) -> Target {
    Target::pipe(move || {
        Box::pin(async move {
            let (near, far) = duplex(1 << 16);
            tokio::spawn(serve(far, breaks));
            Ok(BoxIo::new(near))
        })
    })
}

async fn serve(far: tokio::io::DuplexStream, breaks: Break) {
    let (reader, mut writer) = split(far);
    let mut reader = BufReader::new(reader);
    let mut toy = Toy::default();
    let mut line = Vec::new();
    while reader
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|read| read > 0)
    {
        let raw = line.strip_suffix(b"\n").unwrap_or(&line);
        let text = raw.trim_ascii();
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        if !text.is_empty() {
            let message = serde_json::from_slice(text).unwrap_or_default();
            for out in breaks(raw, &message, toy.respond(text)) {
                if out == CLOSE
                    || writer
                        .write_all(format!("{out}\n").as_bytes())
                        .await
                        .is_err()
                {
                    return;
                }
            }
        }
        line.clear();
    }
    if breaks(b"", &Value::Null, Vec::new())
        .first()
        .is_some_and(|out| out == STAY)
    {
        std::future::pending::<()>().await;
    }
}

/// Closes the connection.
const CLOSE: &str = "close";
/// Does not end at the end of the input.
const STAY: &str = "stay";

// The clock is paused, so that a wait for a missing answer takes no time.
#[tokio::test(start_paused = true)]
async fn the_toy_passes_every_check_on_a_pipe() {
    let report = check(&on_pipe(|_, _, out| lines(out)), CheckOptions::default()).await;
    let report = report.expect("judged");
    assert_eq!(report.revisions, Revision::ALL, "{:?}", report.not_served);
    assert!(report.failures().is_empty(), "{:#?}", report.failures());
}

/// Returns the method of a message.
fn method(message: &Value) -> &str {
    message["method"].as_str().unwrap_or_default()
}

/// Changes the result for a method.
macro_rules! result_of {
    ($method:literal, $change:expr) => {
        |_, message, mut out| {
            if method(message) == $method {
                for answer in &mut out {
                    if answer.get("result").is_some() {
                        let change: fn(&mut Value) = $change;
                        change(&mut answer["result"]);
                    }
                }
            }
            lines(out)
        }
    };
}

/// Answers messages of a method with this result.
macro_rules! succeed {
    ($method:literal, $result:expr) => {
        |_, message, out| match method(message) == $method {
            true => vec![json!({ "jsonrpc": "2.0", "id": message["id"], "result": $result }).to_string()],
            false => lines(out),
        }
    };
}

/// Changes each error.
macro_rules! error_with {
    ($change:expr) => {
        |_, _, mut out| {
            for answer in &mut out {
                if answer.get("error").is_some() {
                    let change: fn(&mut Value) = $change;
                    change(answer);
                }
            }
            lines(out)
        }
    };
}

mod lifecycle;
mod messages;
mod modern;
mod offers;
pub(crate) mod tasks;

/// Answers lines with this text by a result.
fn executes(line: &[u8], needle: &str, out: Vec<Value>) -> Vec<String> {
    match String::from_utf8_lossy(line).contains(needle) {
        true => vec![json!({ "jsonrpc": "2.0", "id": 1_000_000, "result": {} }).to_string()],
        false => lines(out),
    }
}

/// Adds a message before the answers to a method.
fn before(message: &Value, of: &str, added: Value, out: Vec<Value>) -> Vec<String> {
    let mut all = lines(out);
    if method(message) == of {
        all.insert(0, added.to_string());
    }
    all
}

const ODD_LOG: &str = "notifications/message";

fn log(level: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": ODD_LOG, "params": { "level": level, "data": 1 } })
}

fn progress(token: &str, progress: f64) -> String {
    json!({ "jsonrpc": "2.0", "method": "notifications/progress",
        "params": { "progressToken": token, "progress": progress } })
    .to_string()
}

const L: Revision = Revision::LATEST_LEGACY;
const M: Revision = Revision::LATEST;
const B: Revision = Revision::UNNAMED;

fn rows() -> Vec<(&'static str, Revision, Break)> {
    let mut rows: Vec<(&str, Revision, Break)> = lifecycle::lifecycle();
    rows.extend(messages::messages());
    rows.extend(offers::offers());
    rows.extend(tasks::tasks());
    rows.extend(modern::modern());
    rows
}

// The clock is paused, so that a wait for a missing answer takes no time.
#[tokio::test(start_paused = true)]
async fn each_check_on_a_pipe_fails_for_a_server_that_is_broken_there() {
    let mut wrong = Vec::new();
    for (id, revision, breaks) in rows() {
        let mut options = CheckOptions::default();
        options.only = checks()
            .filter(|check| check.id == id || check.id.starts_with("tools-list-cursor"))
            .map(|check| check.id.to_owned())
            .collect();
        options.revisions = vec![revision];
        options.answer_timeout = std::time::Duration::from_millis(700);
        options.opening_timeout = std::time::Duration::from_secs(2);
        let report = check(&on_pipe(breaks), options).await;
        let found = report.as_ref().map(|report| {
            let mut findings = report.findings.iter();
            findings
                .find(|finding| finding.check == id)
                .map(|finding| finding.verdict.clone())
        });
        match found {
            Ok(Some(pintle_check::Verdict::Failed)) => {}
            found => wrong.push(format!("{id}: {found:?}")),
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
fn each_check_on_a_pipe_is_broken_once() {
    let rows = rows();
    let carrier = pintle_check::Carrier::Stdio;
    let applies = |check: &&pintle_check::Check| {
        Revision::ALL
            .into_iter()
            .any(|revision| check.level(revision, carrier).is_some())
    };
    let missing: Vec<&str> = checks()
        .filter(applies)
        .map(|check| check.id)
        .filter(|id| rows.iter().all(|(row, ..)| row != id))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
