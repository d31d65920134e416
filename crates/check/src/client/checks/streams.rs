//! Event streams that end, and both kinds of answers.

use super::super::check::ClientCheck;
use super::super::record::{Kind, Talk};
use super::super::scene::Scene;
use super::super::seen::{Seen, is_request, not_seen};
use crate::check::{must, should};
use crate::checks::{LEGACY_11, MODERN};
use crate::finding::{Judgement, observed, observed_after};

const PAGE: &str = "Streamable HTTP: Resumability and redelivery";

pub(super) const CHECKS: &[ClientCheck] = &[
    ClientCheck::new(
        "client-stream-resumed",
        "A stream that ends before the answer is resumed with GET and `Last-Event-ID`.",
        PAGE,
        &[should(LEGACY_11, &["TRANS-HTTP-17", "TRANS-RESUME-04"]).http()],
        resumed,
    )
    .of(Scene::StreamEnd),
    ClientCheck::new(
        "client-stream-retry",
        "The client waits for the time of the field `retry` before it reconnects.",
        PAGE,
        &[must(LEGACY_11, &["TRANS-HTTP-19"]).http()],
        waits,
    )
    .of(Scene::StreamEnd),
    ClientCheck::new(
        "client-stream-not-resumed",
        "A stream that ends before the answer is not resumed, and a retry has a new id.",
        "Streamable HTTP",
        &[must(MODERN, &["N-HTTP-18", "N-HTTP-19"]).http()],
        not_resumed,
    )
    .of(Scene::StreamEnd),
];

/// Returns each dropped stream with the reconnection to it.
fn drops(
    talk: &Talk,
) -> impl Iterator<Item = (&Kind, std::time::Duration, Option<std::time::Duration>)> {
    talk.entries.iter().filter_map(|entry| {
        let Kind::Dropped { event, .. } = &entry.kind else {
            return None;
        };
        let mut heads = talk
            .entries
            .iter()
            .filter_map(|later| Some((later.at, later.head()?)));
        let found = heads
            .find(|(_, head)| head.method == "GET" && head.get("last-event-id") == Some(event));
        Some((&entry.kind, entry.at, found.map(|(at, _)| at)))
    })
}

fn resumed(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for (_, _, reconnected) in seen.scene(Scene::StreamEnd).flat_map(drops) {
        is_seen = true;
        if reconnected.is_some() {
            return Ok(());
        }
    }
    match is_seen {
        true => Err(observed_after(
            "the end of a stream after an event with an id",
            "no GET with its id",
        )),
        false => Err(not_seen("the scene was not visited")),
    }
}

fn waits(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for (kind, at, reconnected) in seen.scene(Scene::StreamEnd).flat_map(drops) {
        let (Kind::Dropped { retry, .. }, Some(reconnected)) = (kind, reconnected) else {
            continue;
        };
        is_seen = true;
        let waited = reconnected.saturating_sub(at);
        if waited < *retry {
            return Err(observed_after(
                format!("retry: {}", retry.as_millis()),
                format!("a reconnection after {waited:?}"),
            ));
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("no stream was resumed")),
    }
}

fn not_resumed(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for talk in seen.scene(Scene::StreamEnd) {
        let Some(position) = talk
            .entries
            .iter()
            .position(|entry| matches!(entry.kind, Kind::Unusual(_)))
        else {
            continue;
        };
        is_seen = true;
        let before: Vec<_> = talk
            .entries
            .iter()
            .take(position)
            .filter_map(|entry| entry.came()?.get("id"))
            .collect();
        for entry in talk.entries.iter().skip(position) {
            let head = entry.head();
            if head.is_some_and(|head| head.method == "GET" || head.get("last-event-id").is_some())
            {
                return Err(observed("a GET, or `Last-Event-ID`"));
            }
            let again = entry
                .came()
                .filter(|message| is_request(message))
                .and_then(|message| message.get("id"));
            if again.is_some_and(|id| before.contains(&id)) {
                return Err(observed(format!("the same id again: {}", entry.text())));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("the scene was not visited")),
    }
}
