//! The form of each message, and the uniqueness of ids.

use std::collections::HashMap;

use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::record::Kind;
use super::super::seen::{
    Seen, every, fault_of, is_answer, is_notification, is_request, name, not_seen,
};
use crate::check::{must, robust};
use crate::checks::{LEGACY, LEGACY_06, MODERN};
use crate::finding::{Judgement, observed};
use crate::text::clip;

const PAGE: &str = "Overview: Messages";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-json-rpc",
        "Each message has `\"jsonrpc\": \"2.0\"`.",
        PAGE,
        &[must(LEGACY, &["MSG-01"]), must(MODERN, &["N-BASE-01"])],
        json_rpc,
    ),
    ClientCheck::new(
        "client-request-id",
        "The id of a request is a text or an integer.",
        PAGE,
        &[
            must(LEGACY, &["MSG-02", "MSG-03"]),
            must(MODERN, &["N-BASE-02"]),
        ],
        id,
    ),
    ClientCheck::new(
        "client-request-id-unique",
        "No id is used twice.",
        PAGE,
        &[must(LEGACY, &["MSG-04"]), must(MODERN, &["N-BASE-03"])],
        unique,
    ),
    ClientCheck::new(
        "client-params-object",
        "`method` is a text, and `params` is an object.",
        PAGE,
        &[must(LEGACY, &["MSG-05"]), must(MODERN, &["N-BASE-12"])],
        params,
    ),
    ClientCheck::new(
        "client-notification-id",
        "A notification has no id.",
        PAGE,
        &[must(LEGACY, &["MSG-14"]), must(MODERN, &["N-BASE-08"])],
        notification,
    ),
    ClientCheck::new(
        "client-answer-form",
        "An answer has the id of a request, and either a result or an error with an integer code and a message.",
        PAGE,
        &[must(
            LEGACY,
            &["MSG-06", "MSG-07", "MSG-08", "MSG-09", "MSG-10", "MSG-13"],
        )],
        answer,
    ),
    ClientCheck::new(
        "client-answer-unasked",
        "Only requests are answered.",
        PAGE,
        &[
            must(LEGACY, &["MSG-15"]),
            must(MODERN, &["N-BASE-13", "N-BASE-08"]),
        ],
        unasked,
    ),
    ClientCheck::new(
        "client-batch",
        "No batch of messages is sent.",
        PAGE,
        &[
            must(LEGACY_06, &["MSG-18"]),
            must(MODERN, &["N-BASE-01"]),
            robust(LEGACY, &["D1105-07"]),
        ],
        batch,
    ),
    ClientCheck::new(
        "client-line",
        "Each line is one JSON message in UTF-8.",
        "Transports: stdio",
        &[
            must(
                LEGACY,
                &[
                    "MSG-16",
                    "TRANS-STDIO-02",
                    "TRANS-STDIO-03",
                    "TRANS-STDIO-08",
                ],
            )
            .stdio(),
            must(MODERN, &["N-STDIO-01", "N-STDIO-03", "N-TRAN-05"]).stdio(),
        ],
        junk,
    ),
    ClientCheck::new(
        "client-body",
        "The body of each POST is one JSON message in UTF-8.",
        "Streamable HTTP: Sending messages",
        &[
            must(LEGACY, &["MSG-16", "TRANS-HTTP-09"]).http(),
            must(MODERN, &["N-HTTP-08", "N-TRAN-05"]).http(),
        ],
        junk,
    ),
];

fn json_rpc(seen: &Seen<'_>) -> Judgement {
    every(seen.messages(), "no message", |_, message| {
        let is_right = message.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
        (!is_right).then(|| "`jsonrpc` is not \"2.0\"".to_owned())
    })
}

fn id(seen: &Seen<'_>) -> Judgement {
    let requests = seen.messages().filter(|(_, message)| is_request(message));
    every(requests, "no request", |_, message| {
        let id = message.get("id")?;
        // A client may write an integer as a floating-point number without a fraction.
        let is_integer = id.as_f64().is_some_and(|id| id.fract() == 0.0);
        (!id.is_string() && !is_integer).then(|| "the id is not a text or an integer".to_owned())
    })
}

fn unique(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let mut ids: HashMap<String, &Value> = HashMap::new();
        for (_, message) in talk.messages().filter(|(_, message)| is_request(message)) {
            is_seen = true;
            let id = message.get("id").map(Value::to_string).unwrap_or_default();
            if let Some(earlier) = ids.insert(id, message) {
                return Err(fault_of(
                    message,
                    format!("the id is the one of {}", clip(&earlier.to_string())),
                ));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no request")),
    }
}

fn params(seen: &Seen<'_>) -> Judgement {
    let messages = seen
        .messages()
        .filter(|(_, message)| message.get("method").is_some());
    every(messages, "no request", |_, message| {
        let is_named = message.get("method").is_some_and(Value::is_string);
        let is_object = message.get("params").is_none_or(Value::is_object);
        (!is_named || !is_object)
            .then(|| "`method` is not a text, or `params` is not an object".to_owned())
    })
}

fn notification(seen: &Seen<'_>) -> Judgement {
    let notices = seen.messages().filter(|(_, message)| {
        is_notification(message)
            || name(message).is_some_and(|method| method.starts_with("notifications/"))
    });
    every(notices, "no notification", |_, message| {
        message
            .get("id")
            .map(|_| "the notification has an id".to_owned())
    })
}

fn answer(seen: &Seen<'_>) -> Judgement {
    let answers = seen.messages().filter(|(_, message)| is_answer(message));
    every(answers, "no answer", |_, message| {
        let (result, error) = (message.get("result"), message.get("error"));
        if result.is_some() == error.is_some() {
            return Some("the answer does not have exactly one of `result` and `error`".to_owned());
        }
        if result.is_some_and(|result| !result.is_object()) {
            return Some("`result` is not an object".to_owned());
        }
        let error = error?;
        let is_right = error.get("code").is_some_and(Value::is_i64)
            && error.get("message").is_some_and(Value::is_string);
        (!is_right).then(|| "the error has no integer `code`, or no text `message`".to_owned())
    })
}

fn unasked(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let asked: Vec<&Value> = talk
            .questions()
            .filter_map(|(question, _)| question.get("id"))
            .collect();
        let noticed = talk
            .entries
            .iter()
            .filter_map(|entry| entry.sent())
            .any(is_notification);
        is_seen |= noticed || !asked.is_empty();
        for (_, message) in talk.messages().filter(|(_, message)| is_answer(message)) {
            let id = message.get("id").unwrap_or(&Value::Null);
            // An error without an id is about a message that could not be read.
            let is_about_junk = id.is_null() && message.get("error").is_some();
            if !is_about_junk && !asked.contains(&id) {
                return Err(fault_of(message, "no request of the server has this id"));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen(
            "the server has sent no notification and no request",
        )),
    }
}

fn batch(seen: &Seen<'_>) -> Judgement {
    for talk in seen.talks() {
        let mut messages = talk.entries.iter().filter_map(|entry| entry.came());
        if let Some(batch) = messages.find(|message| message.is_array()) {
            return Err(fault_of(batch, "a batch"));
        }
    }
    Ok(())
}

fn junk(seen: &Seen<'_>) -> Judgement {
    for talk in seen.talks() {
        for entry in &talk.entries {
            if let Kind::Junk(text) = &entry.kind {
                return Err(observed(format!("not a JSON message: {text}")));
            }
        }
    }
    Ok(())
}
