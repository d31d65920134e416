//! Lines on standard streams.

use serde_json::{Value, json};

use super::{LEGACY, MODERN, run};
use crate::check::{Check, must, robust, should};
use crate::finding::{Judgement, ensure, observed, skipped};
use crate::peer::Peer;
use crate::target::Kind;
use crate::wire::Wait;

pub(super) const CHECKS: &[Check] = &[
    Check::new(
        "stdout-only-messages",
        "The output of the server has only messages.",
        "stdio: Message framing",
        &[
            must(LEGACY, &["TRANS-STDIO-07"]).stdio(),
            must(MODERN, &["N-STDIO-02"]).stdio(),
        ],
        run!(only_messages),
    ),
    Check::new(
        "stdout-one-line-each",
        "Each message is one line.",
        "stdio: Message framing",
        &[
            must(LEGACY, &["TRANS-STDIO-02", "TRANS-STDIO-03"]).stdio(),
            must(MODERN, &["N-STDIO-01"]).stdio(),
        ],
        run!(one_line),
    ),
    Check::new(
        "stdin-line-ends",
        "A line may end with CR LF, and blank lines are ignored.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-117", "H-118"]).stdio(),
            robust(MODERN, &["H-117", "H-118"]).stdio(),
        ],
        run!(line_ends),
    ),
    Check::new(
        "stdin-byte-order-mark",
        "After a byte order mark the next request is answered.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-119"]).stdio(),
            robust(MODERN, &["H-119"]).stdio(),
        ],
        run!(byte_order_mark),
    ),
    Check::new(
        "stdin-pieces",
        "A message that arrives in pieces is answered once.",
        "SECURITY: messages of a peer",
        &[
            robust(LEGACY, &["H-121"]).stdio(),
            robust(MODERN, &["H-121"]).stdio(),
        ],
        run!(pieces),
    ),
    Check::new(
        "stdin-pipelined",
        "200 requests in one write are all answered, each once.",
        "Base protocol: Statelessness",
        &[
            robust(LEGACY, &["H-132"]).stdio(),
            should(MODERN, &["N-STATE-02"]).stdio(),
            robust(MODERN, &["H-132"]).stdio(),
        ],
        run!(pipelined),
    ),
    Check::new(
        "stdin-end",
        "The server exits within 5 seconds after the end of its input.",
        "stdio: Shutdown",
        &[
            robust(LEGACY, &["H-130"]).stdio(),
            should(MODERN, &["N-STDIO-09"]).stdio(),
        ],
        run!(end),
    ),
];

async fn only_messages(peer: &mut Peer) -> Judgement {
    for exchange in peer.exchanges() {
        if let Some(junk) = exchange.reply.junk.first() {
            return Err(observed(format!("the line {junk:?}")));
        }
        let is_message = |message: &&Value| message.is_object() || message.is_array();
        if let Some(odd) = exchange
            .reply
            .messages
            .iter()
            .find(|message| !is_message(message))
        {
            return Err(observed(format!("the line {odd}")));
        }
    }
    Ok(())
}

async fn one_line(peer: &mut Peer) -> Judgement {
    let name = "pintle/check\u{2028}\u{85}\r\n\tunknown";
    let answer = peer.ask(name, json!({ "text": "a\nb\u{2029}" })).await?;
    answer.code()?;
    let junk = answer.reply.junk.first();
    match junk {
        None => Ok(()),
        Some(junk) => Err(observed(format!("the line {junk:?}"))),
    }
}

fn harmless(peer: &mut Peer) -> Value {
    match peer.is_modern() {
        true => peer.request("server/discover", Value::Null),
        false => peer.request("ping", Value::Null),
    }
}

async fn line_ends(peer: &mut Peer) -> Judgement {
    let request = harmless(peer);
    let id = request.get("id").cloned().unwrap_or_default();
    let body = format!("\r\n\n   \n{request}\r").into_bytes();
    let reply = peer.probe(body, Vec::new()).await?;
    ensure(reply.answer(&id).is_some())
}

async fn byte_order_mark(peer: &mut Peer) -> Judgement {
    let request = harmless(peer);
    let body = [b"\xef\xbb\xbf", request.to_string().as_bytes()].concat();
    peer.probe(body, Vec::new()).await?;
    peer.is_alive().await
}

async fn pieces(peer: &mut Peer) -> Judgement {
    if let Kind::Http(_) = peer.target.0 {
        return Err(skipped("the server is not on stdio"));
    }
    let request = harmless(peer);
    let id = request.get("id").cloned().unwrap_or_default();
    let padded = format!("{}{request}", " ".repeat(70_000));
    let reply = peer.probe(padded.into_bytes(), Vec::new()).await?;
    let count = reply
        .messages
        .iter()
        .filter(|message| message.get("id") == Some(&id))
        .count();
    ensure(count == 1)
}

async fn pipelined(peer: &mut Peer) -> Judgement {
    let requests: Vec<Value> = (0..200).map(|_| harmless(peer)).collect();
    let lines: Vec<String> = requests.iter().map(ToString::to_string).collect();
    let body = lines.join("\n").into_bytes();
    peer.be_patient();
    let reply = peer
        .exchange(
            body,
            http::Method::POST,
            Vec::new(),
            Wait::Messages(requests.len()),
        )
        .await;
    for request in &requests {
        let id = request.get("id");
        let answers = reply
            .messages
            .iter()
            .filter(|message| message.get("id") == id);
        if answers.count() != 1 {
            return Err(observed(format!(
                "not one response to the id {id:?}: {}",
                reply.text()
            )));
        }
    }
    Ok(())
}

async fn end(peer: &mut Peer) -> Judgement {
    let other = peer.another().await?;
    match other.close().await {
        true => Ok(()),
        false => Err(observed("the server still runs")),
    }
}
