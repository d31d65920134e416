//! The positions of the reserved members in the `_meta` of a request.

use serde_json::value::RawValue;

use crate::span::{Span, read_object};

/// A reserved member of the `_meta` of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MetaMember {
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

impl MetaMember {
    const ALL: [Self; 9] = [
        Self::ProtocolVersion,
        Self::ClientInfo,
        Self::ClientCapabilities,
        Self::LogLevel,
        Self::ProgressToken,
        Self::RelatedTask,
        Self::TraceParent,
        Self::TraceState,
        Self::Baggage,
    ];
    pub(crate) const COUNT: usize = Self::ALL.len();

    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::ProtocolVersion => "io.modelcontextprotocol/protocolVersion",
            Self::ClientInfo => "io.modelcontextprotocol/clientInfo",
            Self::ClientCapabilities => "io.modelcontextprotocol/clientCapabilities",
            Self::LogLevel => "io.modelcontextprotocol/logLevel",
            Self::ProgressToken => "progressToken",
            Self::RelatedTask => "io.modelcontextprotocol/related-task",
            Self::TraceParent => "traceparent",
            Self::TraceState => "tracestate",
            Self::Baggage => "baggage",
        }
    }

    #[inline]
    pub(crate) fn named(key: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|member| member.key().as_bytes() == key)
    }
}

/// The reason why the `_meta` of parameters cannot be read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MalformedMeta {
    /// The member is not an object.
    NotAnObject { member: &'static str },
    /// The member occurs twice.
    Duplicate { key: &'static str },
}

/// The positions of the reserved members of `_meta`.
pub(crate) type MetaSpans = [Span; MetaMember::COUNT];

/// Finds the reserved members of `meta`, a part of `text`.
pub(crate) fn find_meta(meta: &str, text: &str) -> Result<MetaSpans, MalformedMeta> {
    let mut spans = MetaSpans::default();
    let mut duplicate = None;
    let mut each = |name: &str, value: &RawValue| {
        if let (Some(member), Some(span)) = (
            MetaMember::named(name.as_bytes()),
            Span::of(value.get(), text),
        ) {
            let slot = &mut spans[member as usize];
            if !slot.is_empty() {
                duplicate = Some(MalformedMeta::Duplicate { key: member.key() });
            }
            *slot = span;
        }
    };
    if !read_object(meta, &mut each) {
        return Err(MalformedMeta::NotAnObject { member: "_meta" });
    }
    duplicate.map_or(Ok(spans), Err)
}
