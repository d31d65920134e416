//! One server over HTTP without a socket, in every revision with Streamable HTTP: valid and faulty
//! handlers.

mod access;
mod ends;
mod extensions;
pub(crate) mod guest;
mod tasks;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle::prelude::*;
use serde_json::{Value, json};

use guest::{Guest, MODERN, REVISIONS};

/// Returns its text.
#[tool(read_only)]
async fn echo(#[arg(max_len = 10, header = "Text")] text: String) -> String {
    text
}

/// Reports its progress.
#[tool]
async fn works(ctx: Context) -> &'static str {
    ctx.progress(1.0, Some(2.0), "half").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    ctx.progress(2.0, Some(2.0), "whole").await;
    "done"
}

/// Panics after a moment.
#[tool]
async fn panics() -> String {
    tokio::time::sleep(Duration::from_millis(1)).await;
    panic!("as asked; the password is 12345")
}

/// Waits without end.
#[tool(timeout = "1s")]
async fn hangs() {
    std::future::pending().await
}

/// Waits until the call is cancelled.
#[tool]
async fn waits(gone: State<AtomicUsize>, ctx: Context) {
    struct Guard(State<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _guard = Guard(gone);
    ctx.progress(1.0, None, ()).await;
    std::future::pending().await
}

/// Returns the number of cancelled calls.
#[tool]
async fn gone(gone: State<AtomicUsize>) -> usize {
    gone.load(Ordering::SeqCst)
}

fn server() -> Server {
    Server::new("faults", "1")
        .state(AtomicUsize::new(0))
        .tools::<(echo, works, panics, hangs, waits, gone)>()
}

// spec: 2025-11-25 TOOL-03, TOOL-25
// spec: 2026-07-28 N-TOOL-14
#[tokio::test(start_paused = true)]
async fn a_tool_answers_and_a_bad_argument_is_for_the_model() {
    for revision in REVISIONS {
        let mut guest = Guest::of(server(), revision).await;
        let answers = guest.call("echo", json!({ "text": "hello" })).await;
        assert_eq!(text(answers.last()), "hello", "{revision}: {answers:?}");
        let answers = guest.call("echo", json!({ "text": "far too long" })).await;
        assert_eq!(
            answers.last().expect("answered")["result"]["isError"],
            true,
            "{revision}: {answers:?}"
        );
    }
}

// spec: 2025-11-25 PROG-01
// spec: 2026-07-28 N-PROG-08
#[tokio::test(start_paused = true)]
async fn progress_comes_before_the_answer_on_its_stream() {
    for revision in REVISIONS {
        let mut guest = Guest::of(server(), revision).await;
        let answers = guest.call("works", json!({})).await;
        let steps: Vec<_> = answers
            .iter()
            .map(|message| message["params"]["progress"].as_f64())
            .collect();
        assert_eq!(steps, [Some(1.0), Some(2.0), None], "{revision}");
        assert_eq!(text(answers.last()), "done", "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_answered_and_the_next_is_served() {
    for revision in REVISIONS {
        let mut guest = Guest::of(server(), revision).await;
        let answers = guest.call("panics", json!({})).await;
        assert_eq!(
            answers.last().expect("answered")["error"]["code"],
            -32603,
            "{revision}: {answers:?}"
        );
        assert!(
            !format!("{answers:?}").contains("12345"),
            "{revision}: {answers:?}"
        );
        assert_eq!(
            text(guest.call("gone", json!({})).await.last()),
            "0",
            "{revision}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_its_limit_is_answered() {
    for revision in REVISIONS {
        let mut guest = Guest::of(server(), revision).await;
        let answers = guest.call("hangs", json!({})).await;
        assert!(
            text(answers.last()).contains("1s"),
            "{revision}: {answers:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cancelled_is_dropped() {
    for revision in REVISIONS {
        let mut guest = Guest::of(server(), revision).await;
        guest.cancel("waits").await;
        let mut gone = String::from("0");
        // A task of the server drops a cancelled handler, a few turns later.
        for _ in 0..1_000 {
            gone = text(guest.call("gone", json!({})).await.last());
            if gone != "0" {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert_eq!(gone, "1", "{revision}");
    }
}

// spec: 2026-07-28 N-DISC-01
#[tokio::test(start_paused = true)]
async fn it_is_the_same_server_on_one_path_in_both_eras() {
    let service = guest::service(server());
    for revision in REVISIONS {
        let mut guest = Guest::on(service.clone(), revision).await;
        assert_eq!(guest.has_session(), revision != MODERN, "{revision}");
        let listed = guest.ask("tools/list", json!({})).await;
        let tools = listed.last().expect("answered")["result"]["tools"]
            .as_array()
            .map(Vec::len);
        assert_eq!(tools, Some(6), "{revision}");
    }
}

fn text(answer: Option<&Value>) -> String {
    answer.expect("answered")["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}
