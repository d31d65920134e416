//! The handshake that opened a conversation, up to 2025-11-25.
//!
//! Spec: [2025-11-25, Lifecycle](https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle).

use crate::identity::of_server;
use crate::object::object;
use crate::{
    ClientCapabilities, Extra, Fit, FitError, Implementation, Meta, Revision, ServerCapabilities,
};

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeParams {
    /// Latest revision that the client supports. Text, because it may be unknown.
    pub protocol_version: String,
    /// Capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// Identity of the client.
    pub client_info: Implementation,
    /// Request metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(InitializeParams {
    "protocolVersion" => required protocol_version,
    "capabilities" => default capabilities,
    "clientInfo" => default client_info,
    "_meta" => optional meta,
});

impl InitializeParams {
    /// Creates the parameters of a client.
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

    /// Returns the requested revision, if it is known.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

/// Result of `initialize`, with the revision of the conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InitializeResult {
    /// Revision of the conversation. Text, because it may be unknown.
    pub protocol_version: String,
    /// Capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Identity of the server.
    pub server_info: Implementation,
    /// Instructions for using the server, for the model.
    pub instructions: Option<String>,
    /// Metadata.
    pub meta: Option<Meta>,
    /// Members this version does not know; kept and written back.
    pub extra: Extra,
}

object!(InitializeResult {
    "protocolVersion" => required protocol_version,
    "capabilities" => default capabilities,
    "serverInfo" => default server_info (read of_server),
    "instructions" => optional instructions,
    "_meta" => optional meta,
});

impl InitializeResult {
    /// Creates the result of a server.
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

    /// Returns the revision of the conversation, if it is known.
    pub fn revision(&self) -> Option<Revision> {
        self.protocol_version.parse().ok()
    }
}

impl Fit for InitializeParams {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.capabilities.fit(revision)?;
        self.client_info.fit(revision)
    }
}

impl Fit for InitializeResult {
    fn fit(&mut self, revision: Revision) -> Result<(), FitError> {
        self.capabilities.fit(revision)?;
        self.server_info.fit(revision)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // spec: 2025-11-25 AMB-18
    #[test]
    fn an_unknown_revision_is_read() {
        let wire = json!({"protocolVersion": "1.0", "capabilities": {}, "x": 1,
            "clientInfo": {"name": "a", "version": "1"}});
        let params: InitializeParams = serde_json::from_value(wire.clone()).unwrap();

        assert_eq!(params.revision(), None);
        assert_eq!(serde_json::to_value(params).unwrap(), wire);
    }

    // spec: 2025-11-25 D0618-03, D0618-04
    #[test]
    fn the_initialize_result_has_only_members_of_its_revision() {
        let revision = Revision::V2024_11_05;
        let capabilities = ServerCapabilities::default()
            .with_tools()
            .with_completions();
        let identity = Implementation::new("a", "1").with_title("A");
        let mut result = InitializeResult::new(revision, capabilities, identity);
        result.fit(revision).unwrap();

        assert_eq!(
            serde_json::to_value(result).unwrap(),
            json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                "serverInfo": {"name": "a", "version": "1"}})
        );
    }
}
