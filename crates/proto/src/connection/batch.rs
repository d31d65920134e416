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
                Some(Ok(messages)) => self.handle_batch(now, &messages),
                Some(Err(error)) => self.handle_input(now, Input::Malformed(idless(error))),
            },
        }
    }

    // Only looked for in what is no message, so that messages do not pay for it.
    fn batch_in<'a>(&self, text: &'a [u8]) -> Option<Result<Vec<&'a RawValue>, Error>> {
        let has_batches = self
            .session_terms()
            .is_some_and(|terms| terms.has(Feature::Batches));
        if !has_batches || !text.trim_ascii_start().starts_with(b"[") {
            return None;
        }
        let messages: Vec<&RawValue> = serde_json::from_slice(text).ok()?;
        Some(match messages.len() {
            0 => Err(Error::invalid_request("the batch is empty")),
            1..=MAX_MESSAGES => Ok(messages),
            _ => Err(Error::invalid_request(
                "the batch has more than 100 messages",
            )),
        })
    }

    fn handle_batch(&mut self, now: Instant, messages: &[&RawValue]) -> Received {
        for message in messages {
            let input = match Message::parse(message.get().as_bytes()) {
                Ok(Message::Request(request)) if request.method == Initialize::NAME => {
                    let error = Error::invalid_request("a handshake is no part of a batch");
                    Input::Malformed(Malformed {
                        id: Some(request.id),
                        error: error.into(),
                    })
                }
                Ok(message) => Input::Message(message),
                Err(malformed) => Input::Malformed(malformed),
            };
            self.handle_input(now, input);
        }
        Received::Accepted
    }
}

fn idless(error: Error) -> Malformed {
    Malformed {
        id: None,
        error: error.into(),
    }
}
