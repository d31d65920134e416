//! The record of all visits: each message with its time, up to the limits of the run.

use std::time::Duration;

use pintle_model::Revision;
use pintle_runtime::sync::Mutex;
use serde_json::Value;
use tokio::time::Instant;

use super::scene::{Play, Scene};
use crate::options::CheckOptions;
use crate::text::{clip_bytes, shown};

/// The head of an HTTP request of the client.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// Returns the first value of a header. The name is in lower case.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(own, _)| own == name)?;
        Some(value.trim())
    }
}

/// One event of a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// A message of the client, with the head of its HTTP request.
    Came(Value, Option<Head>),
    /// Text of the client that is not JSON.
    Junk(String),
    /// A request without a message: GET or DELETE.
    Bare(Head),
    /// A message of the server.
    Sent(Value),
    /// The unusual thing of the scene.
    Unusual(String),
    /// The server ended a stream: the id of its last event, and the pause before a reconnection.
    Dropped { event: String, retry: Duration },
    /// The server rejected a request, because the session is unknown.
    Forgotten,
    /// The client ended the stream; false if it stopped the server without an end of its input.
    Ended(bool),
}

/// An event, with its conversation and its time since the start of the run.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) conversation: usize,
    pub(crate) at: Duration,
    pub(crate) kind: Kind,
}

/// One visit of the client.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) play: Play,
    /// Whether the client ended with success; `None` without a known end.
    pub(crate) succeeded: Option<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Conversation {
    visit: usize,
    revision: Option<Revision>,
}

/// Everything that was recorded. A full record stays as it is.
#[derive(Debug)]
pub(crate) struct Record {
    start: Instant,
    max_entries: usize,
    max_bytes: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    visits: Vec<Visit>,
    conversations: Vec<Conversation>,
    entries: Vec<Entry>,
    bytes: usize,
}

/// One conversation, with its events.
#[derive(Debug, Clone)]
pub(crate) struct Talk {
    pub(crate) visit: Visit,
    pub(crate) revision: Option<Revision>,
    pub(crate) entries: Vec<Entry>,
}

/// Results longer than this are recorded without their metadata, which is their long part, in bytes.
const MAX_ENTRY_BYTES: usize = 256 << 10;

impl Record {
    pub(crate) fn new(options: &CheckOptions) -> Self {
        Self {
            start: Instant::now(),
            // One run has many visits.
            max_entries: options.max_logged_messages * 4,
            max_bytes: options.max_logged_bytes,
            inner: Mutex::default(),
        }
    }

    /// Begins a visit, and returns its number.
    pub(crate) fn begin_visit(&self, play: Play) -> usize {
        let mut inner = self.inner.lock();
        inner.visits.push(Visit {
            play,
            succeeded: None,
        });
        inner.visits.len().saturating_sub(1)
    }

    /// Ends a visit.
    pub(crate) fn end_visit(&self, visit: usize, succeeded: bool) {
        if let Some(visit) = self.inner.lock().visits.get_mut(visit) {
            visit.succeeded = Some(succeeded);
        }
    }

    /// Begins a conversation, and returns its number.
    pub(crate) fn begin(&self, visit: usize) -> usize {
        let mut inner = self.inner.lock();
        if inner.conversations.len() < self.max_entries {
            inner.conversations.push(Conversation {
                visit,
                revision: None,
            });
        }
        inner.conversations.len().saturating_sub(1)
    }

    /// States the revision of a conversation.
    pub(crate) fn set_revision(&self, conversation: usize, revision: Revision) {
        if let Some(conversation) = self.inner.lock().conversations.get_mut(conversation) {
            conversation.revision = Some(revision);
        }
    }

    /// Adds an event of `bytes` bytes.
    pub(crate) fn add(&self, conversation: usize, bytes: usize, kind: Kind) {
        let kind = match kind {
            Kind::Sent(message) if bytes > MAX_ENTRY_BYTES => Kind::Sent(without_meta(message)),
            kind => kind,
        };
        let at = self.start.elapsed();
        let mut inner = self.inner.lock();
        inner.bytes += bytes.min(MAX_ENTRY_BYTES);
        if inner.entries.len() < self.max_entries && inner.bytes <= self.max_bytes {
            inner.entries.push(Entry {
                conversation,
                at,
                kind,
            });
        }
    }

    /// Returns all visits.
    pub(crate) fn visits(&self) -> Vec<Visit> {
        self.inner.lock().visits.clone()
    }

    /// Returns all conversations.
    pub(crate) fn talks(&self) -> Vec<Talk> {
        let inner = self.inner.lock();
        let mut talks: Vec<Talk> = inner
            .conversations
            .iter()
            .filter_map(|conversation| {
                Some(Talk {
                    visit: *inner.visits.get(conversation.visit)?,
                    revision: conversation.revision,
                    entries: Vec::new(),
                })
            })
            .collect();
        for entry in &inner.entries {
            if let Some(talk) = talks.get_mut(entry.conversation) {
                talk.entries.push(entry.clone());
            }
        }
        talks
    }
}

fn without_meta(mut message: Value) -> Value {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        result.remove("_meta");
    }
    message
}

impl Talk {
    /// Returns true if the conversation belongs to a scene.
    pub(crate) fn is_in(&self, scene: Scene) -> bool {
        self.visit.play.scene == scene
    }
}

impl Entry {
    /// Returns the message of the client.
    pub(crate) fn came(&self) -> Option<&Value> {
        match &self.kind {
            Kind::Came(message, _) => Some(message),
            _ => None,
        }
    }

    /// Returns the message of the server.
    pub(crate) fn sent(&self) -> Option<&Value> {
        match &self.kind {
            Kind::Sent(message) => Some(message),
            _ => None,
        }
    }

    /// Returns the head of the HTTP request.
    pub(crate) fn head(&self) -> Option<&Head> {
        match &self.kind {
            Kind::Came(_, head) => head.as_ref(),
            Kind::Bare(head) => Some(head),
            _ => None,
        }
    }

    /// Describes the event in one bounded line.
    pub(crate) fn text(&self) -> String {
        match &self.kind {
            Kind::Came(message, _) | Kind::Sent(message) => shown(message),
            Kind::Junk(text) | Kind::Unusual(text) => clip_bytes(text.as_bytes()),
            Kind::Bare(head) => head.method.clone(),
            Kind::Dropped { event, retry } => {
                format!("the end of a stream after the event {event:?}, with retry {retry:?}")
            }
            Kind::Forgotten => "HTTP 404".to_owned(),
            Kind::Ended(_) => "the end of the stream".to_owned(),
        }
    }
}
