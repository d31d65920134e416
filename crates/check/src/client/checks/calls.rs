//! The parameters of each method, and cursors.

use std::collections::HashMap;

use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::Talk;
use super::super::seen::{Seen, every, fault_of, is_request, name, not_seen};
use crate::check::{must, robust, should};
use crate::checks::{LEGACY, LEGACY_11, MODERN};
use crate::finding::{Judgement, observed};
use crate::value::{Fault, object, text};

const LEVELS: &[&str] = &[
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-call-params",
        "A call has the name of a tool, and arguments that are an object.",
        "Tools: Calling tools",
        &[must(LEGACY, &["TOOL-03"]), must(MODERN, &["N-TOOL-08"])],
        |seen| {
            every(seen.requests("tools/call"), "no call", |_, message| {
                named(message)
            })
        },
    ),
    ClientCheck::new(
        "client-read-params",
        "A read has the URI of a resource.",
        "Resources: Reading resources",
        &[must(LEGACY, &["RES-02"]), robust(MODERN, &["N-RSRC-03"])],
        |seen| {
            every(seen.requests("resources/read"), "no read", |_, message| {
                text(params(message), "uri")
            })
        },
    ),
    ClientCheck::new(
        "client-prompt-params",
        "A prompt is got by its name, and its arguments are texts.",
        "Prompts: Getting a prompt",
        &[must(LEGACY, &["PROM-02"]), must(MODERN, &["N-PROMPT-04"])],
        |seen| {
            every(
                seen.requests("prompts/get"),
                "no prompt was got",
                |_, message| prompt(message),
            )
        },
    ),
    ClientCheck::new(
        "client-completion-params",
        "A completion has a reference, and an argument with a name and a value.",
        "Completion: Requesting completions",
        &[must(LEGACY, &["COMP-02"]), must(MODERN, &["N-COMP-02"])],
        |seen| {
            every(
                seen.requests("completion/complete"),
                "no completion",
                |_, message| completion(message),
            )
        },
    ),
    ClientCheck::new(
        "client-log-level",
        "A log level is one of the eight.",
        "Logging: Log levels",
        &[
            must(LEGACY, &["LOG-02", "LOG-03"]),
            must(MODERN, &["N-META-06"]),
        ],
        log_level,
    ),
    ClientCheck::new(
        "client-cursor-verbatim",
        "A cursor is one that the server has sent for the same list, byte for byte.",
        "Pagination",
        &[
            must(LEGACY, &["PAGE-02", "PAGE-07"]),
            must(MODERN, &["N-PAGE-02", "N-PAGE-03"]),
        ],
        cursor,
    ),
    ClientCheck::new(
        "client-cursor-empty",
        "A page with an empty cursor is not the last one.",
        "Pagination",
        &[must(MODERN, &["N-PAGE-03"])],
        empty_cursor,
    ),
    ClientCheck::new(
        "client-pages-end",
        "The list ends with the page that has no cursor.",
        "Pagination",
        &[
            should(LEGACY, &["PAGE-05", "PAGE-06"]),
            should(MODERN, &["N-PAGE-04"]),
        ],
        last_page,
    ),
    ClientCheck::new(
        "client-task-params",
        "A request has no `task` member of an earlier revision.",
        "Tasks",
        &[must(MODERN, &["X-TASK-11"])],
        |seen| {
            every(seen.requests("tools/call"), "no call", |_, message| {
                params(message)
                    .get("task")
                    .map(|_| "`task` is a member of 2025-11-25".to_owned())
            })
        },
    ),
    ClientCheck::new(
        "client-task-undeclared",
        "No task is requested from a server without tasks.",
        "Tasks: Capabilities",
        &[must(LEGACY_11, &["LIFE-17"])],
        |seen| {
            every(seen.requests("tools/call"), "no call", |_, message| {
                params(message)
                    .get("task")
                    .map(|_| "the server has not declared tasks".to_owned())
            })
        },
    ),
];

fn params(message: &Value) -> &Value {
    message.get("params").unwrap_or(&Value::Null)
}

fn named(message: &Value) -> Fault {
    let params = params(message);
    text(params, "name").or_else(|| {
        params.get("arguments")?;
        object(params, "arguments")
    })
}

fn prompt(message: &Value) -> Fault {
    named(message).or_else(|| {
        let arguments = params(message).get("arguments")?.as_object()?;
        let (name, _) = arguments.iter().find(|(_, value)| !value.is_string())?;
        Some(format!("the argument {name:?} is not a text"))
    })
}

fn completion(message: &Value) -> Fault {
    let params = params(message);
    let reference = params.get("ref").unwrap_or(&Value::Null);
    let argument = params.get("argument").unwrap_or(&Value::Null);
    let of_reference = match reference.get("type").and_then(Value::as_str) {
        Some("ref/prompt") => text(reference, "name"),
        Some("ref/resource") => text(reference, "uri"),
        _ => Some("`ref.type` is not ref/prompt or ref/resource".to_owned()),
    };
    of_reference
        .or_else(|| text(argument, "name"))
        .or_else(|| text(argument, "value"))
}

fn log_level(seen: &Seen<'_>) -> Judgement {
    let level = |message: &Value| -> Option<Value> {
        let params = params(message);
        match name(message) {
            Some("logging/setLevel") => Some(params.get("level").cloned().unwrap_or_default()),
            _ => params
                .get("_meta")?
                .get("io.modelcontextprotocol/logLevel")
                .cloned(),
        }
    };
    let with_level = seen
        .messages()
        .filter(|(_, message)| level(message).is_some());
    every(with_level, "no log level was set", |_, message| {
        let level = level(message)?;
        let is_known = level.as_str().is_some_and(|level| LEVELS.contains(&level));
        (!is_known).then(|| format!("unknown level {level}"))
    })
}

fn is_list(message: &Value) -> bool {
    is_request(message) && name(message).is_some_and(|method| method.ends_with("/list"))
}

/// Returns the cursor after the page that answers a request.
fn next_cursor<'t>(talk: &'t Talk, request: &Value) -> Option<&'t str> {
    let answer = talk.answered(request.get("id")?)?.sent()?;
    answer.get("result")?.get("nextCursor")?.as_str()
}

fn cursor(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let mut sent: HashMap<&str, Vec<&str>> = HashMap::new();
        for (_, message) in talk.messages().filter(|(_, message)| is_list(message)) {
            let method = name(message).unwrap_or_default();
            if let Some(cursor) = params(message).get("cursor") {
                is_seen = true;
                let known = sent.get(method).map_or(&[][..], Vec::as_slice);
                if !cursor
                    .as_str()
                    .is_some_and(|cursor| known.contains(&cursor))
                {
                    return Err(fault_of(
                        message,
                        format!("the cursors of the server are {known:?}"),
                    ));
                }
            }
            sent.entry(method)
                .or_default()
                .extend(next_cursor(talk, message));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no second page was requested")),
    }
}

/// Returns the requests for the page at a cursor, in one conversation.
fn at<'t>(talk: &'t Talk, method: &'t str, cursor: &'t str) -> impl Iterator<Item = &'t Value> {
    let lists = talk
        .messages()
        .map(|(_, message)| message)
        .filter(|message| is_list(message));
    lists.filter(move |message| {
        name(message) == Some(method)
            && params(message).get("cursor").and_then(Value::as_str) == Some(cursor)
    })
}

fn empty_cursor(seen: &Seen<'_>) -> Judgement {
    let mut fault = None;
    for talk in seen.talks() {
        for (_, message) in talk.messages().filter(|(_, message)| is_list(message)) {
            if next_cursor(talk, message) != Some("") {
                continue;
            }
            if at(talk, name(message).unwrap_or_default(), "")
                .next()
                .is_some()
            {
                return Ok(());
            }
            fault = Some(observed(format!(
                "no request followed the page with the cursor \"\": {message}"
            )));
        }
    }
    Err(fault.unwrap_or_else(|| not_seen("no second page was requested")))
}

fn last_page(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let mut ended: Vec<&str> = Vec::new();
        for (_, message) in talk.messages().filter(|(_, message)| is_list(message)) {
            let method = name(message).unwrap_or_default();
            let has_cursor = params(message).get("cursor").is_some();
            if has_cursor && ended.contains(&method) {
                return Err(fault_of(message, "a page was requested after the last one"));
            }
            ended.retain(|own| *own != method);
            if has_cursor
                && talk
                    .answered(message.get("id").unwrap_or(&Value::Null))
                    .is_some()
                && next_cursor(talk, message).is_none()
            {
                is_seen = true;
                ended.push(method);
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no last page was requested")),
    }
}
