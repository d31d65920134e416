//! The same server over HTTP, where every message of the client is a request.

use std::time::Duration;

use serde_json::Value;

use crate::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, empty, end, piece, stream, with,
};

use super::{HostileReply, HostileServer, Output};

impl HostileServer {
    /// The same server over HTTP, without sessions and without a stream of its own.
    ///
    /// A single message in answer to a request is a JSON body. Several messages are an event stream,
    /// which ends after the answer. A request without an answer waits on an open connection. Messages
    /// in answer to a notification or a response are dropped, because they have no stream.
    pub fn origin(&self) -> FakeServer {
        let server = self.clone();
        FakeServer::new(move |seen, _| match seen.verb.as_str() {
            "POST" => server.post(seen),
            "DELETE" => empty(200),
            _ => empty(405),
        })
    }

    fn post(&self, seen: &SeenRequest) -> FakeResponse {
        let message = seen.json();
        let out = self.receive_message(&message);
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        match (is_request, &out.outputs[..]) {
            (false, _) => empty(202),
            (true, []) => vec![BodyPart::Hang],
            (true, [(Duration::ZERO, Output::Text(text))]) => {
                with(200, &[("content-type", "application/json")], text)
            }
            (true, _) => events(out, &message["id"]),
        }
    }
}

fn events(out: HostileReply, id: &Value) -> FakeResponse {
    let mut answer = stream(&[]);
    let mut outputs = out.outputs;
    outputs.sort_by_key(|(wait, _)| *wait);
    let mut waited = Duration::ZERO;
    let mut is_answered = false;
    for (wait, output) in outputs {
        if wait > waited {
            answer.push(BodyPart::Wait(wait - waited));
            waited = wait;
        }
        match output {
            Output::Text(text) => {
                is_answered |= answers(&text, id);
                answer.push(piece([b"data: ", &text[..], b"\n\n"].concat()));
            }
            Output::Raw(bytes) => answer.push(piece(bytes)),
            Output::Lose(..) | Output::LoseAll(_) => {
                answer.push(BodyPart::Cut);
                return answer;
            }
        }
    }
    answer.push(if is_answered { end() } else { BodyPart::Hang });
    answer
}

fn answers(text: &[u8], id: &Value) -> bool {
    let message: Value = serde_json::from_slice(text).unwrap_or_default();
    message["id"] == *id && message.get("method").is_none()
}
