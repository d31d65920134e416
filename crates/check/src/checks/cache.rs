//! Caching hints of results.

use serde_json::Value;

use super::{MODERN, run, without_fault};
use crate::check::{Check, must};
use crate::finding::{Judgement, observed_after, skipped};
use crate::peer::Peer;
use crate::text::shown;
use crate::value::Fault;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "discover-cache",
        "The result of `server/discover` has caching hints.",
        "Caching: Cacheable results",
        &[must(MODERN, &["N-DISC-08", "N-CACHE-01"])],
        run!(discover),
    ),
    Check::new(
        "list-cache",
        "Each page of a list has caching hints.",
        "Caching: Cacheable results",
        &[must(MODERN, &["N-CACHE-01"])],
        run!(lists),
    ),
    Check::new(
        "read-cache",
        "The result of `resources/read` has caching hints.",
        "Caching: Cacheable results",
        &[must(MODERN, &["N-CACHE-01"])],
        run!(reads),
    ),
    Check::new(
        "cache-ttl",
        "The time of a caching hint is not negative.",
        "Caching: `ttlMs`",
        &[must(MODERN, &["N-CACHE-06"])],
        run!(ttl),
    ),
    Check::new(
        "cache-scope-of-pages",
        "All pages of a list have the same scope.",
        "Caching: Pagination",
        &[must(MODERN, &["N-CACHE-13"])],
        run!(scopes),
    ),
    Check::new(
        "prompt-without-cache",
        "The result of `prompts/get` has no caching hints.",
        "Caching: Cacheable results",
        &[must(MODERN, &["N-PROMPT-09"])],
        run!(prompts),
    ),
];

fn hints(result: &Value) -> Fault {
    let scope = result.get("cacheScope").and_then(Value::as_str);
    if !result.get("ttlMs").is_some_and(Value::is_number) {
        return Some(format!("`ttlMs` is not a number: {}", shown(result)));
    }
    match scope {
        Some("public" | "private") => None,
        _ => Some(format!(
            "`cacheScope` is not `public` or `private`: {}",
            shown(result)
        )),
    }
}

async fn discover(peer: &mut Peer) -> Judgement {
    without_fault("server/discover", hints(&peer.survey.opening))
}

async fn lists(peer: &mut Peer) -> Judgement {
    let lists = peer.survey.lists();
    if lists.iter().all(|listed| listed.pages.is_empty()) {
        return Err(skipped("the server has no lists"));
    }
    for listed in lists {
        without_fault(listed.method, listed.pages.iter().find_map(hints))?;
    }
    Ok(())
}

async fn reads(peer: &mut Peer) -> Judgement {
    let reads = &peer.survey.reads;
    let complete =
        |result: &&Value| result.get("resultType") != Some(&Value::from("input_required"));
    let results = reads
        .iter()
        .filter_map(|sample| sample.outcome.as_ref().ok());
    let results: Vec<&Value> = results.filter(complete).collect();
    match results.is_empty() {
        true => Err(skipped("no resource was read")),
        false => without_fault("resources/read", results.into_iter().find_map(hints)),
    }
}

async fn ttl(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        let answer = exchange.answer();
        let ttl = answer.and_then(|answer| answer.pointer("/result/ttlMs"));
        let ttl = ttl.and_then(Value::as_f64);
        if ttl.is_some_and(|ttl| ttl < 0.0) {
            let method = exchange.method().unwrap_or_default();
            return Err(observed_after(method, format!("`ttlMs` is {ttl:?}")));
        }
    }
    Ok(())
}

async fn scopes(peer: &mut Peer) -> Judgement {
    let lists = peer.survey.lists();
    if lists.iter().all(|listed| listed.pages.len() < 2) {
        return Err(skipped("no list has a second page"));
    }
    for listed in lists {
        let mut scopes = listed.pages.iter().map(|page| page.get("cacheScope"));
        let first = scopes.next();
        if scopes.any(|scope| Some(scope) != first) {
            return Err(observed_after(
                listed.method,
                "the scopes of two pages differ",
            ));
        }
    }
    Ok(())
}

async fn prompts(peer: &mut Peer) -> Judgement {
    let results = peer.survey.prompts.iter();
    let results: Vec<&Value> = results
        .filter_map(|sample| sample.outcome.as_ref().ok())
        .collect();
    if results.is_empty() {
        return Err(skipped("no prompt was got"));
    }
    let mut hinted = results
        .into_iter()
        .filter(|result| result.get("ttlMs").is_some() || result.get("cacheScope").is_some());
    without_fault("prompts/get", hinted.next().map(shown))
}
