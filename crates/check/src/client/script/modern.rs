//! Answers in the revisions without a handshake.

use pintle_model::{Feature, Revision};
use serde_json::{Value, json};

use super::super::record::Kind;
use super::super::scene::Scene;
use super::{Actor, Answer, CAPABILITIES_KEY, Out, claimed, offers, questions};

const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

impl Actor {
    pub(super) async fn modern(
        &self,
        id: &Value,
        method: &str,
        params: &Value,
        out: &Out,
    ) -> Answer {
        if let Err(answer) = self.envelope(params) {
            return answer;
        }
        match method {
            "server/discover" => self.discover(),
            "subscriptions/listen" => self.listen(id, params, out).await,
            "tools/call" => self.modern_call(params, out).await,
            "initialize" => Answer::Error(-32022, "unsupported protocol version", served()),
            _ => match offers::answer(method, params, true) {
                Answer::Result(result) => Answer::Result(self.complete(result, method)),
                other => other,
            },
        }
    }

    fn envelope(&self, params: &Value) -> Result<(), Answer> {
        if self.play.scene == Scene::UnknownVersion {
            let data = json!({ "supported": ["2199-01-01"], "requested": claimed(params) });
            self.add(0, Kind::Unusual(format!("the error -32022 with {data}")));
            return Err(Answer::Error(-32022, "unsupported protocol version", data));
        }
        let revision = claimed(params).and_then(|claimed| claimed.parse::<Revision>().ok());
        match revision.filter(|revision| revision.has(Feature::Envelope)) {
            Some(revision) => {
                self.record.set_revision(self.number, revision);
                Ok(())
            }
            None => Err(Answer::Error(
                -32022,
                "unsupported protocol version",
                served(),
            )),
        }
    }

    fn discover(&self) -> Answer {
        let versions: Vec<&str> = Revision::modern().map(Revision::as_str).collect();
        let result = json!({ "supportedVersions": versions, "capabilities": self.capabilities(None),
            "_meta": { SERVER_KEY: offers::identity() } });
        Answer::Result(self.complete(result, "server/discover"))
    }

    /// Adds the members of a complete result.
    fn complete(&self, mut result: Value, method: &str) -> Value {
        match self.play.scene {
            Scene::NoResultType => self.add(0, Kind::Unusual("no resultType".to_owned())),
            _ => result["resultType"] = json!("complete"),
        }
        let is_cacheable =
            method.ends_with("/list") || matches!(method, "server/discover" | "resources/read");
        if is_cacheable {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        result
    }

    async fn modern_call(&self, params: &Value, out: &Out) -> Answer {
        let name = params
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if name == "ask" {
            let declared = params
                .get("_meta")
                .and_then(|meta| meta.get(CAPABILITIES_KEY));
            if let Some(answer) = questions::round(params, declared.unwrap_or(&Value::Null)) {
                return answer;
            }
        }
        if name == "slow" {
            self.progress(params, out).await;
        }
        match offers::called(name, params) {
            Answer::Result(result) => Answer::Result(self.complete(result, "tools/call")),
            other => other,
        }
    }

    /// Acknowledges a subscription, and reports one change.
    async fn listen(&self, id: &Value, params: &Value, out: &Out) -> Answer {
        let asked = params
            .get("notifications")
            .cloned()
            .unwrap_or_else(|| json!({}));
        let meta = json!({ SUBSCRIPTION_KEY: id });
        let mut granted = json!({});
        let wants_tools = asked.get("toolsListChanged") == Some(&Value::Bool(true));
        if wants_tools {
            granted["toolsListChanged"] = json!(true);
        }
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
            "params": { "_meta": meta, "notifications": granted } });
        self.send(notice, out).await;
        if wants_tools {
            tokio::time::sleep(offers::STEP).await;
            let notice = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed",
                "params": { "_meta": meta } });
            self.send(notice, out).await;
        }
        if self.is_http {
            out.0.closed().await;
        }
        Answer::Silence
    }
}

fn served() -> Value {
    let versions: Vec<&str> = Revision::modern().map(Revision::as_str).collect();
    json!({ "supported": versions })
}

/// Returns the HTTP status of an error.
pub(super) fn status(code: i64) -> u16 {
    match code {
        -32601 => 404,
        _ => 400,
    }
}
