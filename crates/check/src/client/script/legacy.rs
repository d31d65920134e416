//! Answers in the revisions with a handshake.

use std::time::Duration;

use pintle_model::{Feature, Revision};
use serde_json::{Value, json};

use super::super::record::Kind;
use super::super::scene::Scene;
use super::{Actor, Answer, Out, Part, offers};

/// How long the answer to `initialize` takes. A client that does not wait for it shows itself.
const OPENING_DELAY: Duration = Duration::from_millis(30);

impl Actor {
    pub(super) async fn legacy(&self, method: &str, params: &Value, out: &Out) -> Answer {
        match method {
            "initialize" => self.initialize(params).await,
            "server/discover" => self.undiscovered(out).await,
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                Answer::Result(json!({}))
            }
            "tools/call" => self.call(params, out).await,
            _ => offers::answer(method, params, false),
        }
    }

    async fn initialize(&self, params: &Value) -> Answer {
        tokio::time::sleep(OPENING_DELAY).await;
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let asked: Option<Revision> = asked.and_then(|asked| asked.parse().ok());
        let revision = self
            .play
            .revision
            .or(asked)
            .unwrap_or(Revision::LATEST_LEGACY);
        if !revision.has(Feature::Handshake) {
            return Answer::Error(-32022, "unsupported protocol version", supported(revision));
        }
        {
            let mut state = self.state.lock();
            state.capabilities = params.get("capabilities").cloned().unwrap_or_default();
            state.revision = Some(revision);
        }
        let version = match self.play.scene {
            Scene::UnknownVersion => {
                self.add(0, Kind::Unusual("protocolVersion 1999-12-31".to_owned()));
                "1999-12-31"
            }
            _ => {
                self.record.set_revision(self.number, revision);
                revision.as_str()
            }
        };
        Answer::Result(
            json!({ "protocolVersion": version, "capabilities": self.capabilities(Some(revision)),
            "serverInfo": offers::identity(), "instructions": "A scripted server for checks of clients." }),
        )
    }

    /// Returns the capabilities of the server.
    pub(super) fn capabilities(&self, revision: Option<Revision>) -> Value {
        if self.play.scene == Scene::Bare {
            self.add(0, Kind::Unusual("capabilities {\"tools\":{}}".to_owned()));
            return json!({ "tools": {} });
        }
        let mut all = json!({ "tools": { "listChanged": true }, "prompts": { "listChanged": true },
            "resources": { "listChanged": true, "subscribe": true }, "logging": {} });
        if revision != Some(Revision::V2024_11_05) {
            all["completions"] = json!({});
        }
        all
    }

    /// Answers `server/discover` as a server that does not have it.
    async fn undiscovered(&self, out: &Out) -> Answer {
        match self.play.scene {
            Scene::DiscoverSilence => {
                self.add(0, Kind::Unusual("no answer to server/discover".to_owned()));
                Answer::Silence
            }
            Scene::DiscoverError if self.is_http => {
                self.add(0, Kind::Unusual("HTTP 400 without a body".to_owned()));
                out.part(Part::Status(400)).await;
                Answer::Silence
            }
            Scene::DiscoverError => {
                self.add(0, Kind::Unusual("an error with the code 0".to_owned()));
                Answer::Error(0, "not now", Value::Null)
            }
            _ => {
                out.part(Part::Status(400)).await;
                Answer::Error(-32601, "method not found", Value::Null)
            }
        }
    }

    async fn call(&self, params: &Value, out: &Out) -> Answer {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        match name {
            "ask" => self.questions(out).await,
            "slow" => self.progress(params, out).await,
            _ => {}
        }
        offers::called(name, params)
    }

    /// Reports progress, if the call has a token for it.
    pub(super) async fn progress(&self, params: &Value, out: &Out) {
        let token = params
            .get("_meta")
            .and_then(|meta| meta.get("progressToken"));
        for step in 1..=4 {
            tokio::time::sleep(offers::STEP).await;
            if let Some(token) = token {
                let params = json!({ "progressToken": token, "progress": step, "total": 4 });
                let notice = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
                self.send(notice, out).await;
            }
        }
    }
}

/// The data of an error about the version.
pub(super) fn supported(revision: Revision) -> Value {
    json!({ "supported": [revision.as_str()] })
}
