//! The events of inboxes and of the news: who wrote them, their number, and their content. No I/O.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::message::{ReplicaMessage, ReplicaReply};
use super::replica_id::ReplicaId;

/// The newest layout of events that this version reads, and the one that it writes.
const LAYOUT: u32 = 1;

/// One event of a log.
#[derive(Debug)]
pub(super) struct Envelope {
    pub(super) from: ReplicaId,
    /// The sender numbers its messages, so that a second copy can be dropped.
    pub(super) number: u64,
    pub(super) content: Content,
}

/// The content of an event.
#[derive(Debug)]
pub(super) enum Content {
    Message(ReplicaMessage),
    Request(ReplicaMessage),
    Reply {
        /// The number of the request.
        to: u64,
        reply: ReplicaReply,
    },
    /// A newer version wrote the event.
    Unknown {
        is_request: bool,
    },
}

/// The text of an event. `schema` comes first.
#[derive(Serialize, Deserialize)]
struct Text<'a> {
    schema: u32,
    from: &'a str,
    number: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    asks: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<u64>,
    kind: String,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// The members that every layout has.
#[derive(Deserialize)]
struct Head<'a> {
    schema: u32,
    from: &'a str,
    number: u64,
    #[serde(default)]
    asks: bool,
}

const DONE: &str = "done";
const NOT_FOUND: &str = "not-found";
const DATA: &str = "data";

impl Envelope {
    pub(super) fn encode(&self) -> Bytes {
        let (asks, to, kind, body) = match &self.content {
            Content::Message(message) => (false, None, message.kind(), message.body()),
            Content::Request(message) => (true, None, message.kind(), message.body()),
            Content::Reply { to, reply } => {
                let (kind, body) = reply_parts(reply);
                (false, Some(*to), kind, body)
            }
            Content::Unknown { is_request } => (*is_request, None, NOT_FOUND, RawValue::NULL),
        };
        let text = Text {
            schema: LAYOUT,
            from: self.from.as_str(),
            number: self.number,
            asks,
            to,
            kind: kind.to_owned(),
            body,
        };
        serde_json::to_vec(&text)
            .expect("the event has text keys")
            .into()
    }

    /// Reads an event. `None` if it is damaged.
    pub(super) fn decode(event: &[u8]) -> Option<Self> {
        let head: Head<'_> = serde_json::from_slice(event).ok()?;
        let is_request = head.asks;
        let content = match head.schema {
            LAYOUT => content(serde_json::from_slice(event).ok()?),
            _ => Content::Unknown { is_request },
        };
        Some(Self {
            from: head.from.parse().ok()?,
            number: head.number,
            content,
        })
    }
}

fn content(text: Text<'_>) -> Content {
    let body = text.body.to_owned();
    match text.to {
        Some(to) => Content::Reply {
            to,
            reply: match text.kind.as_str() {
                DONE => ReplicaReply::Done,
                DATA => ReplicaReply::Data(body),
                _ => ReplicaReply::NotFound,
            },
        },
        None if text.asks => Content::Request(ReplicaMessage::from_parts(text.kind.into(), body)),
        None => Content::Message(ReplicaMessage::from_parts(text.kind.into(), body)),
    }
}

fn reply_parts(reply: &ReplicaReply) -> (&'static str, &RawValue) {
    match reply {
        ReplicaReply::Done => (DONE, RawValue::NULL),
        ReplicaReply::NotFound => (NOT_FOUND, RawValue::NULL),
        ReplicaReply::Data(data) => (DATA, data),
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn envelope(content: Content) -> Envelope {
        Envelope {
            from: "nbswy3dp".parse().expect("a replica id"),
            number: 7,
            content,
        }
    }

    fn text(content: Content) -> String {
        let encoded = envelope(content).encode();
        // The second encoding shows that the reader lost nothing.
        let again = Envelope::decode(&encoded).expect("an event").encode();
        assert_eq!(encoded, again);
        String::from_utf8(encoded.to_vec()).expect("UTF-8")
    }

    #[test]
    fn an_event_has_its_schema_first_and_can_be_read() {
        let message = || ReplicaMessage::new("cancel", &[1, 2]).expect("JSON");
        let data = ReplicaReply::data(&"x").expect("JSON");
        for (content, rest) in [
            (
                Content::Message(message()),
                r#""kind":"cancel","body":[1,2]}"#,
            ),
            (
                Content::Request(message()),
                r#""asks":true,"kind":"cancel","body":[1,2]}"#,
            ),
            (
                Content::Reply { to: 3, reply: data },
                r#""to":3,"kind":"data","body":"x"}"#,
            ),
        ] {
            let start = r#"{"schema":1,"from":"nbswy3dp","number":7,"#;
            assert_eq!(text(content), format!("{start}{rest}"));
        }
        for reply in [ReplicaReply::Done, ReplicaReply::NotFound] {
            text(Content::Reply { to: 3, reply });
        }
    }

    #[test]
    fn an_event_of_a_newer_layout_is_unknown_and_a_damaged_one_is_dropped() {
        let newer = br#"{"schema":2,"from":"nbswy3dp","number":7,"asks":true,"parts":[]}"#;
        let decoded = Envelope::decode(newer).expect("an event");
        let is_request = true;
        assert!(matches!(decoded.content, Content::Unknown { is_request: it } if it == is_request));
        for damaged in ["", "{", r#"{"schema":1,"from":"UPPER","number":1}"#] {
            assert!(Envelope::decode(damaged.as_bytes()).is_none(), "{damaged}");
        }
    }
}
