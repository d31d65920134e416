//! One handler, live and replayed: the same outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle_model::{CreateMessageParams, SamplingMessage};
use pintle_runtime::{Answer, AskError, Context};
use pintle_server::{Server, Tool};
use serde_json::{Value, json};

use crate::questions::peer::{MODERN, Peer, able, accept, text, tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Trip {
    /// Where to.
    city: String,
    days: Option<u8>,
}

/// Asks in a row, one after a condition, two at once, and does one thing once.
async fn plan(cx: Context, booked: Arc<AtomicUsize>) -> Result<String, AskError> {
    let trip = match cx.elicit::<Trip>("Where to?").await? {
        Answer::Accepted(trip) => trip,
        Answer::Declined => return Ok("declined".to_owned()),
        Answer::Cancelled => return Ok("cancelled".to_owned()),
    };
    let number = cx
        .once("book", async { booked.fetch_add(1, Ordering::SeqCst) + 1 })
        .await;
    let question = vec![SamplingMessage::user(format!(
        "What to see in {}?",
        trip.city
    ))];
    let (seen, roots) = tokio::join!(
        cx.sample(CreateMessageParams::new(question, 100)),
        cx.list_roots()
    );
    let seen = seen?.content.blocks()[0]
        .as_text()
        .unwrap_or("?")
        .to_owned();
    Ok(format!(
        "{} for {} days, booking {number}, {seen}, {} roots",
        trip.city,
        trip.days.unwrap_or(1),
        roots?.len()
    ))
}

fn server(booked: &Arc<AtomicUsize>) -> Server {
    let booked = Arc::clone(booked);
    let plan = move |cx: Context| plan(cx, Arc::clone(&booked));
    Server::new("travel", "1.0.0").add_tool(Tool::new("plan").handler(plan))
}

fn answer(method: &str, _params: &Value) -> Value {
    match method {
        "elicitation/create" => accept(json!({ "city": "Ulm", "days": 3 })),
        "sampling/createMessage" => json!({ "role": "assistant", "model": "m",
            "content": { "type": "text", "text": "the minster" } }),
        _ => json!({ "roots": [{ "uri": "file:///a" }] }),
    }
}

// spec: 2026-07-28 N-MRTR-01, N-MRTR-14, N-MRTR-33
// spec: 2025-11-25 ELIC-13, ROOT-02
#[tokio::test(start_paused = true)]
async fn one_handler_has_one_outcome_live_and_replayed() {
    for revision in ["2025-06-18", "2025-11-25", MODERN] {
        let booked = Arc::default();
        let mut peer = Peer::connect(server(&booked), revision, able()).await;
        let answered = peer.complete("tools/call", tool("plan"), answer).await;
        assert_eq!(
            text(&answered),
            "Ulm for 3 days, booking 1, the minster, 1 roots",
            "{revision}"
        );
        assert_eq!(peer.asked.len(), 3);
        assert_eq!(
            booked.load(Ordering::SeqCst),
            1,
            "what is done once is done once"
        );
        let schema = &peer.asked[0].1["requestedSchema"];
        assert_eq!(
            schema["properties"]["city"],
            json!({ "type": "string", "description": "Where to." })
        );
        assert_eq!(schema["required"], json!(["city"]));
    }
}

// spec: 2026-07-28 N-MRTR-05
#[tokio::test(start_paused = true)]
async fn questions_asked_together_go_out_in_one_round() {
    let mut peer = Peer::connect(server(&Arc::default()), MODERN, able()).await;
    peer.complete("tools/call", tool("plan"), answer).await;
    assert_eq!((peer.rounds, peer.asked.len()), (2, 3));
}

// spec: 2026-07-28 N-ELIC-09 (refusals)
// spec: 2025-11-25 ELIC-37, ELIC-38
#[tokio::test(start_paused = true)]
async fn no_is_an_answer() {
    for revision in ["2025-06-18", "2025-11-25", MODERN] {
        for (action, expected) in [("decline", "declined"), ("cancel", "cancelled")] {
            let mut peer = Peer::connect(server(&Arc::default()), revision, able()).await;
            let refuse = |_: &str, _: &Value| json!({ "action": action });
            let answered = peer.complete("tools/call", tool("plan"), refuse).await;
            assert_eq!(text(&answered), expected);
            assert_eq!(answered["result"]["isError"], Value::Null);
        }
    }
}
