//! The same server over HTTP, where every message is a request of its own.

use std::time::Duration;

use serde_json::Value;

use crate::fake_http::{
    BodyPart, FakeResponse, FakeServer, SeenRequest, empty, end, piece, stream, with,
};

use super::{Hostile, HostileReply, Say};

impl Hostile {
    /// The same server as an HTTP origin, without sessions and without a stream of its own.
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
        let said = seen.json();
        let mouth = self.hear_message(&said);
        let is_request = said.get("id").is_some() && said.get("method").is_some();
        match (is_request, &mouth.says[..]) {
            (false, _) => empty(202),
            (true, []) => vec![BodyPart::Hang],
            (true, [(Duration::ZERO, Say::Text(text))]) => {
                with(200, &[("content-type", "application/json")], text)
            }
            (true, _) => events(mouth, &said["id"]),
        }
    }
}

fn events(mouth: HostileReply, id: &Value) -> FakeResponse {
    let mut answer = stream(&[]);
    let mut says = mouth.says;
    says.sort_by_key(|(wait, _)| *wait);
    let mut waited = Duration::ZERO;
    let mut is_answered = false;
    for (wait, say) in says {
        if wait > waited {
            answer.push(BodyPart::Wait(wait - waited));
            waited = wait;
        }
        match say {
            Say::Text(text) => {
                is_answered |= answers(&text, id);
                answer.push(piece([b"data: ", &text[..], b"\n\n"].concat()));
            }
            Say::Raw(bytes) => answer.push(piece(bytes)),
            Say::Lose(..) | Say::LoseAll(_) => {
                answer.push(BodyPart::Cut);
                return answer;
            }
        }
    }
    answer.push(if is_answered { end() } else { BodyPart::Hang });
    answer
}

fn answers(text: &[u8], id: &Value) -> bool {
    let said: Value = serde_json::from_slice(text).unwrap_or_default();
    said["id"] == *id && said.get("method").is_none()
}
