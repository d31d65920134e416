//! Batches: several messages in one text, in the revisions that have them.
//!
//! Each message of a batch is taken in as if it had come alone, and is answered alone: a pipe and
//! an event stream both allow that.

use std::time::Instant;

use serde_json::value::RawValue;

use pintle_model::jsonrpc::{Malformed, Message};
use pintle_model::method::{Initialize, Method};
use pintle_model::{Error, Feature};

use super::Connection;
use crate::io::{Input, Received};

/// How many messages a batch may have. It is bounded by the length of a message, too.
const MAX_MESSAGES: usize = 100;

impl Connection {
    /// Takes in one text: a message or, on a session whose revision has them, a batch.
    ///
    /// A batch that is empty, or of more than 100 messages, is refused; so is a handshake inside
    /// of one.
    ///
    /// Spec: [2025-03-26, Base protocol, Batching][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
    pub fn handle_text(&mut self, now: Instant, text: &[u8]) -> Received {
        match Message::parse(text) {
            Ok(message) => self.handle_input(now, Input::Message(message)),
            Err(malformed) => match self.batch_in(text) {
                None => self.handle_input(now, Input::Malformed(malformed)),
                Some(Ok(batch)) => self.handle_batch(now, &batch),
                Some(Err(error)) => self.handle_input(now, Input::Malformed(idless(error))),
            },
        }
    }

    // Only looked for in what is no message, so that messages do not pay for it.
    fn batch_in<'a>(&self, text: &'a [u8]) -> Option<Result<Batch<'a>, Error>> {
        let terms = self.session_terms();
        let has_batches = terms.is_some_and(|terms| terms.has(Feature::Batches));
        has_batches.then(|| Batch::read(text)).flatten()
    }

    fn handle_batch(&mut self, now: Instant, batch: &Batch<'_>) -> Received {
        for message in batch.messages() {
            let input = match message {
                Ok(message) => Input::Message(message),
                Err(malformed) => Input::Malformed(malformed),
            };
            self.handle_input(now, input);
        }
        Received::Accepted
    }
}

/// The messages of a batch.
#[derive(Debug)]
pub struct Batch<'a>(Vec<&'a RawValue>);

impl<'a> Batch<'a> {
    /// Reads a text as a batch; none if it is no array.
    ///
    /// # Errors
    ///
    /// -32600 if it is empty, or has more than 100 messages.
    pub fn read(text: &'a [u8]) -> Option<Result<Self, Error>> {
        if !text.trim_ascii_start().starts_with(b"[") {
            return None;
        }
        let messages: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
        Some(match messages.len() {
            0 => Err(Error::invalid_request("the batch is empty")),
            1..=MAX_MESSAGES => Ok(Self(messages)),
            _ => Err(Error::invalid_request(
                "the batch has more than 100 messages",
            )),
        })
    }

    /// The messages in order, and what is none. A handshake is no part of a batch.
    pub fn messages(&self) -> impl Iterator<Item = Result<Message<'a>, Malformed>> {
        self.0.iter().map(|raw| message_of(raw))
    }
}

fn message_of<'a>(raw: &'a RawValue) -> Result<Message<'a>, Malformed> {
    match Message::parse(raw.get().as_bytes())? {
        Message::Request(request) if request.method == Initialize::NAME => Err(Malformed {
            id: Some(request.id),
            error: Error::invalid_request("a handshake is no part of a batch").into(),
        }),
        message => Ok(message),
    }
}

fn idless(error: Error) -> Malformed {
    Malformed {
        id: None,
        error: error.into(),
    }
}
