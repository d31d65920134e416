//! One message: its envelope read in one pass, its body left raw.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::breadth;
use super::broken;
use super::depth::{self, MAX_DEPTH};
use super::params::ParamsRef;
use super::scan::{self, Scanned};
use super::{Error, RequestId};
use crate::RawJson;
use crate::read::Name;

/// A message, borrowed from its bytes.
///
/// The present members decide the kind of the message; nothing is decoded by trial.
#[derive(Debug)]
pub enum Message<'a> {
    /// A message that requires a response.
    Request(Request<'a>),
    /// A message without a response.
    Notification(Notification<'a>),
    /// A message that answers a request.
    Response(Response<'a>),
}

/// A request, its parameters still raw.
#[derive(Debug)]
pub struct Request<'a> {
    /// Echoed by the response.
    pub id: RequestId,
    /// Name of the method.
    pub method: Cow<'a, str>,
    /// The parameters, a JSON object.
    pub params: Option<ParamsRef<'a>>,
}

/// A notification, its parameters still raw.
#[derive(Debug)]
pub struct Notification<'a> {
    /// Name of the method.
    pub method: Cow<'a, str>,
    /// The parameters, a JSON object.
    pub params: Option<ParamsRef<'a>>,
}

/// A response, its result still raw.
#[derive(Debug)]
pub struct Response<'a> {
    /// The request it answers; absent when the answering side could not read it.
    pub id: Option<RequestId>,
    /// Result or error of the response.
    pub body: ResponseBody<'a>,
}

/// Body of a response. Closed: JSON-RPC defines only result and error.
#[derive(Debug)]
pub enum ResponseBody<'a> {
    /// The result of the request.
    Result(&'a RawValue),
    /// The error of the request.
    Error(Error),
    /// Both a result and an error, an error that cannot be read, or more than is read: the call has
    /// failed.
    Contradiction,
}

/// Bytes that are not a valid message, and the error to answer with.
#[derive(Debug)]
pub struct InvalidMessage {
    /// The id to answer with, when it could be read.
    pub id: Option<RequestId>,
    /// The id of the call that the text appears to answer: it has no method, and exactly one id.
    pub answered: Option<RequestId>,
    /// -32700, -32600 or -32602.
    pub error: Box<Error>,
}

impl InvalidMessage {
    /// A text that answers no call.
    pub fn new(id: Option<RequestId>, error: Error) -> Self {
        Self {
            id,
            answered: None,
            error: Box::new(error),
        }
    }
}

impl<'a> Message<'a> {
    /// Reads one message.
    ///
    /// # Errors
    ///
    /// [`InvalidMessage`] with -32700 for bytes that are not JSON or not UTF-8. With -32600 for
    /// JSON that is not a message, including duplicate members and more than 128 levels of nesting.
    /// With -32602 for parameters that are not an object. A response that nests too deep has
    /// failed: [`ResponseBody::Contradiction`].
    ///
    /// Spec: [2026-07-28, Base protocol, Messages][spec].
    ///
    /// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages
    pub fn parse(bytes: &'a [u8]) -> Result<Self, InvalidMessage> {
        Self::parse_within(bytes, usize::MAX)
    }

    /// Reads one message of at most `values` commas and opening brackets outside of its strings,
    /// which is about as many as it has values. Values take many times the memory of their text.
    ///
    /// # Errors
    ///
    /// As [`Message::parse`], and [`InvalidMessage`] with -32600 for a message with more.
    pub fn parse_within(bytes: &'a [u8], values: usize) -> Result<Self, InvalidMessage> {
        // In place, because a message is large to move.
        let mut message = Self::read(bytes, values);
        if let Err(malformed) = &mut message {
            malformed.answered = broken::answered_id(bytes);
        }
        message
    }

    fn read(bytes: &'a [u8], values: usize) -> Result<Self, InvalidMessage> {
        // Strings that are skipped are not checked by the decoder, so the whole text is checked first.
        let text = std::str::from_utf8(bytes).map_err(|_| {
            InvalidMessage::new(None, Error::parse_error("the message is not UTF-8"))
        })?;
        match scan::read(text, values) {
            Some(scanned) => Ok(Self::scanned(scanned)),
            None => Self::read_carefully(text, values),
        }
    }

    fn scanned(scanned: Scanned<'a>) -> Self {
        match scanned {
            Scanned::Asking { id, method, params } => {
                let method = Cow::Borrowed(method);
                match id {
                    Some(id) => Self::Request(Request { id, method, params }),
                    None => Self::Notification(Notification { method, params }),
                }
            }
            Scanned::Result { id, result } => {
                let body = ResponseBody::Result(result);
                Self::Response(Response { id, body })
            }
        }
    }

    /// Reads every message, and words the errors.
    fn read_carefully(text: &'a str, values: usize) -> Result<Self, InvalidMessage> {
        let envelope = Envelope::read(text)?;
        if u32::try_from(text.len()).is_err() {
            return envelope.beyond("the message is longer than 4 GiB".into());
        }
        if depth::exceeds(text, MAX_DEPTH) {
            return envelope.beyond("the message nests deeper than 128 levels".into());
        }
        if breadth::exceeds(text, values) {
            return envelope.beyond(format!("the message has more than {values} values"));
        }
        envelope.classify()
    }
}

/// The members of the envelope, each raw and each at most once.
#[derive(Default)]
struct Envelope<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    duplicate: bool,
}

impl<'a> Envelope<'a> {
    fn read(text: &'a str) -> Result<Self, InvalidMessage> {
        if !text.trim_start().starts_with('{') {
            return Err(not_an_object(text));
        }
        let mut envelope = Self::default();
        let mut decoder = serde_json::Deserializer::from_str(text);
        let read = EnvelopeSeed(&mut envelope)
            .deserialize(&mut decoder)
            .and_then(|()| decoder.end());
        match read {
            Err(_) => Err(InvalidMessage::new(
                None,
                Error::parse_error("the message is not JSON"),
            )),
            Ok(()) if envelope.duplicate => {
                let error = Error::invalid_request("a member of the message occurs twice");
                Err(InvalidMessage::new(envelope.readable_id(), error))
            }
            Ok(()) => Ok(envelope),
        }
    }

    /// The id to answer with. That of an answer is a name of ours: to the peer it names another
    /// request.
    fn readable_id(&self) -> Option<RequestId> {
        let id = self.id.filter(|_| !self.is_answer())?;
        RequestId::from_json(id.get())
    }

    fn is_answer(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }

    /// Rejects a message beyond the bounds. A response still completes its request, because no
    /// second response follows; its body is not read.
    fn beyond(self, why: String) -> Result<Message<'a>, InvalidMessage> {
        let is_answer = self.is_answer() && self.jsonrpc.map(RawValue::get) == Some("\"2.0\"");
        let id = self.id.and_then(|id| RequestId::from_json(id.get()));
        match (is_answer, id) {
            (true, Some(id)) => Ok(Message::Response(Response {
                id: Some(id),
                body: ResponseBody::Contradiction,
            })),
            _ => Err(InvalidMessage::new(
                self.readable_id(),
                Error::invalid_request(why),
            )),
        }
    }

    fn slot(&mut self, name: &str) -> Option<&mut Option<&'a RawValue>> {
        match name {
            "jsonrpc" => Some(&mut self.jsonrpc),
            "id" => Some(&mut self.id),
            "method" => Some(&mut self.method),
            "params" => Some(&mut self.params),
            "result" => Some(&mut self.result),
            "error" => Some(&mut self.error),
            _ => None,
        }
    }

    fn classify(self) -> Result<Message<'a>, InvalidMessage> {
        if self.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return self.reject("the member jsonrpc is not \"2.0\"");
        }
        match (self.method, self.result.is_some() || self.error.is_some()) {
            (Some(_), true) => self.reject("the message is both a request and a response"),
            (Some(method), false) => self.asking(method),
            (None, true) => self.answering(),
            (None, false) => self.reject("the message has no method"),
        }
    }

    fn asking(self, method: &'a RawValue) -> Result<Message<'a>, InvalidMessage> {
        let Some(method) = RawJson::from(method).as_text() else {
            return self.reject("the method is not a string");
        };
        let Some(raw_id) = self.id else {
            // A notification has no response, so parameters that are not an object are ignored.
            return Ok(Message::Notification(Notification {
                method,
                params: self.object_params().unwrap_or_default(),
            }));
        };
        let Some(id) = RequestId::from_json(raw_id.get()) else {
            return self.reject("the id is neither a string nor an integer of 64 bits");
        };
        Ok(Message::Request(Request {
            id,
            method,
            params: self.object_params()?,
        }))
    }

    fn answering(self) -> Result<Message<'a>, InvalidMessage> {
        let id = match self.id.map(RawValue::get) {
            None | Some("null") => None,
            Some(text) => match RequestId::from_json(text) {
                Some(id) => Some(id),
                None => return self.reject("the id is neither a string nor an integer of 64 bits"),
            },
        };
        let body = match (self.result, self.error) {
            (Some(result), None) => ResponseBody::Result(result),
            (None, Some(error)) => serde_json::from_str(error.get())
                .map_or(ResponseBody::Contradiction, ResponseBody::Error),
            _ => ResponseBody::Contradiction,
        };
        Ok(Message::Response(Response { id, body }))
    }

    fn object_params(&self) -> Result<Option<ParamsRef<'a>>, InvalidMessage> {
        match self.params {
            Some(params) if params.get().starts_with('{') => Ok(Some(ParamsRef::read(params))),
            Some(params) if params.get() != "null" => Err(InvalidMessage::new(
                self.readable_id(),
                Error::invalid_params("the parameters are not an object"),
            )),
            _ => Ok(None),
        }
    }

    fn reject(&self, why: &'static str) -> Result<Message<'a>, InvalidMessage> {
        Err(InvalidMessage::new(
            self.readable_id(),
            Error::invalid_request(why),
        ))
    }
}

fn not_an_object(text: &str) -> InvalidMessage {
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let error = match (is_json, text.trim_start().starts_with('[')) {
        (true, true) => Error::invalid_request("the message is a batch; send each message alone"),
        (true, false) => Error::invalid_request("the message is not an object"),
        (false, _) => Error::parse_error("the message is not JSON"),
    };
    InvalidMessage::new(None, error)
}

struct EnvelopeSeed<'e, 'a>(&'e mut Envelope<'a>);

impl<'a> DeserializeSeed<'a> for EnvelopeSeed<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for EnvelopeSeed<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key_seed(Name)? {
            match self.0.slot(&name) {
                None => drop(members.next_value::<IgnoredAny>()?),
                Some(slot) => {
                    let repeated = slot.replace(members.next_value()?).is_some();
                    self.0.duplicate |= repeated;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod readers_agree;
