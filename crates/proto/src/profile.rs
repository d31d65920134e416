//! The description of a server, rendered ahead of time.

use std::io::{self, Write};

use bytes::Bytes;

use pintle_model::{
    DiscoverResult, Feature, Fit, Freshness, Implementation, InitializeResult, Meta, RequestId,
    Revision, ServerCapabilities,
};

use crate::io::Frame;
use crate::reply::{HEADROOM, Json, Reply};
use crate::terms::Terms;
use crate::topic::{NoticeSubject, Topic, is_offered};

/// Description of a server, the same for every conversation.
#[derive(Debug, Clone)]
pub struct ServerProfile {
    identity: Implementation,
    instructions: Option<String>,
    capabilities: ServerCapabilities,
    discover_freshness: Freshness,
    /// The features that extensions require of a revision, besides extensions themselves.
    extension_needs: Vec<(Box<str>, Feature)>,
    topics: Vec<Topic>,
    /// Whether the service answers the requests that change settings of a session.
    passes_settings: bool,
    /// `"io.modelcontextprotocol/serverInfo":{…}`
    server_info: Box<[u8]>,
    /// The envelope of a complete result between the id and the members of the result, with all stamps.
    complete_head: Box<[u8]>,
}

impl ServerProfile {
    /// Describes a server. Its name and version are its author's.
    pub fn new(identity: Implementation, capabilities: ServerCapabilities) -> Self {
        // Icons and descriptions are sent in discovery only, because they are too large for every result.
        let mut short = Implementation::new(&*identity.name, &*identity.version);
        short.title.clone_from(&identity.title);
        let mut server_info = format!("\"{}\":", Meta::SERVER_INFO).into_bytes();
        serde_json::to_writer(&mut server_info, &short).expect("an identity is always writable");
        let complete_head = [
            b",\"result\":{\"resultType\":\"complete\",\"_meta\":{",
            &*server_info,
            b"},",
        ];
        Self {
            complete_head: complete_head.concat().into(),
            identity,
            instructions: None,
            capabilities,
            discover_freshness: Freshness::default(),
            extension_needs: Vec::new(),
            topics: Vec::new(),
            passes_settings: false,
            server_info: server_info.into(),
        }
    }

    /// Adds what a model should know to use the server well.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// Sets how long clients may cache the result of `server/discover`.
    #[must_use]
    pub fn with_discover_freshness(mut self, freshness: Freshness) -> Self {
        self.discover_freshness = freshness;
        self
    }

    /// Offers an extension among the capabilities only to revisions that have `feature`.
    #[must_use]
    pub fn with_extension_need(mut self, id: impl Into<Box<str>>, feature: Feature) -> Self {
        self.extension_needs.push((id.into(), feature));
        self
    }

    /// Adds topics of extensions that listeners may subscribe to.
    #[must_use]
    pub fn with_topics(mut self, topics: impl IntoIterator<Item = Topic>) -> Self {
        self.topics.extend(topics);
        self
    }

    /// Passes `logging/setLevel`, `resources/subscribe` and `resources/unsubscribe` to the service after the
    /// engine has applied them. The service answers them, with an empty result or an error. It is notified of each
    /// new `subscriptions/listen`, too. For proxies.
    #[must_use]
    pub fn with_passed_settings(mut self) -> Self {
        self.passes_settings = true;
        self
    }

    /// Whether the service answers requests that change settings of a session.
    pub(crate) fn passes_settings(&self) -> bool {
        self.passes_settings
    }

    /// The same server without state between two requests and without unsolicited messages:
    /// no subscriptions, no list changes, no log level.
    #[must_use]
    pub fn stateless(&self) -> Self {
        let mut profile = self.clone();
        let offered = &mut profile.capabilities;
        offered.logging = None;
        if let Some(tools) = &mut offered.tools {
            tools.list_changed = None;
        }
        if let Some(prompts) = &mut offered.prompts {
            prompts.list_changed = None;
        }
        if let Some(resources) = &mut offered.resources {
            (resources.subscribe, resources.list_changed) = (None, None);
        }
        profile
    }

    /// Returns the identity of the server.
    #[inline]
    pub fn identity(&self) -> &Implementation {
        &self.identity
    }

    /// Returns the capabilities of the server.
    #[inline]
    pub fn capabilities(&self) -> &ServerCapabilities {
        &self.capabilities
    }

    /// Whether `revision` has an extension that the server offers.
    pub fn offers_extension(&self, id: &str, revision: Revision) -> bool {
        let needs = self.extension_needs.iter().filter(|(of, _)| **of == *id);
        self.capabilities.extension(id).is_some()
            && revision.has(Feature::Extensions)
            && needs.into_iter().all(|(_, feature)| revision.has(*feature))
    }

    /// Returns the topics of extensions that listeners may subscribe to.
    #[inline]
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// Whether both sides speak an extension: the server offers it in the revision of these terms,
    /// and the client declared it.
    pub fn speaks(&self, id: &str, terms: &Terms) -> bool {
        terms.capabilities.extension(id).is_some() && self.offers_extension(id, terms.revision)
    }

    /// Whether the server can send such a notice.
    pub(crate) fn offers(&self, about: &NoticeSubject) -> bool {
        match about {
            NoticeSubject::Change(change) => is_offered(change, &self.capabilities),
            NoticeSubject::Topic { notice, .. } => {
                self.topics.iter().any(|topic| topic.notice() == &**notice)
            }
        }
    }

    /// The capabilities without the extensions that `revision` does not have.
    fn capabilities_in(&self, revision: Revision) -> ServerCapabilities {
        let mut capabilities = self.capabilities.clone();
        if let Some(extensions) = &mut capabilities.extensions {
            extensions.retain(|id, _| self.offers_extension(id, revision));
            if extensions.is_empty() {
                capabilities.extensions = None;
            }
        }
        capabilities
    }

    /// The answer to `initialize`.
    pub(crate) fn welcome(&self, revision: Revision) -> InitializeResult {
        let mut result = InitializeResult::new(
            revision,
            self.capabilities_in(revision),
            self.identity.clone(),
        );
        result.instructions.clone_from(&self.instructions);
        let fits = result.fit(revision).is_ok();
        debug_assert!(fits, "a welcome can be said in every revision");
        result
    }

    /// The answer to `server/discover`. It names the modern revisions only.
    pub(crate) fn discovery(&self, revision: Revision) -> DiscoverResult {
        let mut result = DiscoverResult::new(Revision::modern(), self.capabilities_in(revision));
        result.instructions.clone_from(&self.instructions);
        result.freshness = Some(self.discover_freshness);
        let meta = result.meta.get_or_insert_default();
        meta.set_server_info(&self.identity);
        let fits = result.fit(revision).is_ok();
        debug_assert!(fits, "a discovery can be said in every revision");
        result
    }

    /// A response: the envelope and the stamps of `revision` around a rendered result.
    pub(crate) fn stamp(&self, revision: Revision, id: &RequestId, reply: Reply) -> Frame {
        let stamps = Stamps {
            has_type: revision.has(Feature::ResultType),
            server_info: revision
                .has(Feature::ServerInfoInMeta)
                .then_some(&*self.server_info),
            complete_head: &self.complete_head,
        };
        stamps.frame(id, reply)
    }

    /// A response of a client: the envelope around a rendered result, nothing added.
    pub(crate) fn bare(id: &RequestId, reply: Reply) -> Frame {
        Stamps {
            has_type: false,
            server_info: None,
            complete_head: &[],
        }
        .frame(id, reply)
    }
}

/// Members that are added to a result when it is sent.
struct Stamps<'a> {
    has_type: bool,
    server_info: Option<&'a [u8]>,
    /// The envelope behind the id, if both stamps are added.
    complete_head: &'a [u8],
}

impl Stamps<'_> {
    fn frame(&self, id: &RequestId, reply: Reply) -> Frame {
        let is_complete = matches!(reply, Reply::Complete(_));
        let (result_type, rendered) = reply.into_parts();
        let is_bare = rendered.json().len() <= 2;
        let (json, meta) = rendered.into_parts();
        match (json, meta) {
            (Json::Own(mut json), None) if is_complete && !is_bare => {
                match self.fill(&mut json, id) {
                    Some(start) => {
                        json.push(b'}');
                        Frame::from_offset(json, start)
                    }
                    None => self.assemble(id, result_type, Json::Own(json), None, is_bare),
                }
            }
            (json, meta) => self.assemble(id, result_type, json, meta, is_bare),
        }
    }

    /// Writes the envelope of a complete result into the room in front of it, and returns where it begins.
    /// `None` if it has to be assembled or has no room.
    fn fill(&self, json: &mut [u8], id: &RequestId) -> Option<usize> {
        const BEFORE_ID: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";
        let after_id = match (self.has_type, self.server_info) {
            (true, Some(_)) => self.complete_head,
            (false, None) => b",\"result\":{",
            _ => return None,
        };
        let mut room = [0; 20];
        let mut rest = &mut room[..];
        serde_json::to_writer(&mut rest, id).ok()?;
        let free = rest.len();
        let digits = room.get(..room.len() - free)?;
        let length = BEFORE_ID.len() + digits.len() + after_id.len();
        // The envelope takes the place of the brace of the object.
        let start = (HEADROOM + 1).checked_sub(length)?;
        let (before, rest) = json
            .get_mut(start..=HEADROOM)?
            .split_at_mut(BEFORE_ID.len());
        let (middle, after) = rest.split_at_mut(digits.len());
        before.copy_from_slice(BEFORE_ID);
        middle.copy_from_slice(digits);
        after.copy_from_slice(after_id);
        Some(start)
    }

    /// Writes the envelope of any result.
    fn assemble(
        &self,
        id: &RequestId,
        result_type: &str,
        json: Json,
        meta: Option<Meta>,
        is_bare: bool,
    ) -> Frame {
        let result_type = self.has_type.then_some(result_type);
        let mut room = [0; HEADROOM];
        let mut rest = &mut room[..];
        let fits = self
            .write_head(&mut rest, id, result_type, meta.as_ref(), is_bare)
            .is_ok();
        let length = HEADROOM - rest.len();
        match json {
            // The envelope fills the room in front of the object and takes the place of its brace.
            Json::Own(mut json) if fits => {
                let start = HEADROOM + 1 - length;
                json[start..=HEADROOM].copy_from_slice(&room[..length]);
                json.push(b'}');
                Frame::from_offset(json, start)
            }
            Json::Own(mut json) => self.frame_around(
                id,
                result_type,
                meta.as_ref(),
                is_bare,
                json.split_off(HEADROOM).into(),
            ),
            Json::Shared(json) => self.frame_around(id, result_type, meta.as_ref(), is_bare, json),
        }
    }

    /// The envelope as a part of its own.
    fn frame_around(
        &self,
        id: &RequestId,
        result_type: Option<&str>,
        meta: Option<&Meta>,
        is_bare: bool,
        json: Bytes,
    ) -> Frame {
        let mut head = Vec::with_capacity(HEADROOM);
        self.write_head(&mut head, id, result_type, meta, is_bare)
            .expect("a buffer takes everything");
        Frame::around(head, json.slice(1..), b"}")
    }

    /// Everything up to the object's own members, its brace included.
    fn write_head(
        &self,
        out: &mut impl Write,
        id: &RequestId,
        result_type: Option<&str>,
        meta: Option<&Meta>,
        is_bare: bool,
    ) -> io::Result<()> {
        out.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":")?;
        serde_json::to_writer(&mut *out, id)?;
        out.write_all(b",\"result\":{")?;
        if let Some(result_type) = result_type {
            out.write_all(b"\"resultType\":\"")?;
            out.write_all(result_type.as_bytes())?;
            out.write_all(b"\"")?;
        }
        let names_server = self
            .server_info
            .filter(|_| meta.is_none_or(|meta| meta.get(Meta::SERVER_INFO).is_none()));
        let has_meta = names_server.is_some() || meta.is_some();
        if has_meta {
            out.write_all(if result_type.is_some() {
                b",\"_meta\":"
            } else {
                b"\"_meta\":"
            })?;
            write_meta(out, meta, names_server)?;
        }
        let has_stamps = has_meta || result_type.is_some();
        out.write_all(if has_stamps && !is_bare { b"," } else { b"" })
    }
}

/// The result's own metadata, and who the server is.
fn write_meta(
    out: &mut impl Write,
    meta: Option<&Meta>,
    server_info: Option<&[u8]>,
) -> io::Result<()> {
    out.write_all(b"{")?;
    out.write_all(server_info.unwrap_or_default())?;
    let mut needs_comma = server_info.is_some();
    for (key, value) in meta.into_iter().flat_map(Meta::iter) {
        if std::mem::replace(&mut needs_comma, true) {
            out.write_all(b",")?;
        }
        serde_json::to_writer(&mut *out, key)?;
        out.write_all(b":")?;
        serde_json::to_writer(&mut *out, value)?;
    }
    out.write_all(b"}")
}

/// An empty object: the body of results without members.
pub(crate) const EMPTY_OBJECT: Bytes = Bytes::from_static(b"{}");
