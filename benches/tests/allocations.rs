//! Allocations per call. They do not depend on the machine, so they are asserted.
//!
//! The allocator counts for the process, so there is one test that goes path after path.

use std::alloc::System;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use pintle_bench::path::{Path, walk};
use pintle_bench::{budget, frugal};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many calls are averaged.
const CALLS: usize = 200;
/// How many, where each is large.
const LARGE_CALLS: usize = 10;

/// How far a budget may be above the count, so that a gain is kept. A release build counts less
/// than the others, by two in the measured cases.
const SLACK: usize = 4;

/// Allocations of any tower service for a response of one header. These are its future, the header
/// map (two), and the conversion of a vector into the bytes of a body. The budgets of paths over
/// HTTP include them; the goal of 12 for a small call does not.
const HTTP_OWN: usize = 4;

#[test]
fn every_path_keeps_its_budget_and_no_budget_is_slack() {
    let counted: Vec<_> = Path::ALL
        .into_iter()
        .map(|path| (path, count(path)))
        .collect();
    let over: Vec<_> = counted
        .iter()
        .map(|(path, counted)| (path.as_str(), *counted, budget::of(*path).allocations))
        .filter(|(_, counted, budget)| counted > budget)
        .collect();
    assert!(over.is_empty(), "path, counted, budget: {over:?}");
    let slack: Vec<_> = counted
        .iter()
        .map(|(path, counted)| (path.as_str(), *counted, budget::of(*path).allocations))
        .filter(|(_, counted, budget)| counted + SLACK < *budget)
        .collect();
    assert!(
        slack.is_empty(),
        "lower these: path, counted, budget: {slack:?}"
    );
    assert_eq!(what_http_itself_allocates(), HTTP_OWN);
    for path in [Path::HttpCall, Path::HttpList, Path::SessionCall] {
        assert!(budget::of(path).allocations <= 12 + HTTP_OWN, "{path:?}");
    }
}

fn count(path: Path) -> usize {
    let mut counted = 0;
    let calls = match path {
        Path::StdioText1m | Path::HttpText1m | Path::HttpImage1m => LARGE_CALLS,
        _ => CALLS,
    };
    walk(path, calls, &frugal::serve, |steps| {
        let region = Region::new(ALLOCATOR);
        steps();
        counted = per_call(&region, calls);
    });
    counted
}

/// Allocations and reallocations since the region began, per call. The test harness allocates now
/// and then on its own threads, and the count is the process's: rounding to the nearest leaves that
/// out, and nothing that happens on every call.
fn per_call(region: &Region<'_, System>, calls: usize) -> usize {
    let change = region.change();
    (change.allocations + change.reallocations + calls / 2) / calls
}

fn what_http_itself_allocates() -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(bare_answers())
}

async fn bare_answers() -> usize {
    let bodies: Vec<Vec<u8>> = (0..CALLS).map(|_| Vec::with_capacity(64)).collect();
    let region = Region::new(ALLOCATOR);
    for mut body in bodies {
        body.extend_from_slice(b"{}");
        let answer = bare_answer(body).await;
        assert_eq!(answer.headers().len(), 1);
    }
    per_call(&region, CALLS)
}

fn bare_answer(body: Vec<u8>) -> Pin<Box<dyn Future<Output = http::Response<Bytes>>>> {
    Box::pin(async {
        let mut answer = http::Response::new(Bytes::from(body));
        let kind = http::HeaderValue::from_static("application/json");
        answer
            .headers_mut()
            .insert(http::header::CONTENT_TYPE, kind);
        answer
    })
}
