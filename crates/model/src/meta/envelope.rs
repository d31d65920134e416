//! The terms a request states in its `_meta`, read in place.
//!
//! The positions of the reserved members are recorded with the message. A member is decoded on
//! request. So the caller decides the order in which faults are answered, and can cache decoded
//! values by their bytes.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

use crate::RawJson;
use crate::jsonrpc::{MalformedMeta, MetaMember, MetaSpans, ParamsRef};
use crate::object::peek;
use crate::read::from_text;
use crate::{ClientCapabilities, Implementation, LoggingLevel, ProgressToken};

/// The reserved members of a request's `_meta`, borrowed from its text.
///
/// Spec: [2026-07-28, Base protocol, `_meta`][spec].
///
/// [spec]: https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestEnvelope<'a> {
    text: &'a str,
    // Borrowed, because the positions are large to move. `None` without a `_meta`.
    spans: Option<&'a MetaSpans>,
}

impl<'a> RequestEnvelope<'a> {
    /// Returns the `_meta` of these parameters; without one, the envelope is empty.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::NotAnObject`] if the parameters or their `_meta` are not an object, and
    /// [`EnvelopeError::Duplicate`] if there are two `_meta`, or a reserved member is there twice: two
    /// readers would believe two different things.
    #[inline]
    pub fn of_params(params: Option<&'a ParamsRef<'_>>) -> Result<Self, EnvelopeError> {
        let Some(params) = params else {
            return Ok(Self::default());
        };
        Ok(Self {
            text: params.get(),
            spans: Some(params.meta()?),
        })
    }

    /// Whether the request claims to state its own terms: a revision is there, of whatever type.
    #[inline]
    pub fn is_claimed(&self) -> bool {
        self.raw(MetaMember::ProtocolVersion).is_some()
    }

    /// The revision the request is written for.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::Missing`], [`EnvelopeError::WrongType`].
    pub fn protocol_version(&self) -> Result<Cow<'a, str>, EnvelopeError> {
        let raw = self.required(MetaMember::ProtocolVersion)?;
        raw.as_text()
            .ok_or(wrong_type(MetaMember::ProtocolVersion, "a string"))
    }

    /// Decodes the capabilities of the sender.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::Missing`], [`EnvelopeError::WrongType`].
    pub fn client_capabilities(&self) -> Result<ClientCapabilities, EnvelopeError> {
        let raw = self.required(MetaMember::ClientCapabilities)?;
        raw.decode()
            .map_err(|_| wrong_type(MetaMember::ClientCapabilities, "an object of capabilities"))
    }

    /// Returns the JSON text of the sender's capabilities: equal text means equal capabilities.
    #[inline]
    pub fn client_capabilities_text(&self) -> Option<&'a str> {
        self.raw(MetaMember::ClientCapabilities).map(RawJson::get)
    }

    /// Decodes the identity of the sender.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::WrongType`].
    pub fn client_info(&self) -> Result<Option<Implementation>, EnvelopeError> {
        self.optional(
            MetaMember::ClientInfo,
            "an object with `name` and `version`",
        )
    }

    /// Returns the JSON text of the sender's identity.
    #[inline]
    pub fn client_info_text(&self) -> Option<&'a str> {
        self.raw(MetaMember::ClientInfo).map(RawJson::get)
    }

    /// Decodes the minimum level of log messages for the request.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::WrongType`]; an unknown word is not an error here.
    pub fn log_level(&self) -> Result<Option<LoggingLevel>, EnvelopeError> {
        self.optional(MetaMember::LogLevel, "a logging level")
    }

    /// Decodes the token under which the sender requests progress notifications.
    ///
    /// # Errors
    ///
    /// [`EnvelopeError::WrongType`].
    pub fn progress_token(&self) -> Result<Option<ProgressToken>, EnvelopeError> {
        self.optional(MetaMember::ProgressToken, "a string or an integer")
    }

    /// The id of the task the request belongs to, in 2025-11-25; none if it cannot be read.
    pub fn related_task(&self) -> Option<Cow<'a, str>> {
        struct Related {
            task_id: String,
        }
        peek!(Related { "taskId" => required task_id, });
        let raw = self.raw(MetaMember::RelatedTask)?;
        let related: Related = from_text(raw.get()).ok()?;
        Some(related.task_id.into())
    }

    /// The caller's span (`traceparent`); none if it is not text.
    pub fn trace_parent(&self) -> Option<Cow<'a, str>> {
        self.raw(MetaMember::TraceParent)?.as_text()
    }

    /// Returns the vendor-specific trace data (`tracestate`); `None` if it is not text.
    pub fn trace_state(&self) -> Option<Cow<'a, str>> {
        self.raw(MetaMember::TraceState)?.as_text()
    }

    /// The caller's baggage; none if it is not text.
    pub fn baggage(&self) -> Option<Cow<'a, str>> {
        self.raw(MetaMember::Baggage)?.as_text()
    }

    #[inline]
    fn raw(&self, member: MetaMember) -> Option<RawJson<'a>> {
        self.spans?[member as usize].value_in(self.text)
    }

    fn required(&self, member: MetaMember) -> Result<RawJson<'a>, EnvelopeError> {
        self.raw(member)
            .ok_or(EnvelopeError::Missing { key: member.key() })
    }

    fn optional<T: DeserializeOwned>(
        &self,
        member: MetaMember,
        expected: &'static str,
    ) -> Result<Option<T>, EnvelopeError> {
        let Some(raw) = self.raw(member) else {
            return Ok(None);
        };
        raw.decode()
            .map(Some)
            .map_err(|_| wrong_type(member, expected))
    }
}

fn wrong_type(member: MetaMember, expected: &'static str) -> EnvelopeError {
    EnvelopeError::WrongType {
        key: member.key(),
        expected,
    }
}

impl From<MalformedMeta> for EnvelopeError {
    fn from(fault: MalformedMeta) -> Self {
        match fault {
            MalformedMeta::NotAnObject { member } => Self::NotAnObject { member },
            MalformedMeta::Duplicate { key } => Self::Duplicate { key },
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
