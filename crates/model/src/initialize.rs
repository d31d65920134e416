//! The handshake that opened a conversation, up to 2025-11-25.
//!
//! Spec: [2025-11-25, Lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).

use serde::{Deserialize, Serialize};

use crate::{
    ClientCapabilities, Extra, Fit, Implementation, Meta, Revision, ServerCapabilities, Unfit,
};

/// The client presents itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeParams {
    /// The newest revision the client speaks. Text, because it may be one we do not know.
    pub protocol_version: String,
    /// What the client can do.
    #[serde(default)]
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    #[serde(default)]
    pub client_info: Implementation,
    /// Request metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl InitializeParams {
    /// Presents a client.
    pub fn new(
        revision: Revision,
        capabilities: ClientCapabilities,
        client_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: revision.as_str().to_owned(),
            capabilities,
            client_info,
            meta: None,
            extra: Extra::new(),
        }
    }

    /// The revision asked for, if we know it.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

/// The server presents itself and names the revision to speak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision to speak. Text, because it may be one we do not know.
    pub protocol_version: String,
    /// What the server can do.
    #[serde(default)]
    pub capabilities: ServerCapabilities,
    /// Who the server is.
    #[serde(default)]
    pub server_info: Implementation,
    /// How to use the server well, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    #[serde(flatten)]
    pub extra: Extra,
}

impl InitializeResult {
    /// Presents a server.
    pub fn new(
        revision: Revision,
        capabilities: ServerCapabilities,
        server_info: Implementation,
    ) -> Self {
        Self {
            protocol_version: revision.as_str().to_owned(),
            capabilities,
            server_info,
            instructions: None,
            meta: None,
            extra: Extra::new(),
        }
    }

    /// The revision to speak, if we know it.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

impl Fit for InitializeParams {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        self.capabilities.fit(revision)?;
        self.client_info.fit(revision)
    }
}

impl Fit for InitializeResult {
    fn fit(&mut self, revision: Revision) -> Result<(), Unfit> {
        self.capabilities.fit(revision)?;
        self.server_info.fit(revision)
    }
}
