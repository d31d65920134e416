//! The terms a request states in its `_meta`, read in place.
//!
//! One pass records the position of each reserved member. A member is decoded on request. So the
//! caller decides the order in which faults are answered, and can cache decoded values by their
//! bytes.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Meta;
use crate::{ClientCapabilities, Implementation, LoggingLevel, ProgressToken};

/// The reserved members of a request's `_meta`, borrowed from its text.
///
/// Spec: [2026-07-28, Base protocol, `_meta`][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestEnvelope<'a> {
    slots: [Option<&'a RawValue>; KEYS.len()],
}

/// Returns true if the parameters must be read to know whether they have a `_meta`. Parameters that
/// are not an object are read, so that they are rejected. An escape may stand for any character of
/// a name.
fn may_have_meta(params: &RawValue) -> bool {
    let text = params.get().as_bytes();
    let is_named = |at: usize| text[at..].starts_with(b"_meta\"");
    !text.starts_with(b"{")
        || memchr::memchr(b'\\', text).is_some()
        || memchr::memchr_iter(b'_', text).any(is_named)
}

/// The reserved members of requests; a [`Slot`] is an index into them.
const KEYS: [&str; 9] = [
    Meta::PROTOCOL_VERSION,
    Meta::CLIENT_INFO,
    Meta::CLIENT_CAPABILITIES,
    Meta::LOG_LEVEL,
    Meta::PROGRESS_TOKEN,
    Meta::RELATED_TASK,
    Meta::TRACE_PARENT,
    Meta::TRACE_STATE,
    Meta::BAGGAGE,
];

/// An index into [`KEYS`].
#[derive(Debug, Clone, Copy)]
enum Slot {
    ProtocolVersion,
    ClientInfo,
    ClientCapabilities,
    LogLevel,
    ProgressToken,
    RelatedTask,
    TraceParent,
    TraceState,
    Baggage,
}

impl<'a> RequestEnvelope<'a> {
    /// Reads the `_meta` of a request.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::NotAnObject`], and [`EnvelopeError::Duplicate`] when a reserved member
    /// is there twice: two readers would believe two different things.
    pub fn parse(meta: &'a RawValue) -> Result<Self, EnvelopeError> {
        read_object(meta, "_meta", MetaVisitor)
    }

    /// Reads the `_meta` inside the parameters of a request; without one, the envelope is empty.
    ///
    /// # Errors
    ///
    /// As [`RequestEnvelope::parse`]; also if the parameters are not an object or hold two `_meta`.
    pub fn of_params(params: Option<&'a RawValue>) -> Result<Self, EnvelopeError> {
        let Some(params) = params.filter(|params| may_have_meta(params)) else {
            return Ok(Self::default());
        };
        read_object(params, "params", ParamsVisitor)?
            .map_or_else(|| Ok(Self::default()), Self::parse)
    }

    /// Reads the `_meta` of a request in the same pass as the surrounding text. The outer error is
    /// about the text, the inner one about the envelope.
    ///
    /// # Errors
    ///
    /// The errors of the deserializer.
    pub fn deserialize<D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Result<Self, EnvelopeError>, D::Error> {
        deserializer.deserialize_any(AnyVisitor)
    }

    /// Whether the request claims to state its own terms: a revision is there, of whatever type.
    #[inline]
    pub fn is_claimed(&self) -> bool {
        self.raw(Slot::ProtocolVersion).is_some()
    }

    /// The revision the request is written for.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::Missing`], [`EnvelopeError::WrongType`].
    pub fn protocol_version(&self) -> Result<Cow<'a, str>, EnvelopeError> {
        let raw = self.required(Slot::ProtocolVersion)?;
        text(raw).ok_or(Slot::ProtocolVersion.wrong_type("a string"))
    }

    /// Decodes the capabilities of the sender.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::Missing`], [`EnvelopeError::WrongType`].
    pub fn client_capabilities(&self) -> Result<ClientCapabilities, EnvelopeError> {
        let raw = self.required(Slot::ClientCapabilities)?;
        decode(raw).ok_or(Slot::ClientCapabilities.wrong_type("an object of capabilities"))
    }

    /// Returns the JSON text of the sender's capabilities: equal text means equal capabilities.
    #[inline]
    pub fn client_capabilities_text(&self) -> Option<&'a str> {
        self.raw(Slot::ClientCapabilities).map(RawValue::get)
    }

    /// Decodes the identity of the sender.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::WrongType`].
    pub fn client_info(&self) -> Result<Option<Implementation>, EnvelopeError> {
        self.optional(Slot::ClientInfo, "an object with `name` and `version`")
    }

    /// Returns the JSON text of the sender's identity.
    #[inline]
    pub fn client_info_text(&self) -> Option<&'a str> {
        self.raw(Slot::ClientInfo).map(RawValue::get)
    }

    /// Decodes the minimum level of log messages for the request.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::WrongType`]; an unknown word is not an error here.
    pub fn log_level(&self) -> Result<Option<LoggingLevel>, EnvelopeError> {
        self.optional(Slot::LogLevel, "a logging level")
    }

    /// Decodes the token under which the sender requests progress notifications.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::WrongType`].
    pub fn progress_token(&self) -> Result<Option<ProgressToken>, EnvelopeError> {
        self.optional(Slot::ProgressToken, "a string or an integer")
    }

    /// The id of the task the request belongs to, in 2025-11-25; none if it cannot be read.
    pub fn related_task(&self) -> Option<Cow<'a, str>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Related<'b> {
            #[serde(borrow)]
            task_id: Cow<'b, str>,
        }
        let raw = self.raw(Slot::RelatedTask)?;
        let related: Related<'a> = serde_json::from_str(raw.get()).ok()?;
        Some(related.task_id)
    }

    /// The caller's span (`traceparent`); none if it is not text.
    pub fn trace_parent(&self) -> Option<Cow<'a, str>> {
        text(self.raw(Slot::TraceParent)?)
    }

    /// Returns the vendor-specific trace data (`tracestate`); `None` if it is not text.
    pub fn trace_state(&self) -> Option<Cow<'a, str>> {
        text(self.raw(Slot::TraceState)?)
    }

    /// The caller's baggage; none if it is not text.
    pub fn baggage(&self) -> Option<Cow<'a, str>> {
        text(self.raw(Slot::Baggage)?)
    }

    fn raw(&self, slot: Slot) -> Option<&'a RawValue> {
        self.slots[slot as usize]
    }

    fn required(&self, slot: Slot) -> Result<&'a RawValue, EnvelopeError> {
        self.raw(slot).ok_or(EnvelopeError::Missing {
            key: KEYS[slot as usize],
        })
    }

    fn optional<T: DeserializeOwned>(
        &self,
        slot: Slot,
        expected: &'static str,
    ) -> Result<Option<T>, EnvelopeError> {
        let Some(raw) = self.raw(slot) else {
            return Ok(None);
        };
        decode(raw).map(Some).ok_or(slot.wrong_type(expected))
    }
}

impl Slot {
    fn wrong_type(self, expected: &'static str) -> EnvelopeError {
        EnvelopeError::WrongType {
            key: KEYS[self as usize],
            expected,
        }
    }
}

errors! {
    /// Fault in the envelope of a request.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum EnvelopeError {
        /// `_meta`, or the parameters around it, are not a JSON object.
        NotAnObject {
            /// Name of the member: `params` or `_meta`.
            member: &'static str,
        } => "`{member}` must be an object",
        /// A member occurs twice.
        Duplicate {
            /// Key of the member.
            key: &'static str,
        } => "`{key}` occurs twice",
        /// A required member is missing.
        Missing {
            /// Key of the member.
            key: &'static str,
        } => "`_meta` lacks `{key}`",
        /// A member has a type that differs from the protocol.
        WrongType {
            /// Key of the member.
            key: &'static str,
            /// Type that the protocol requires.
            expected: &'static str,
        } => "`{key}` must be {expected}",
    }
}

impl From<EnvelopeError> for crate::Error {
    /// -32602, with the fault as its message.
    fn from(fault: EnvelopeError) -> Self {
        Self::invalid_params(fault.to_string())
    }
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(raw.get())
        .ok()
        .map(|text| text.0)
}

fn decode<T: DeserializeOwned>(raw: &RawValue) -> Option<T> {
    serde_json::from_str(raw.get()).ok()
}

/// Reads `raw`, which is valid JSON, as an object.
fn read_object<'a, T, V>(
    raw: &'a RawValue,
    member: &'static str,
    visitor: V,
) -> Result<T, EnvelopeError>
where
    V: Visitor<'a, Value = Result<T, EnvelopeError>>,
{
    serde_json::Deserializer::from_str(raw.get())
        .deserialize_map(visitor)
        .unwrap_or(Err(EnvelopeError::NotAnObject { member }))
}

/// Finds `_meta` among parameters.
struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = Result<Option<&'de RawValue>, EnvelopeError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut meta, mut is_duplicate) = (None, false);
        while let Some(IsMeta(is_meta)) = map.next_key()? {
            if is_meta {
                is_duplicate |= meta.replace(map.next_value::<&RawValue>()?).is_some();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(if is_duplicate {
            Err(EnvelopeError::Duplicate { key: "_meta" })
        } else {
            Ok(meta)
        })
    }
}

/// Returns true if a key is `_meta`.
struct IsMeta(bool);

impl<'de> Deserialize<'de> for IsMeta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = IsMeta;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E>(self, key: &str) -> Result<IsMeta, E> {
                Ok(IsMeta(key == "_meta"))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

/// Finds the reserved members.
struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = Result<RequestEnvelope<'de>, EnvelopeError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = RequestEnvelope::default();
        let mut duplicate = None;
        while let Some(KeyIndex(index)) = map.next_key()? {
            let Some(index) = index else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if envelope.slots[index].replace(map.next_value()?).is_some() {
                duplicate = Some(EnvelopeError::Duplicate { key: KEYS[index] });
            }
        }
        Ok(duplicate.map_or(Ok(envelope), Err))
    }
}

/// Finds the reserved members, if the text may have any.
struct AnyVisitor;

const NO_OBJECT: EnvelopeError = EnvelopeError::NotAnObject { member: "_meta" };

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Result<RequestEnvelope<'de>, EnvelopeError>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        MetaVisitor.visit_map(map)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Err(NO_OBJECT))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Err(NO_OBJECT))
    }
}

/// Index of a key in [`KEYS`].
struct KeyIndex(Option<usize>);

impl<'de> Deserialize<'de> for KeyIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = KeyIndex;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E>(self, key: &str) -> Result<KeyIndex, E> {
                Ok(KeyIndex(KEYS.iter().position(|known| *known == key)))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}
