//! The opening of a conversation.

use pintle_model::Revision;
use serde_json::{Value, json};

use super::{Peer, SESSION_ID};
use crate::wire::Wait;

/// The result of an opening: that of `initialize`, or of `server/discover`.
pub(crate) type Opening = Value;

/// The reason why the server does not serve the revision.
#[derive(Debug)]
pub(crate) struct OpeningError(pub(crate) String);

/// Returns the metadata of a request in a revision without a handshake.
pub(super) fn envelope(revision: Revision) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision.as_str(),
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn client() -> Value {
    json!({ "name": "pintle-check", "version": env!("CARGO_PKG_VERSION") })
}

impl Peer {
    /// Returns an `initialize` request for a revision.
    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        let id = self.next_id();
        let params = json!({
            "protocolVersion": revision,
            "capabilities": {},
            "clientInfo": client(),
        });
        json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params })
    }

    /// Opens the conversation.
    ///
    /// # Errors
    ///
    /// [`OpeningError`] if the server does not serve the revision.
    pub(crate) async fn open(&mut self) -> Result<Opening, OpeningError> {
        match self.is_modern() {
            true => self.discover().await,
            false => self.handshake().await,
        }
    }

    async fn discover(&mut self) -> Result<Opening, OpeningError> {
        let request = self.request("server/discover", Value::Null);
        let answer = self.patiently(&request).await?;
        let versions = answer.get("supportedVersions").and_then(Value::as_array);
        match versions {
            Some(versions)
                if versions
                    .iter()
                    .any(|version| *version == *self.revision.as_str()) =>
            {
                Ok(answer)
            }
            Some(_) => Err(OpeningError(
                "its revisions do not include this one".to_owned(),
            )),
            None => Err(OpeningError(
                "`server/discover` lists no revisions".to_owned(),
            )),
        }
    }

    async fn handshake(&mut self) -> Result<Opening, OpeningError> {
        let request = self.initialize(self.revision.as_str());
        let answer = self.patiently(&request).await?;
        let version = answer.get("protocolVersion").and_then(Value::as_str);
        if version != Some(self.revision.as_str()) {
            let version = version.unwrap_or("no revision");
            return Err(OpeningError(format!("the server chooses {version}")));
        }
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.send(&initialized, Wait::Response).await;
        Ok(answer)
    }

    /// Sends the first request, and stores the id of the session.
    async fn patiently(&mut self, request: &Value) -> Result<Value, OpeningError> {
        let id = request.get("id").cloned().unwrap_or_default();
        let reply = self.send(request, Wait::Answer(id.clone())).await;
        if !self.is_modern() {
            self.session = reply.headers.get(SESSION_ID).cloned();
        }
        let answer = reply.answer(&id).and_then(|answer| answer.get("result"));
        let missing = || OpeningError(format!("the answer is {}", reply.text()));
        answer.cloned().ok_or_else(missing)
    }
}
