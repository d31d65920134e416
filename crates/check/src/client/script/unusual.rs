//! The unusual thing of a scene, before an answer or in it.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::record::Kind;
use super::super::scene::Scene;
use super::{Actor, Out, Part};

/// The pause for reconnections that the server asks for.
pub(crate) const RETRY: Duration = Duration::from_millis(400);

/// Streams that end before the answer, in one conversation.
const MAX_DROPS: usize = 2;

/// Size of the padding of a large message, in bytes.
const PADDING_BYTES: usize = 1 << 20;

impl Actor {
    pub(super) fn unusual(&self, text: &str) {
        self.add(text.len(), Kind::Unusual(text.to_owned()));
    }

    /// Sends something before an answer.
    pub(super) async fn unusual_before(&self, out: &Out) {
        match self.play.scene {
            Scene::UnknownNotification => {
                self.unusual("notifications/pintle/unknown");
                self.notify("notifications/pintle/unknown", json!({ "x": [1] }), out)
                    .await;
            }
            Scene::StrayAnswers => {
                self.unusual(
                    "answers to the ids \"pintle-unknown\" and 987654321, and each answer twice",
                );
                let error = json!({ "code": -32603, "message": "unknown" });
                for answer in [
                    json!({ "jsonrpc": "2.0", "id": "pintle-unknown", "result": {} }),
                    json!({ "jsonrpc": "2.0", "id": 987_654_321, "error": error }),
                ] {
                    self.send(answer, out).await;
                }
            }
            Scene::StrayNotifications => self.stray(out).await,
            Scene::BrokenJson => {
                let broken = "{\"jsonrpc\":\"2.0\",\"method\":";
                self.unusual(broken);
                out.part(Part::Text(broken.to_owned())).await;
            }
            Scene::EventForms if self.is_http => self.unusual("events in every form"),
            Scene::JsonAnswers if self.is_http => {
                self.unusual("an answer of the type application/json")
            }
            _ => {}
        }
    }

    async fn stray(&self, out: &Out) {
        self.unusual("notifications about an unknown request, token and question");
        let progress = json!({ "progressToken": "pintle-unknown", "progress": 1 });
        self.notify("notifications/progress", progress, out).await;
        let cancelled = json!({ "requestId": "pintle-unknown" });
        self.notify("notifications/cancelled", cancelled, out).await;
        let complete = json!({ "elicitationId": "pintle-unknown" });
        self.notify("notifications/elicitation/complete", complete, out)
            .await;
    }

    async fn notify(&self, method: &str, params: Value, out: &Out) {
        self.send(
            json!({ "jsonrpc": "2.0", "method": method, "params": params }),
            out,
        )
        .await;
    }

    /// Changes a result.
    pub(super) fn unusual_result(&self, result: &mut Value) {
        match self.play.scene {
            Scene::UnknownMembers => {
                self.unusual("unknown members at each level of the result");
                unknown_members(result, 4);
            }
            // Once is enough, because some clients are slow with such results.
            Scene::LargeMessage if !std::mem::replace(&mut self.state.lock().is_padded, true) => {
                self.unusual("a result of 1 MiB");
                result["_meta"]["com.example/padding"] = json!("x".repeat(PADDING_BYTES));
            }
            _ => {}
        }
    }

    /// Ends a stream before its answer. Returns true if the answer is not sent on it.
    pub(super) async fn drop_stream(&self, id: &Value, out: &Out) -> bool {
        if self.play.scene != Scene::StreamEnd {
            return false;
        }
        let is_modern = self
            .play
            .revision
            .is_some_and(|own| own.has(pintle_model::Feature::Envelope));
        {
            let mut state = self.state.lock();
            if state.drops == MAX_DROPS {
                return false;
            }
            state.drops += 1;
        }
        if is_modern {
            self.unusual("the end of the stream before the answer");
            out.part(Part::Status(200)).await;
            return true;
        }
        // The stream goes on when the client reconnects: the transport stores the rest of it.
        let event = format!("pintle-{}-{id}", self.number);
        let retry = RETRY;
        self.unusual("the end of the stream after an event with an id");
        out.part(Part::Prime {
            event: event.clone(),
            retry,
        })
        .await;
        self.add(0, Kind::Dropped { event, retry });
        false
    }
}

/// Adds a member to each object, except to schemas.
fn unknown_members(value: &mut Value, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(object) => {
            for (name, inner) in object.iter_mut() {
                if !matches!(name.as_str(), "inputSchema" | "_meta" | "inputRequests") {
                    unknown_members(inner, depth - 1);
                }
            }
            object.insert("pintleUnknown".to_owned(), json!({ "x": [null] }));
        }
        Value::Array(entries) => {
            for entry in entries {
                unknown_members(entry, depth - 1);
            }
        }
        _ => {}
    }
}
