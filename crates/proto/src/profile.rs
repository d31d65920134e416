//! What a server says about itself, rendered ahead of time.

use bytes::Bytes;

use pintle_model::jsonrpc::write_response_head;
use pintle_model::{
    DiscoverResult, Feature, Fit, Freshness, Implementation, InitializeResult, Meta,
    RequestId, Revision, ServerCapabilities,
};

use crate::io::Frame;
use crate::reply::Reply;

/// What a server says about itself, the same for every conversation.
#[derive(Debug, Clone)]
pub struct ServerProfile {
    identity: Implementation,
    instructions: Option<String>,
    capabilities: ServerCapabilities,
    discover_freshness: Freshness,
    /// `"io.modelcontextprotocol/serverInfo":{…}`
    server_info: Box<[u8]>,
}

impl ServerProfile {
    /// Describes a server. Its name and version are its author's.
    pub fn new(identity: Implementation, capabilities: ServerCapabilities) -> Self {
        let mut fitted = identity.clone();
        let fits = fitted.fit(Revision::LATEST).is_ok();
        debug_assert!(fits, "an identity can be said in every revision");
        let mut server_info = format!("\"{}\":", Meta::SERVER_INFO).into_bytes();
        serde_json::to_writer(&mut server_info, &fitted).expect("an identity is always writable");
        Self {
            identity,
            instructions: None,
            capabilities,
            discover_freshness: Freshness::default(),
            server_info: server_info.into(),
        }
    }

    /// Adds what a model should know to use the server well.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// Says how long `server/discover` may be kept.
    #[must_use]
    pub fn with_discover_freshness(mut self, freshness: Freshness) -> Self {
        self.discover_freshness = freshness;
        self
    }

    /// Who the server is.
    pub fn identity(&self) -> &Implementation {
        &self.identity
    }

    /// What the server offers.
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.capabilities
    }

    /// The answer to `initialize`.
    pub(crate) fn welcome(&self, revision: Revision) -> InitializeResult {
        let mut result = InitializeResult::new(revision, self.capabilities.clone(), self.identity.clone());
        result.instructions.clone_from(&self.instructions);
        let fits = result.fit(revision).is_ok();
        debug_assert!(fits, "a welcome can be said in every revision");
        result
    }

    /// The answer to `server/discover`. It names the modern revisions only.
    pub(crate) fn discovery(&self, revision: Revision) -> DiscoverResult {
        let mut result = DiscoverResult::new(Revision::modern(), self.capabilities.clone());
        result.instructions.clone_from(&self.instructions);
        result.freshness = Some(self.discover_freshness);
        let fits = result.fit(revision).is_ok();
        debug_assert!(fits, "a discovery can be said in every revision");
        result
    }

    /// A response: the envelope and the stamps of `revision` around a rendered result.
    pub(crate) fn stamp(&self, revision: Revision, id: &RequestId, reply: Reply) -> Frame {
        let (result_type, rendered) = reply.into_parts();
        let (json, meta) = rendered.into_parts();
        let mut head = Vec::with_capacity(96 + self.server_info.len());
        write_response_head(&mut head, id);
        head.push(b'{');
        if revision.has(Feature::ResultType) {
            head.extend_from_slice(b"\"resultType\":\"");
            head.extend_from_slice(result_type.as_bytes());
            head.extend_from_slice(b"\",");
        }
        self.write_meta(&mut head, revision, meta.as_ref());
        // The object goes on where the stamps end; its own first brace is ours already.
        let is_bare = json.len() <= 2;
        if is_bare && head.last() == Some(&b',') {
            head.pop();
        }
        Frame { head: head.into(), body: json.slice(1..), tail: b"}" }
    }

    /// A response of a client: the envelope around a rendered result, nothing added.
    pub(crate) fn bare(id: &RequestId, reply: Reply) -> Frame {
        let (_, rendered) = reply.into_parts();
        let (json, meta) = rendered.into_parts();
        let mut head = Vec::with_capacity(64);
        write_response_head(&mut head, id);
        head.push(b'{');
        if let Some(meta) = meta {
            head.extend_from_slice(b"\"_meta\":");
            serde_json::to_writer(&mut head, &meta).expect("metadata is always writable");
            if json.len() > 2 {
                head.push(b',');
            }
        }
        Frame { head: head.into(), body: json.slice(1..), tail: b"}" }
    }

    fn write_meta(&self, head: &mut Vec<u8>, revision: Revision, meta: Option<&Meta>) {
        let names_server = revision.has(Feature::ServerInfoInMeta)
            && meta.is_none_or(|meta| meta.get(Meta::SERVER_INFO).is_none());
        if !names_server && meta.is_none() {
            return;
        }
        head.extend_from_slice(b"\"_meta\":");
        match meta {
            Some(meta) => serde_json::to_writer(&mut *head, meta).expect("metadata is always writable"),
            None => head.extend_from_slice(b"{}"),
        }
        if names_server {
            head.pop();
            if head.last() != Some(&b'{') {
                head.push(b',');
            }
            head.extend_from_slice(&self.server_info);
            head.push(b'}');
        }
        head.push(b',');
    }
}

/// An empty object: the body of results that say nothing.
pub(crate) const EMPTY_OBJECT: Bytes = Bytes::from_static(b"{}");
