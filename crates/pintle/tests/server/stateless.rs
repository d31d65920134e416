//! State that a server must not store per connection, and requests that need no connection.

use std::collections::BTreeMap;
use std::sync::Mutex;

use pintle::model::{Annotations, ContentBlock, PromptMessage, Role};
use pintle::prelude::*;
use serde_json::{Value, json};

use crate::server::peer::{MODERN, Peer, REVISIONS};

/// Baskets by their names.
type Baskets = Mutex<BTreeMap<String, Vec<String>>>;

/// Begins a basket, and returns its name.
#[tool]
async fn begin(baskets: State<Baskets>) -> String {
    let mut baskets = baskets.lock().expect("nobody panics");
    let name = format!("basket-{}", baskets.len());
    baskets.insert(name.clone(), Vec::new());
    name
}

/// Puts something into a basket.
#[tool]
async fn put(basket: String, thing: String, baskets: State<Baskets>) -> Result<usize> {
    let mut baskets = baskets.lock().expect("nobody panics");
    let things = baskets.get_mut(&basket).ok_or("no such basket")?;
    things.push(thing);
    Ok(things.len())
}

/// Returns its region.
#[tool]
async fn send(#[arg(header = "Region")] region: String) -> String {
    region
}

fn server() -> Server {
    Server::new("shop", "1")
        .state(Baskets::default())
        .tools::<(begin, put, send)>()
        .add_resource(Resource::text("shop://hours", "hours", "always"))
        .add_prompt(Prompt::new("greet").handler(async || "Hello."))
}

const LISTS: [&str; 4] = [
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
];

// spec: 2026-07-28 N-STATE-07, N-STATE-06, N-TOOL-03, N-PROMPT-02, N-RSRC-02
#[tokio::test]
async fn lists_are_the_same_on_every_connection_whatever_was_done_on_it() {
    for revision in REVISIONS {
        let app = server().build().expect("starts");
        let mut busy = Peer::on(app.clone(), revision, json!({})).await;
        let basket = text(busy.call("begin", json!({})).await);
        busy.call("put", json!({ "basket": basket, "thing": "rope" }))
            .await;
        busy.result("prompts/get", json!({ "name": "greet" })).await;
        let mut idle = Peer::on(app, revision, json!({ "sampling": {} })).await;
        for list in LISTS {
            let (one, other) = (
                busy.ask(list, json!({})).await,
                idle.ask(list, json!({})).await,
            );
            assert_eq!(one["result"], other["result"], "{revision} {list}");
        }
    }
}

// spec: 2026-07-28 N-STATE-02, N-STATE-03, N-STATE-05
#[tokio::test]
async fn state_across_requests_is_found_by_its_name_on_any_connection() {
    let app = server().build().expect("starts");
    let first = Peer::on(app.clone(), MODERN, json!({})).await;
    let second = Peer::on(app, MODERN, json!({})).await;
    let mut peers = [first, second];
    let one = text(peers[0].call("begin", json!({})).await);
    let other = text(peers[0].call("begin", json!({})).await);
    for (peer, basket, count) in [
        (1, &one, "1"),
        (0, &other, "1"),
        (0, &one, "2"),
        (1, &other, "2"),
    ] {
        let put = json!({ "basket": basket, "thing": "rope" });
        assert_eq!(text(peers[peer].call("put", put).await), count);
    }
    let unknown = peers[1]
        .call("put", json!({ "basket": "x", "thing": "y" }))
        .await;
    assert_eq!(unknown["isError"], true);
}

// spec: 2026-07-28 N-STDIO-13
#[tokio::test]
async fn headers_are_nothing_to_a_pipe() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let sent = peer.call("send", json!({ "region": "north" })).await;
        assert_eq!(text(sent), "north", "{revision}");
    }
}

// spec: 2025-11-25 TOOL-13
// spec: 2026-07-28 N-TOOL-05
#[tokio::test]
async fn names_are_case_sensitive() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        for name in ["Begin", "BEGIN", "begin ", "bеgin"] {
            let error = peer.error("tools/call", json!({ "name": name })).await;
            assert_eq!(error["code"], -32602, "{revision} {name}");
        }
        assert_eq!(
            peer.error("prompts/get", json!({ "name": "Greet" })).await["code"],
            -32602
        );
    }
}

// spec: 2025-11-25 PROM-06, RES-09
// spec: 2026-07-28 N-PROMPT-06
#[tokio::test]
async fn a_prompt_may_sound() {
    let sounds = || {
        let horn = ContentBlock::audio([1, 2, 3], "audio/wav");
        let about = Annotations::default()
            .with_audience([Role::User])
            .with_priority(0.5);
        vec![PromptMessage::new(Role::User, horn.with_annotations(about))]
    };
    for revision in REVISIONS {
        let prompt = Prompt::new("horn").handler(move || std::future::ready(sounds()));
        let mut peer = Peer::of(Server::new("s", "1").add_prompt(prompt), revision).await;
        let got = peer.result("prompts/get", json!({ "name": "horn" })).await;
        let content = &got["messages"][0]["content"];
        if !peer.is_since("2025-03-26") {
            assert_eq!(content["type"], "text", "{revision}");
            continue;
        }
        let annotations = json!({ "audience": ["user"], "priority": 0.5 });
        let horn = json!({ "type": "audio", "data": "AQID", "mimeType": "audio/wav",
            "annotations": annotations });
        assert_eq!(*content, horn, "{revision}");
    }
}

fn text(result: Value) -> String {
    result["content"][0]["text"]
        .as_str()
        .expect("text")
        .to_owned()
}
