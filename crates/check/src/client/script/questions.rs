//! Questions to the client: requests in the revisions with a handshake, rounds in the later ones.

use pintle_model::{Feature, Revision};
use serde_json::{Map, Value, json};

use super::super::scene::Scene;
use super::{Actor, Answer, Out};

/// The state of the first round. A client must return each byte.
pub(crate) const STATE: &str = " {\"a\":[1, 2]}\u{e4}\t%2F==";

/// Begins the keys of the second round, which has no state.
pub(crate) const AGAIN: &str = "again-";

impl Actor {
    /// Sends requests that each client must be able to answer: once, and in the plain scene.
    pub(super) async fn probe(&self, out: &Out) {
        let (revision, capabilities) = {
            let mut state = self.state.lock();
            let Some(revision) = state.revision.filter(|_| !state.is_probed) else {
                return;
            };
            state.is_probed = true;
            (revision, state.capabilities.clone())
        };
        match self.play.scene {
            Scene::Plain => {
                self.ask("ping", Value::Null, out).await;
                if capabilities.get("roots").is_some() {
                    self.ask("roots/list", Value::Null, out).await;
                }
            }
            Scene::UnknownRequest => self.undeclared(revision, &capabilities, out).await,
            _ => {}
        }
    }

    /// Asks for each declared feature that involves a user. In one scene all questions are undeclared ones, and an
    /// answer as JSON has no place for a question.
    pub(super) async fn questions(&self, out: &Out) {
        if matches!(self.play.scene, Scene::UnknownRequest | Scene::JsonAnswers) {
            return;
        }
        let (revision, capabilities) = {
            let state = self.state.lock();
            (state.revision, state.capabilities.clone())
        };
        if capabilities.get("roots").is_some() {
            self.ask("roots/list", Value::Null, out).await;
        }
        if capabilities.get("sampling").is_some() {
            self.ask("sampling/createMessage", sampling(), out).await;
        }
        if has_form(&capabilities) && revision.is_some_and(has_elicitation) {
            self.ask("elicitation/create", form(), out).await;
        }
    }

    async fn undeclared(&self, revision: Revision, capabilities: &Value, out: &Out) {
        self.unusual("a request of an unknown method");
        self.ask("pintle/unknown", json!({ "x": 1 }), out).await;
        if capabilities.get("roots").is_none() {
            self.ask("roots/list", Value::Null, out).await;
        }
        match capabilities.get("sampling") {
            None => {
                self.ask("sampling/createMessage", sampling(), out).await;
            }
            Some(declared) if declared.get("tools").is_none() && revision.has(Feature::Icons) => {
                let mut params = sampling();
                params["tools"] = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
                self.ask("sampling/createMessage", params, out).await;
            }
            Some(_) => {}
        }
        if !has_elicitation(revision) {
            return;
        }
        let declared = capabilities.get("elicitation");
        if declared.is_none() {
            self.ask("elicitation/create", form(), out).await;
        }
        if revision.has(Feature::Icons) && declared.is_some_and(|modes| modes.get("url").is_none())
        {
            let params = json!({ "mode": "url", "message": "Open the page.", "elicitationId": "e1",
                "url": "http://127.0.0.1:9/pintle" });
            self.ask("elicitation/create", params, out).await;
        }
    }
}

/// Returns the answer to a call that asks, or nothing if all questions are answered.
pub(super) fn round(params: &Value, declared: &Value) -> Option<Answer> {
    let mut requests = Map::new();
    let state = params.get("requestState").and_then(Value::as_str);
    let is_second = state == Some(STATE);
    let prefix = match is_second {
        true => AGAIN,
        false => "",
    };
    for (name, request) in inputs(declared) {
        requests.insert(format!("{prefix}{name}"), request);
    }
    let responses = params.get("inputResponses").and_then(Value::as_object);
    let is_last = responses.is_some_and(|all| all.keys().any(|key| key.starts_with(AGAIN)));
    if is_last || (is_second && requests.is_empty()) {
        return None;
    }
    if state.is_some() && !is_second {
        return Some(Answer::Error(-32602, "invalid requestState", Value::Null));
    }
    let mut result = json!({ "resultType": "input_required" });
    if !requests.is_empty() {
        result["inputRequests"] = Value::Object(requests);
    }
    if !is_second {
        result["requestState"] = json!(STATE);
    }
    Some(Answer::Result(result))
}

fn inputs(declared: &Value) -> Vec<(&'static str, Value)> {
    let mut inputs = Vec::new();
    if declared.get("roots").is_some() {
        inputs.push(("roots", json!({ "method": "roots/list" })));
    }
    if declared.get("sampling").is_some() {
        inputs.push((
            "sampling",
            json!({ "method": "sampling/createMessage", "params": sampling() }),
        ));
    }
    if has_form(declared) {
        inputs.push((
            "form",
            json!({ "method": "elicitation/create", "params": form() }),
        ));
    }
    inputs
}

/// Returns true if the client accepts forms: an empty declaration is one of forms.
fn has_form(capabilities: &Value) -> bool {
    let declared = capabilities.get("elicitation").and_then(Value::as_object);
    declared.is_some_and(|modes| modes.is_empty() || modes.contains_key("form"))
}

fn has_elicitation(revision: Revision) -> bool {
    revision.has(Feature::RevisionHeader)
}

fn sampling() -> Value {
    let content = json!({ "type": "text", "text": "Write one word." });
    json!({ "messages": [{ "role": "user", "content": content }], "maxTokens": 16 })
}

/// A form without a mode: it is a form in each revision.
fn form() -> Value {
    json!({ "message": "What is the name?", "requestedSchema": { "type": "object",
        "properties": { "name": { "type": "string" } }, "required": ["name"] } })
}
