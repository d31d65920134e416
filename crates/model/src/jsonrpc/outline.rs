//! The positions of members in the parameters of a message.

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

use super::raw_json::RawJson;
use crate::meta::{EnvelopeError, MetaMember};

/// A part of a text, as positions of bytes. The empty part stands for an absent member, because a
/// JSON value is never empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the part from `start` to `end`; `None` for a text above 4 GiB.
    #[inline]
    pub(crate) fn new(start: usize, end: usize) -> Option<Self> {
        Some(Self {
            start: u32::try_from(start).ok()?,
            end: u32::try_from(end).ok()?,
        })
    }

    /// Returns the position of `part`, which is borrowed from `text`.
    fn of(part: &str, text: &str) -> Option<Self> {
        let start = part.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        Self::new(start, start + part.len())
    }

    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.end == self.start
    }

    /// Returns the same part of a text that begins at `start`.
    #[inline]
    pub(crate) fn since(self, start: usize) -> Self {
        let start = start as u32;
        Self {
            start: self.start.wrapping_sub(start),
            end: self.end.wrapping_sub(start),
        }
    }

    /// Returns the value at this position of `text`; `None` if the member is absent.
    #[inline]
    pub(crate) fn value_in(self, text: &str) -> Option<RawJson<'_>> {
        if self.is_empty() {
            return None;
        }
        text.get(self.start as usize..self.end as usize)
            .map(RawJson::checked)
    }
}

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
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "_meta" => Self::Meta,
            "name" => Self::Name,
            "uri" => Self::Uri,
            "arguments" => Self::Arguments,
            "cursor" => Self::Cursor,
            "taskId" => Self::TaskId,
            "task" => Self::Task,
            "inputResponses" => Self::InputResponses,
            "requestState" => Self::RequestState,
            "protocolVersion" => Self::ProtocolVersion,
            "notifications" => Self::Notifications,
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

/// The positions of the reserved members of `_meta`.
pub(crate) type MetaSpans = [Span; MetaMember::COUNT];

/// Finds the members of `params`, which is JSON. It accepts what [`super::scan`] leaves: escapes in
/// names, and members that occur twice.
pub(super) fn find(params: &str) -> (Outline, Result<MetaSpans, EnvelopeError>) {
    let mut outline = Outline::default();
    let mut is_meta_repeated = false;
    let mut each = |name: &str, value: &RawValue| {
        if let (Some(member), Some(span)) = (Member::named(name), Span::of(value.get(), params)) {
            let is_new = outline.record(member, span);
            outline.is_ambiguous |= !is_new;
            is_meta_repeated |= !is_new && member == Member::Meta;
        }
    };
    if !read_object(params, &mut each) {
        return (
            outline,
            Err(EnvelopeError::NotAnObject { member: "params" }),
        );
    }
    let meta = match outline.get(params, Member::Meta) {
        _ if is_meta_repeated => Err(EnvelopeError::Duplicate { key: "_meta" }),
        Some(meta) => find_meta(meta.get(), params),
        None => Ok(MetaSpans::default()),
    };
    (outline, meta)
}

/// Finds the reserved members of `meta`, a part of `text`.
pub(crate) fn find_meta(meta: &str, text: &str) -> Result<MetaSpans, EnvelopeError> {
    let mut spans = MetaSpans::default();
    let mut duplicate = None;
    let mut each = |name: &str, value: &RawValue| {
        if let (Some(member), Some(span)) = (MetaMember::named(name), Span::of(value.get(), text)) {
            let slot = &mut spans[member as usize];
            if !slot.is_empty() {
                duplicate = Some(EnvelopeError::Duplicate { key: member.key() });
            }
            *slot = span;
        }
    };
    if !read_object(meta, &mut each) {
        return Err(EnvelopeError::NotAnObject { member: "_meta" });
    }
    duplicate.map_or(Ok(spans), Err)
}

/// Calls `each` with every member; returns false if the text is not an object.
fn read_object(text: &str, each: &mut dyn FnMut(&str, &RawValue)) -> bool {
    let mut decoder = serde_json::Deserializer::from_str(text);
    decoder.deserialize_map(Members(each)).is_ok()
}

struct Members<'e>(&'e mut dyn FnMut(&str, &RawValue));

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            (self.0)(&name, members.next_value::<&'de RawValue>()?);
        }
        Ok(())
    }
}
