//! Batches: several messages in one text, in the revisions that have them.
//!
//! Each message of a batch is accepted as if it had come alone. The answers leave together.

use std::fmt;
use std::time::Instant;

use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use pintle_model::jsonrpc::{InvalidMessage, Message};
use pintle_model::method::{Initialize, Method};
use pintle_model::{Error, Feature};

use super::Connection;
use crate::io::{Input, Received, RequestKey};

/// How many messages a batch may have. It is bounded by the length of a message, too.
const MAX_MESSAGES: usize = 100;

impl Connection {
    /// Handles one text: a message or, on a session whose revision has them, a batch.
    ///
    /// A batch that is empty, or of more than 100 messages, is refused; so is a handshake inside
    /// of one.
    ///
    /// Spec: [2025-03-26, Base protocol, Batching][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
    pub fn handle_text(&mut self, now: Instant, text: &[u8]) -> Received {
        match Message::parse_within(text, self.most_values()) {
            Ok(message) => self.receive(now, message),
            Err(malformed) => match self.batch_in(text) {
                None => self.handle_input(now, Input::Malformed(malformed)),
                Some(Ok(batch)) => self.handle_batch(now, &batch),
                Some(Err(error)) => {
                    self.handle_input(now, Input::Malformed(InvalidMessage::new(None, error)))
                }
            },
        }
    }

    // A batch is looked for only after parsing a message failed, so that messages do not pay for
    // it.
    fn batch_in<'a>(&self, text: &'a [u8]) -> Option<Result<Batch<'a>, Error>> {
        let terms = self.session_terms();
        let has_batches = terms.is_some_and(|terms| terms.has(Feature::Batches));
        let read = || Batch::read(text, self.most_values());
        has_batches.then(read).flatten()
    }

    fn handle_batch(&mut self, now: Instant, batch: &Batch<'_>) -> Received {
        self.gathered.begin();
        for message in batch.messages() {
            let received = match message {
                Ok(message) => self.handle_input(now, Input::Message(message)),
                Err(malformed) => self.handle_input(now, Input::Malformed(malformed)),
            };
            if let Received::Request(key) = received
                && self.is_answered_in_batches(key)
            {
                self.gathered.owe(key);
            }
        }
        self.gathered.end();
        self.send_gathered();
        Received::Accepted
    }

    /// Whether a request is open and its answer waits for others. One that states its own terms
    /// is answered alone: its revision has no batches.
    fn is_answered_in_batches(&self, key: RequestKey) -> bool {
        let terms = self.inbound.terms(key);
        terms.is_some_and(|terms| terms.has(Feature::Batches))
    }
}

/// The messages of a batch.
#[derive(Debug)]
pub struct Batch<'a> {
    messages: Vec<&'a RawValue>,
    values: usize,
}

impl<'a> Batch<'a> {
    /// Reads a text as a batch; `None` if the text is not an array. Each message may have as many
    /// `values` as a single message under
    /// [`Limits::max_values_per_message`](crate::Limits::max_values_per_message).
    ///
    /// # Errors
    ///
    /// -32600 if it is empty, or has more than 100 messages.
    pub fn read(text: &'a [u8], values: usize) -> Option<Result<Self, Error>> {
        if !text.trim_ascii_start().starts_with(b"[") {
            return None;
        }
        let Listed { messages, has_more } = serde_json::from_slice(text).ok()?;
        Some(match messages.len() {
            0 => Err(Error::invalid_request("the batch is empty")),
            _ if has_more => Err(Error::invalid_request(
                "the batch has more than 100 messages",
            )),
            _ => Ok(Self { messages, values }),
        })
    }

    /// Returns the messages in order; an item that is not a valid message is an error. A handshake
    /// is invalid in a batch.
    pub fn messages(&self) -> impl Iterator<Item = Result<Message<'a>, InvalidMessage>> {
        self.entries().map(|(_, message)| message)
    }

    /// Returns the text of each message too.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Result<Message<'a>, InvalidMessage>)> {
        let messages = self.messages.iter();
        messages.map(|raw| (raw.get(), message_of(raw, self.values)))
    }
}

/// The beginning of an array, and whether there is more: a text of millions of items must not become
/// as many pointers only to be refused.
struct Listed<'a> {
    messages: Vec<&'a RawValue>,
    has_more: bool,
}

impl<'de> Deserialize<'de> for Listed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Listing)
    }
}

struct Listing;

impl<'de> Visitor<'de> for Listing {
    type Value = Listed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a batch")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut messages = Vec::new();
        while messages.len() < MAX_MESSAGES
            && let Some(message) = items.next_element()?
        {
            messages.push(message);
        }
        let mut has_more = false;
        while items.next_element::<IgnoredAny>()?.is_some() {
            has_more = true;
        }
        Ok(Listed { messages, has_more })
    }
}

fn message_of<'a>(raw: &'a RawValue, values: usize) -> Result<Message<'a>, InvalidMessage> {
    match Message::parse_within(raw.get().as_bytes(), values)? {
        Message::Request(request) if request.method == Initialize::NAME => {
            let error = Error::invalid_request("a handshake is not allowed in a batch");
            Err(InvalidMessage::new(Some(request.id), error))
        }
        message => Ok(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_of_a_batch_is_kept_than_there_may_be() {
        for (items, kept, has_more) in [(99, 99, false), (100, 100, false), (101, 100, true)] {
            let text = serde_json::to_string(&vec![0; items]).expect("JSON");
            let listed: Listed<'_> = serde_json::from_str(&text).expect("an array");
            assert_eq!((listed.messages.len(), listed.has_more), (kept, has_more));
        }
        assert!(serde_json::from_str::<Listed<'_>>("[0,").is_err());
    }
}
