//! The events of the log of a stream. No I/O.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::super::replica_id::ReplicaId;

/// The newest layout of events that this version reads, and the one that it writes.
const LAYOUT: u32 = 1;

/// One event of the log of a stream.
///
/// Its `Debug` omits the request and the message.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct StreamEvent {
    /// The replica that wrote the event.
    pub writer: ReplicaId,
    /// Number of the event on its stream. The beginning has 0, and no number is left out. The end that another
    /// replica wrote has [`StreamEvent::TAKEN_OVER`].
    pub number: u64,
    /// The id of the request that the stream answers, as JSON. `None` if the stream answers no request.
    pub request: Option<Box<str>>,
    /// Whether no event follows.
    pub is_last: bool,
    /// Text of the message. Empty for an event without a message.
    pub message: Bytes,
}

/// The first line of an event. `schema` comes first.
#[derive(Serialize, Deserialize)]
struct Head {
    schema: u32,
    from: String,
    number: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<Box<str>>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    last: bool,
}

impl StreamEvent {
    /// Number of an end that another replica wrote: after all numbers of the writer.
    pub const TAKEN_OVER: u64 = u64::MAX;

    /// Writes the event: a line of JSON, and the message.
    pub(super) fn encode(&self) -> Bytes {
        let head = Head {
            schema: LAYOUT,
            from: self.writer.to_string(),
            number: self.number,
            request: self.request.clone(),
            last: self.is_last,
        };
        let mut text = serde_json::to_vec(&head).expect("the head has text keys");
        text.push(b'\n');
        text.extend_from_slice(&self.message);
        text.into()
    }

    /// Reads an event. `None` if it is damaged, or a newer version wrote it.
    pub(super) fn decode(event: &Bytes) -> Option<Self> {
        let end = event.iter().position(|byte| *byte == b'\n')?;
        let head: Head = serde_json::from_slice(event.get(..end)?).ok()?;
        (head.schema == LAYOUT).then_some(())?;
        Some(Self {
            writer: head.from.parse().ok()?,
            number: head.number,
            request: head.request,
            is_last: head.last,
            message: event.slice(end + 1..),
        })
    }
}

impl fmt::Debug for StreamEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamEvent")
            .field("writer", &self.writer)
            .field("number", &self.number)
            .field("is_last", &self.is_last)
            .field("bytes", &self.message.len())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;

    fn event() -> StreamEvent {
        StreamEvent {
            writer: "nbswy3dp".parse().expect("a replica id"),
            number: 7,
            request: Some(r#""a\nb""#.into()),
            is_last: true,
            message: "{\"x\":\n1}".into(),
        }
    }

    #[test]
    fn an_event_has_the_same_value_after_its_text() {
        for message in ["", "{\"x\":\n1}"] {
            let event = StreamEvent {
                message: message.into(),
                ..event()
            };
            assert_eq!(StreamEvent::decode(&event.encode()), Some(event));
        }
    }

    #[test]
    fn a_damaged_event_and_one_of_a_newer_version_are_not_read() {
        let text = event().encode();
        let newer = String::from_utf8_lossy(&text).replace("\"schema\":1", "\"schema\":2");
        for text in ["", "{}", "{}\n", "x\n", &newer] {
            assert_eq!(StreamEvent::decode(&text.to_owned().into()), None, "{text}");
        }
    }

    #[test]
    fn debug_output_of_an_event_hides_its_message() {
        let event = StreamEvent {
            message: "secret".into(),
            ..event()
        };
        let text = format!("{event:?}");
        assert!(
            text.contains("bytes: 6") && !text.contains("secret"),
            "{text}"
        );
    }
}
