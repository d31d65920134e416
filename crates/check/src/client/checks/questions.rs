//! Answers to requests of the server, in the revisions with a handshake.

use serde_json::Value;

use super::super::check::ClientCheck;
use super::super::scene::Scene;
use super::super::seen::{Seen, fault_of, name, not_seen};
use crate::check::{must, should};
use crate::checks::{LEGACY, LEGACY_06, LEGACY_11};
use crate::finding::{Judgement, observed_after};
use crate::text::shown;
use crate::value::{Fault, entries, list, text};

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-ping",
        "A ping is answered at once, with an empty result.",
        "Ping",
        &[must(LEGACY, &["PING-01", "PING-02"])],
        |seen| {
            answers(seen, "ping", |_, result| {
                (!result?.as_object()?.is_empty()).then(|| "the result is not empty".to_owned())
            })
        },
    ),
    ClientCheck::new(
        "client-roots",
        "`roots/list` has a list of roots, and the URI of each begins with `file://`.",
        "Roots: Listing roots",
        &[must(LEGACY, &["ROOT-01", "ROOT-02", "ROOT-04"])],
        |seen| answers(seen, "roots/list", |_, result| roots_fault(result?)),
    ),
    ClientCheck::new(
        "client-sampling",
        "The result of sampling has a role, content and the name of a model.",
        "Sampling: Creating messages",
        &[must(LEGACY, &["SAMP-03", "SAMP-10"])],
        |seen| {
            answers(seen, "sampling/createMessage", |_, result| {
                message_fault(result?)
            })
        },
    ),
    ClientCheck::new(
        "client-elicitation",
        "A question is answered with accept, decline or cancel. A question without a mode is a form.",
        "Elicitation",
        &[
            must(LEGACY_06, &["ELIC-08", "ELIC-37"]),
            must(LEGACY_11, &["ELIC-09", "ELIC-10", "ELIC-14"]),
        ],
        |seen| {
            answers(seen, "elicitation/create", |_, result| {
                action_fault(result?)
            })
        },
    ),
    ClientCheck::new(
        "client-elicitation-content",
        "The content of an accepted form matches the schema of the question.",
        "Elicitation",
        &[should(LEGACY_06, &["ELIC-68"])],
        |seen| {
            answers(seen, "elicitation/create", |_, result| {
                content_fault(result?)
            })
        },
    ),
    ClientCheck::new(
        "client-request-unknown",
        "A request of an unknown method has the error -32601.",
        "Overview: Messages",
        &[must(LEGACY, &["MSG-17"])],
        |seen| rejects(seen, "pintle/unknown", Some(-32601)),
    )
    .of(Scene::UnknownRequest),
    ClientCheck::new(
        "client-roots-undeclared",
        "`roots/list` without the capability has the error -32601.",
        "Roots: Error handling",
        &[should(LEGACY, &["ROOT-05"])],
        |seen| rejects(seen, "roots/list", Some(-32601)),
    )
    .of(Scene::UnknownRequest),
    ClientCheck::new(
        "client-sampling-undeclared",
        "Sampling without the capability, or with tools without `sampling.tools`, has an error.",
        "Sampling: Capabilities",
        &[
            must(LEGACY_11, &["SAMP-04", "SAMP-06"]),
            must(LEGACY_06, &["LIFE-17"]),
        ],
        |seen| rejects(seen, "sampling/createMessage", None),
    )
    .of(Scene::UnknownRequest),
    ClientCheck::new(
        "client-elicitation-undeclared",
        "A question without the capability, or in an undeclared mode, has an error.",
        "Elicitation: Error handling",
        &[must(LEGACY_06, &["LIFE-17"])],
        |seen| rejects(seen, "elicitation/create", None),
    )
    .of(Scene::UnknownRequest),
    ClientCheck::new(
        "client-elicitation-mode",
        "A question in an undeclared mode has the error -32602.",
        "Elicitation: Error handling",
        &[must(LEGACY_11, &["ELIC-50"])],
        undeclared_mode,
    )
    .of(Scene::UnknownRequest),
];

/// Judges the answers to requests of a declared feature. An error is the decision of the client, except for pings.
fn answers(
    seen: &Seen<'_>,
    method: &str,
    fault: impl Fn(&Value, Option<&Value>) -> Fault,
) -> Judgement {
    let mut reason = "the server has sent no such request, because the client does not declare it, or has no stream";
    let mut is_seen = false;
    let talks = seen
        .talks()
        .filter(|talk| !talk.is_in(Scene::UnknownRequest));
    for (question, answer) in talks.flat_map(|talk| talk.questions()) {
        if name(question) != Some(method) {
            continue;
        }
        let Some(answer) = answer else {
            reason = "the client has not answered in time";
            continue;
        };
        is_seen = true;
        let result = answer.get("result");
        if method == "ping" && result.is_none() {
            return Err(fault_of(answer, "the ping has no result"));
        }
        if let Some(fault) = fault(question, result) {
            return Err(observed_after(
                shown(question),
                format!("{fault}: {answer}"),
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen(reason)),
    }
}

/// Returns the first fault of the result of `roots/list`.
pub(super) fn roots_fault(result: &Value) -> Fault {
    list(result, "roots").or_else(|| {
        entries(result, "roots").find_map(|root| {
            let uri = root.get("uri").and_then(Value::as_str).unwrap_or_default();
            (!uri.starts_with("file://"))
                .then(|| format!("the URI {uri:?} does not begin with file://"))
        })
    })
}

/// Returns the first fault of a sampled message.
pub(super) fn message_fault(result: &Value) -> Fault {
    let is_role = matches!(
        result.get("role").and_then(Value::as_str),
        Some("user" | "assistant")
    );
    let is_block = |block: &Value| block.get("type").is_some_and(Value::is_string);
    let is_content = match result.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().all(is_block),
        Some(block) => is_block(block),
        None => false,
    };
    match (is_role, is_content) {
        (false, _) => Some("`role` is not user or assistant".to_owned()),
        (_, false) => Some("`content` is not a block".to_owned()),
        _ => text(result, "model"),
    }
}

/// Returns the first fault of the answer to a question.
pub(super) fn action_fault(result: &Value) -> Fault {
    match result.get("action").and_then(Value::as_str) {
        Some("accept" | "decline" | "cancel") => None,
        _ => Some("`action` is not accept, decline or cancel".to_owned()),
    }
}

/// Returns the first fault of the content of an accepted form. Its schema requires the text `name`.
pub(super) fn content_fault(result: &Value) -> Fault {
    match result.get("action").and_then(Value::as_str) {
        Some("accept") => text(result.get("content").unwrap_or(&Value::Null), "name"),
        _ => None,
    }
}

fn rejects(seen: &Seen<'_>, method: &str, code: Option<i64>) -> Judgement {
    let mut is_seen = false;
    for (question, answer) in seen
        .scene(Scene::UnknownRequest)
        .flat_map(|talk| talk.questions())
    {
        let (Some(answer), Some(asked)) = (answer, name(question)) else {
            continue;
        };
        if asked != method {
            continue;
        }
        is_seen = true;
        let error = answer.get("error");
        let found = error
            .and_then(|error| error.get("code"))
            .and_then(Value::as_i64);
        if error.is_none() || code.is_some_and(|code| found != Some(code)) {
            return Err(observed_after(shown(question), answer.to_string()));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen(
            "the client has declared the feature, or has not answered",
        )),
    }
}

fn undeclared_mode(seen: &Seen<'_>) -> Judgement {
    let of_mode = |question: &Value| {
        question
            .get("params")
            .is_some_and(|params| params.get("mode").is_some())
    };
    for (question, answer) in seen
        .scene(Scene::UnknownRequest)
        .flat_map(|talk| talk.questions())
    {
        if !of_mode(question) {
            continue;
        }
        let Some(answer) = answer else { continue };
        let code = answer
            .get("error")
            .and_then(|error| error.get("code"))
            .and_then(Value::as_i64);
        return match code {
            Some(-32602) => Ok(()),
            _ => Err(observed_after(shown(question), answer.to_string())),
        };
    }
    Err(not_seen("the client declares both modes, or none"))
}
