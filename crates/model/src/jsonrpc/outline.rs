//! The positions of members in the parameters of a message.

use serde_json::value::RawValue;

use super::meta_outline::{MalformedMeta, MetaSpans, find_meta};
use crate::RawJson;
use crate::span::{Span, read_object};

/// A member of parameters whose position is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Member {
    /// `_meta`.
    Meta,
    /// `name`.
    Name,
    /// `uri`.
    Uri,
    /// `arguments`.
    Arguments,
    /// `cursor`.
    Cursor,
    /// `taskId`.
    TaskId,
    /// `task`.
    Task,
    /// `inputResponses`.
    InputResponses,
    /// `requestState`.
    RequestState,
    /// `protocolVersion`.
    ProtocolVersion,
    /// `notifications`.
    Notifications,
}

impl Member {
    const COUNT: usize = 11;

    #[inline]
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"_meta" => Self::Meta,
            b"name" => Self::Name,
            b"uri" => Self::Uri,
            b"arguments" => Self::Arguments,
            b"cursor" => Self::Cursor,
            b"taskId" => Self::TaskId,
            b"task" => Self::Task,
            b"inputResponses" => Self::InputResponses,
            b"requestState" => Self::RequestState,
            b"protocolVersion" => Self::ProtocolVersion,
            b"notifications" => Self::Notifications,
            _ => return None,
        })
    }
}

/// The positions of members in the text of parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outline {
    spans: [Span; Member::COUNT],
    /// Whether one of the members occurs twice.
    is_ambiguous: bool,
}

impl Outline {
    /// Records a member; returns false if it was there already.
    #[inline]
    pub(super) fn record(&mut self, member: Member, span: Span) -> bool {
        let slot = &mut self.spans[member as usize];
        let is_new = slot.is_empty();
        *slot = span;
        is_new
    }

    /// Returns the value of a member in `text`, the text of these parameters.
    #[inline]
    pub fn get<'a>(&self, text: &'a str, member: Member) -> Option<RawJson<'a>> {
        self.spans[member as usize].value_in(text)
    }

    /// Returns true if one of the members occurs twice, so that two readers could read two values.
    #[inline]
    pub fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }
}

/// Finds the members of `params`, which is JSON. It accepts what [`super::scan`] leaves: escapes in
/// names, and members that occur twice.
pub(super) fn find(params: &str) -> (Outline, Result<MetaSpans, MalformedMeta>) {
    let mut outline = Outline::default();
    let mut is_meta_repeated = false;
    let mut each = |name: &str, value: &RawValue| {
        if let (Some(member), Some(span)) = (
            Member::named(name.as_bytes()),
            Span::of(value.get(), params),
        ) {
            let is_new = outline.record(member, span);
            outline.is_ambiguous |= !is_new;
            is_meta_repeated |= !is_new && member == Member::Meta;
        }
    };
    if !read_object(params, &mut each) {
        return (
            outline,
            Err(MalformedMeta::NotAnObject { member: "params" }),
        );
    }
    let meta = match outline.get(params, Member::Meta) {
        _ if is_meta_repeated => Err(MalformedMeta::Duplicate { key: "_meta" }),
        Some(meta) => find_meta(meta.get(), params),
        None => Ok(MetaSpans::default()),
    };
    (outline, meta)
}
