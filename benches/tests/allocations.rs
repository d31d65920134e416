//! Allocations per call, from bytes to bytes. They do not depend on the machine, so they are
//! asserted.
//!
//! The allocator counts for the process, so the tests take turns, each with a runtime of its own.

mod small_server;

use std::alloc::System;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use small_server::{HttpPeer, PipePeer, call, list};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static TURN: Mutex<()> = Mutex::new(());

/// How many calls are averaged.
const CALLS: usize = 1_000;

/// Runs a test when no other one does.
fn alone<T>(test: impl Future<Output = T>) -> T {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(test)
}

/// Allocations and reallocations since the region began, per call. The test harness allocates now
/// and then on its own threads, and the count is the process's: rounding to the nearest leaves that
/// out, and nothing that happens on every call.
fn per_call(region: &Region<'_, System>) -> usize {
    let change = region.change();
    (change.allocations + change.reallocations + CALLS / 2) / CALLS
}

async fn on_pipe(request: &str) -> usize {
    let mut peer = PipePeer::connect();
    for _ in 0..CALLS {
        peer.round_trip(request).await;
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..CALLS {
        peer.round_trip(request).await;
    }
    per_call(&region)
}

async fn on_http(method: &str, name: Option<&str>, request: &str) -> usize {
    let mut peer = HttpPeer::new();
    for prepared in peer.prepare(method, name, request, CALLS) {
        peer.exchange(prepared).await;
    }
    let prepared = peer.prepare(method, name, request, CALLS);
    let region = Region::new(ALLOCATOR);
    for request in prepared {
        peer.exchange(request).await;
    }
    per_call(&region)
}

#[test]
fn a_small_call_on_a_pipe_keeps_its_budget() {
    let allocations = alone(on_pipe(&call()));
    assert!(allocations <= 12, "{allocations} allocations per call");
}

#[test]
fn a_list_of_a_hundred_tools_on_a_pipe_keeps_its_budget() {
    let allocations = alone(on_pipe(&list()));
    assert!(allocations <= 12, "{allocations} allocations per call");
}

#[test]
fn a_small_call_over_http_keeps_its_budget() {
    let allocations = alone(on_http("tools/call", Some("echo"), &call()));
    assert!(
        allocations <= 12 + HTTP_OWN,
        "{allocations} allocations per call, {HTTP_OWN} of them HTTP's"
    );
}

#[test]
fn a_list_of_a_hundred_tools_over_http_keeps_its_budget() {
    let allocations = alone(on_http("tools/list", None, &list()));
    assert!(
        allocations <= 12 + HTTP_OWN,
        "{allocations} allocations per call, {HTTP_OWN} of them HTTP's"
    );
}

/// What any tower service allocates for a response of one header: its future, the header map (two),
/// and the turning of a vector into the bytes of a body. Measured below.
const HTTP_OWN: usize = 4;

#[test]
fn what_http_itself_allocates_is_known() {
    assert_eq!(alone(bare_answers()), HTTP_OWN);
}

async fn bare_answers() -> usize {
    let bodies: Vec<Vec<u8>> = (0..CALLS).map(|_| Vec::with_capacity(64)).collect();
    let region = Region::new(ALLOCATOR);
    for mut body in bodies {
        body.extend_from_slice(b"{}");
        let answer = bare_answer(body).await;
        assert_eq!(answer.headers().len(), 1);
    }
    per_call(&region)
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
