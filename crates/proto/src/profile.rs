//! The description of a server, rendered ahead of time.

mod agreement;
mod welcome;

use std::io::{self, Write};

use bytes::Bytes;

use pintle_model::{
    DiscoverResult, Feature, Fit, Freshness, Implementation, Meta, RequestId, Revision,
    ServerCapabilities,
};

use crate::io::{Frame, piece_from};
use crate::reply::{Around, HEADROOM, Json, Reply};
use crate::terms::Terms;
use crate::topic::{NoticeSubject, Topic, is_offered};
use agreement::LastHandshake;
use welcome::Welcomes;

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
    welcomes: Welcomes,
    last_handshake: LastHandshake,
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
            welcomes: Welcomes::default(),
            last_handshake: LastHandshake::default(),
        }
    }

    /// Adds what a model should know to use the server well.
    #[must_use]
    pub fn with_instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self.welcomes = Welcomes::default();
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
        self.welcomes = Welcomes::default();
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

/// The values of the envelope of a result, beside the stamps.
struct Envelope<'a> {
    id: &'a RequestId,
    result_type: Option<&'a str>,
    meta: Option<&'a Meta>,
    /// Whether the object has no members.
    is_bare: bool,
    is_complete: bool,
}

impl Stamps<'_> {
    fn frame(&self, id: &RequestId, reply: Reply) -> Frame {
        let is_complete = matches!(reply, Reply::Complete(_));
        let (result_type, rendered) = reply.into_parts();
        let (json, meta) = rendered.into_parts();
        let envelope = Envelope {
            id,
            result_type: self.has_type.then_some(result_type),
            meta: meta.as_ref(),
            is_bare: json.is_bare(),
            is_complete,
        };
        match json {
            Json::Own(json) => self.frame_of(json, &envelope),
            Json::Shared(json) => self.frame_around(json, &envelope),
            Json::Around(around) => self.frame_of_parts(*around, &envelope),
        }
    }

    /// A result of one response: the envelope fills the room in front of it.
    fn frame_of(&self, mut json: Vec<u8>, envelope: &Envelope<'_>) -> Frame {
        match self.open(&mut json, envelope) {
            Some(start) => {
                json.push(b'}');
                Frame::from_offset(json, start)
            }
            None => self.frame_around(json.split_off(HEADROOM).into(), envelope),
        }
    }

    /// A result with a base64 that is not copied.
    fn frame_of_parts(&self, around: Around, envelope: &Envelope<'_>) -> Frame {
        let Around {
            mut before,
            base64,
            mut after,
        } = around;
        after.push(b'}');
        let before = match self.open(&mut before, envelope) {
            Some(start) => piece_from(before, start),
            None => {
                let mut head = self.head(envelope);
                head.extend_from_slice(before.get(HEADROOM + 1..).unwrap_or_default());
                head.into()
            }
        };
        Frame::of_parts([before, base64, after.into()])
    }

    /// The envelope as a part of its own.
    fn frame_around(&self, json: Bytes, envelope: &Envelope<'_>) -> Frame {
        Frame::around(self.head(envelope), json.slice(1..), b"}")
    }

    /// Writes the envelope into the room in front of an object, and returns where it begins. It takes the place of the
    /// brace of the object. `None` if it has no room.
    fn open(&self, json: &mut [u8], envelope: &Envelope<'_>) -> Option<usize> {
        let is_plain = envelope.is_complete && envelope.meta.is_none() && !envelope.is_bare;
        if is_plain && let Some(start) = self.fill(json, envelope.id) {
            return Some(start);
        }
        let mut room = [0; HEADROOM];
        let mut rest = &mut room[..];
        self.write_head(&mut rest, envelope).ok()?;
        let length = HEADROOM - rest.len();
        let start = HEADROOM + 1 - length;
        json.get_mut(start..=HEADROOM)?
            .copy_from_slice(&room[..length]);
        Some(start)
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

    /// The envelope of any result.
    fn head(&self, envelope: &Envelope<'_>) -> Vec<u8> {
        let mut head = Vec::with_capacity(HEADROOM);
        self.write_head(&mut head, envelope)
            .expect("a buffer takes everything");
        head
    }

    /// Everything up to the object's own members, its brace included.
    fn write_head(&self, out: &mut impl Write, envelope: &Envelope<'_>) -> io::Result<()> {
        let Envelope {
            id,
            result_type,
            meta,
            is_bare,
            ..
        } = *envelope;
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
