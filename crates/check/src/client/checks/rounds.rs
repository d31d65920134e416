//! Retries of a request whose result was `input_required`.

use serde_json::{Map, Value};

use super::super::check::ClientCheck;
use super::super::record::Talk;
use super::super::seen::{Seen, fault_of, is_request, name, not_seen};
use super::questions::{action_fault, content_fault, message_fault, roots_fault};
use crate::check::{must, should};
use crate::checks::MODERN;
use crate::finding::{Judgement, observed_after};
use crate::text::shown;
use crate::value::Fault;

const PAGE: &str = "Multi round-trip requests";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-retry-state",
        "A retry has the `requestState` of the last result, byte for byte, and none if that had none.",
        PAGE,
        &[must(MODERN, &["N-MRTR-18", "N-MRTR-19", "N-MRTR-20"])],
        |seen| {
            retries(seen, |retry| {
                let (state, last) = (
                    retry.sent.get("requestState"),
                    retry.result.get("requestState"),
                );
                (state != last).then(|| "the state is another one".to_owned())
            })
        },
    ),
    ClientCheck::new(
        "client-retry-id",
        "A retry has a new id.",
        PAGE,
        &[must(MODERN, &["N-MRTR-21"])],
        |seen| {
            retries(seen, |retry| {
                (retry.id == retry.first_id)
                    .then(|| "the id is the one of the first request".to_owned())
            })
        },
    ),
    ClientCheck::new(
        "client-retry-params",
        "A retry has the parameters of the first request.",
        PAGE,
        &[must(MODERN, &["N-MRTR-18"])],
        |seen| {
            retries(seen, |retry| {
                let mut names = ["name", "arguments"].into_iter();
                let changed = names.find(|name| retry.sent.get(*name) != retry.first.get(*name))?;
                Some(format!("`{changed}` has changed"))
            })
        },
    ),
    ClientCheck::new(
        "client-retry-inputs",
        "A retry answers each input request of the last result, and no other.",
        PAGE,
        &[must(MODERN, &["N-MRTR-16", "N-MRTR-22", "N-MRTR-23"])],
        |seen| {
            retries(seen, |retry| {
                let keys = |value: Option<&Value>| -> Vec<String> {
                    let object = value.and_then(Value::as_object);
                    let mut keys: Vec<String> =
                        object.into_iter().flat_map(Map::keys).cloned().collect();
                    keys.sort();
                    keys
                };
                let asked = keys(retry.result.get("inputRequests"));
                let given = keys(retry.sent.get("inputResponses"));
                (asked != given).then(|| format!("asked were {asked:?}, and answered {given:?}"))
            })
        },
    ),
    ClientCheck::new(
        "client-retry-answers",
        "Each answer of a retry has the form of the result of its method.",
        PAGE,
        &[must(
            MODERN,
            &[
                "N-ELIC-04",
                "N-ELIC-08",
                "N-ROOT-03",
                "N-SAMP-07",
                "N-MRTR-23",
            ],
        )],
        |seen| {
            retries(seen, |retry| {
                retry.answers().find_map(|(method, answer)| match method {
                    "roots/list" => roots_fault(answer),
                    "sampling/createMessage" => message_fault(answer),
                    "elicitation/create" => action_fault(answer),
                    _ => None,
                })
            })
        },
    ),
    ClientCheck::new(
        "client-retry-content",
        "The content of an accepted form matches the schema of the question.",
        PAGE,
        &[should(MODERN, &["N-ELIC-06", "N-ELIC-19"])],
        |seen| {
            retries(seen, |retry| {
                retry.answers().find_map(|(method, answer)| match method {
                    "elicitation/create" => content_fault(answer),
                    _ => None,
                })
            })
        },
    ),
    ClientCheck::new(
        "client-state-elsewhere",
        "Requests that are not a retry have no `requestState` and no `inputResponses`.",
        PAGE,
        &[must(MODERN, &["N-MRTR-20", "N-MRTR-22"])],
        elsewhere,
    ),
];

/// A retry, with the request and the result before it.
struct Retry<'t> {
    first: &'t Value,
    first_id: &'t Value,
    result: &'t Value,
    sent: &'t Value,
    id: &'t Value,
    message: &'t Value,
}

impl<'t> Retry<'t> {
    /// Returns the answers with the methods of their requests.
    fn answers(&self) -> impl Iterator<Item = (&'t str, &'t Value)> {
        let asked = self.result.get("inputRequests");
        let given = self.sent.get("inputResponses").and_then(Value::as_object);
        given
            .into_iter()
            .flatten()
            .filter_map(move |(key, answer)| {
                Some((asked?.get(key)?.get("method")?.as_str()?, answer))
            })
    }
}

/// Returns true for requests that continue another one.
fn has_marks(params: &Value) -> bool {
    params.get("requestState").is_some() || params.get("inputResponses").is_some()
}

/// Returns the retries of a conversation: each follows the oldest unanswered `input_required` of its tool.
fn retries_of(talk: &Talk) -> Vec<Retry<'_>> {
    let mut retries = Vec::new();
    let mut open: Vec<(&Value, &Value, &Value)> = Vec::new();
    for (entry, message) in talk.messages().filter(|(_, message)| is_request(message)) {
        let (Some(params), Some(id)) = (message.get("params"), message.get("id")) else {
            continue;
        };
        let of_tool = |(_, first, _): &(&Value, &Value, &Value)| {
            name(message) == Some("tools/call") && first.get("name") == params.get("name")
        };
        let before = open.iter().position(of_tool).filter(|_| has_marks(params));
        if let Some(position) = before {
            let (first_id, first, result) = open.remove(position);
            retries.push(Retry {
                first,
                first_id,
                result,
                sent: params,
                id,
                message,
            });
        }
        let result = talk
            .answered(id)
            .filter(|answer| answer.at >= entry.at)
            .and_then(|answer| answer.sent()?.get("result"));
        if let Some(result) = result.filter(|result| result["resultType"] == "input_required") {
            open.push((id, params, result));
        }
    }
    retries
}

fn retries(seen: &Seen<'_>, fault: impl Fn(&Retry<'_>) -> Fault) -> Judgement {
    let mut is_seen = false;
    for retry in seen.talks().flat_map(retries_of) {
        is_seen = true;
        if let Some(fault) = fault(&retry) {
            return Err(observed_after(
                shown(retry.result),
                format!("{fault}: {}", retry.message),
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen(
            "the client has not called the tool `ask`, or has not retried",
        )),
    }
}

fn elsewhere(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.talks() {
        let retried: Vec<&Value> = retries_of(talk).iter().map(|retry| retry.id).collect();
        for (_, message) in talk.messages().filter(|(_, message)| is_request(message)) {
            is_seen = true;
            let is_retry = message.get("id").is_some_and(|id| retried.contains(&id));
            if !is_retry && message.get("params").is_some_and(has_marks) {
                return Err(fault_of(message, "no result before it required input"));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no request")),
    }
}
