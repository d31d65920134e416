//! Time: whose it is while a question is open, and what ends with the pipe.

use std::time::Duration;

use pintle_runtime::{AskError, Context, layers::TimeoutLayer};
use pintle_server::{Server, Tool};
use serde_json::json;
use tokio::time::Instant;

use crate::questions::peer::{Peer, able, text, tool};

const SECOND: Duration = Duration::from_secs(1);

/// Works for three seconds, with two questions in between.
async fn work(cx: Context) -> Result<String, AskError> {
    tokio::time::sleep(SECOND).await;
    cx.list_roots().await?;
    tokio::time::sleep(SECOND).await;
    let (one, other) = tokio::join!(cx.list_roots(), cx.list_roots());
    one?;
    other?;
    tokio::time::sleep(SECOND).await;
    Ok("done".to_owned())
}

fn server() -> Server {
    let waiting = async |cx: Context| cx.list_roots().await.map(|_| ());
    Server::new("asks", "1.0.0")
        .add_tool(Tool::new("ample").timeout(4 * SECOND).handler(work))
        .add_tool(Tool::new("tight").timeout(2 * SECOND).handler(work))
        .add_tool(Tool::new("waiting").handler(waiting))
}

/// Answers every question after a minute.
async fn slowly(peer: &mut Peer, name: &str) -> serde_json::Value {
    let id = peer.begin("tools/call", tool(name)).await;
    loop {
        let message = peer.receive().await;
        if message["id"] == id && message["method"].is_null() {
            return message;
        }
        if message["method"] == "roots/list" {
            tokio::time::sleep(60 * SECOND).await;
            peer.answer_to(&message, json!({ "roots": [] })).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_is_on_the_time_of_the_tool_not_of_its_user() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    assert_eq!(text(&slowly(&mut peer, "ample").await), "done");
    let late = slowly(&mut peer, "tight").await;
    assert_eq!(text(&late), "the tool took longer than 2s and was stopped");
}

#[tokio::test(start_paused = true)]
async fn so_is_the_ceiling_of_a_layer() {
    for (ceiling, is_missed) in [(4 * SECOND, false), (2 * SECOND, true)] {
        let server = Server::new("asks", "1.0.0")
            .add_tool(Tool::new("work").handler(work))
            .layer(TimeoutLayer::new(ceiling));
        let mut peer = Peer::connect(server, "2025-11-25", able()).await;
        let answered = slowly(&mut peer, "work").await;
        assert_eq!(answered["error"]["code"] == -32603, is_missed, "{answered}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_pipe_it_was_asked_on() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    peer.begin("tools/call", tool("waiting")).await;
    let asked = peer.receive().await;
    let began = Instant::now();
    peer.hang_up().await;
    let taken_back = peer.receive().await;
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    let answered = peer.receive().await;
    assert!(
        text(&answered).contains("the conversation ended"),
        "{answered}"
    );
    assert_eq!(began.elapsed(), Duration::ZERO, "nobody can answer");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_of_a_peer_that_has_hung_up() {
    let mut peer = Peer::connect(server(), "2025-11-25", able()).await;
    // Its first question comes a second after the end of input.
    peer.begin("tools/call", tool("ample")).await;
    peer.hang_up().await;
    let answered = peer.receive().await;
    assert_eq!(
        text(&answered),
        "the client cannot be asked: the conversation is closed"
    );
}
