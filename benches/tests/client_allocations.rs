//! Allocations of a client per call of a tool, from the caller's arguments to the typed result: the
//! server is a thread that allocates nothing. They do not depend on the machine, so they are
//! asserted.
//!
//! The allocator counts for the process, so the tests take turns, each with a runtime of its own.

mod frugal_server;

use std::alloc::System;
use std::future::Future;
use std::net::{TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};

use pintle::client::{Client, Mode, Tcp};
use pintle::http::client::HttpConnect;
use pintle::model::Revision;
use pintle::runtime::BoxConnect;
use serde::Serialize;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

use frugal_server::{serve_http, serve_lines};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static TURN: Mutex<()> = Mutex::new(());

/// How many calls are averaged.
const CALLS: usize = 1_000;

/// What a call on a pipe may allocate. The goal is 15 in either revision.
const ON_A_PIPE: [(Revision, usize); 2] =
    [(Revision::V2025_11_25, 18), (Revision::V2026_07_28, 19)];

/// What a call over HTTP may allocate, hyper's own included.
const OVER_HTTP: [(Revision, usize); 2] =
    [(Revision::V2025_11_25, 45), (Revision::V2026_07_28, 50)];

#[derive(Serialize)]
struct Echo {
    text: &'static str,
}

/// Runs a test when no other one does.
fn alone<T>(test: impl Future<Output = T>) -> T {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(test)
}

/// Serves every connection in a thread; where.
fn served(serve: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = stream.set_nodelay(true);
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Fails inside of the turn, because telling why allocates.
async fn within(budget: usize, target: BoxConnect, revision: Revision) {
    let allocations = per_call(target, revision).await;
    assert!(
        allocations <= budget,
        "{revision}: {allocations} allocations per call"
    );
}

async fn per_call(target: BoxConnect, revision: Revision) -> usize {
    let builder = Client::builder().mode(Mode::Pinned(revision));
    let client = builder.connect(target).await.expect("a conversation");
    // The tool is known: what its calls repeat, and what they promise.
    client.list_tools().await.expect("a list");
    for _ in 0..CALLS {
        call(&client).await;
    }
    let region = Region::new(ALLOCATOR);
    for _ in 0..CALLS {
        call(&client).await;
    }
    let change = region.change();
    // Rounding leaves out what the harness's own threads allocate now and then.
    (change.allocations + change.reallocations + CALLS / 2) / CALLS
}

async fn call(client: &Client) {
    let made = client.call_tool(
        "echo",
        Echo {
            text: "hello, world",
        },
    );
    let result = made.await.expect("a result");
    assert_eq!(result.first_text(), Some("hello, world"));
}

#[test]
fn a_small_call_on_a_pipe_keeps_its_budget() {
    for (revision, budget) in ON_A_PIPE {
        let address = served(serve_lines);
        alone(within(budget, BoxConnect::new(Tcp::new(address)), revision));
    }
}

#[test]
fn a_small_call_over_http_keeps_its_budget() {
    for (revision, budget) in OVER_HTTP {
        let url = format!("http://{}/mcp", served(serve_http));
        let target = HttpConnect::to(&url).expect("a URL");
        alone(within(budget, BoxConnect::new(target), revision));
    }
}
